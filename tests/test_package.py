"""The names that ``import amiss`` offers, and that whatever they give back is among them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import subprocess
import sys
import typing

import pytest
from support.tables import make_table

import amiss

PUBLIC = {name: getattr(amiss, name) for name in amiss.__all__}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
# What a fit and a request are made of: one immutable value each, whose parts docs/architecture.md describes.
MACHINERY = {"FittedDetector", "Forecast", "Settings"}
FOR_MESSAGES = {("Table", "origin")}


def test_public_names_are_there_when_asked_for():
    assert set(amiss.__all__) <= set(dir(amiss))
    for name in amiss.__all__:
        assert getattr(amiss, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        amiss.nothing  # noqa: B018


def test_the_list_of_public_names_has_each_once_and_in_order():
    assert len(set(amiss.__all__)) == len(amiss.__all__)
    assert amiss.__all__ == sorted(amiss.__all__, key=lambda name: (not name.isupper(), name))


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"__version__"}))
def test_every_public_name_says_what_it_is(name):
    assert inspect.getdoc(PUBLIC[name])
    if inspect.isclass(PUBLIC[name]) and dataclasses.is_dataclass(PUBLIC[name]):
        assert not PUBLIC[name].__doc__.startswith(f"{name}(")  # what a dataclass writes by itself


def functions_of(cls):
    """The public methods and properties of a class, as functions."""
    for name, value in inspect.getmembers_static(cls):
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, functools.cached_property):
            value = value.func
        elif isinstance(value, classmethod | staticmethod):
            value = value.__func__
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__.startswith("amiss"):
            yield name, value


def test_every_method_of_the_detector_says_what_it_does():
    for name, method in functions_of(amiss.MCODE):
        assert inspect.getdoc(method), name
        assert "return" in typing.get_type_hints(method), name


def types_in(hint):
    """The classes that a type hint is made of."""
    if typing.get_origin(hint) is typing.Literal:
        return
    for part in typing.get_args(hint):
        yield from types_in(part)
    if inspect.isclass(hint):
        yield hint


def given_back(cls):
    """Whatever a user can get of an object: results of its methods, properties and fields, by type."""
    for name, function in functions_of(cls):
        for each in types_in(typing.get_type_hints(function)["return"]):
            yield name, each
    if dataclasses.is_dataclass(cls):
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            for each in types_in(hints[field.name]):
                yield field.name, each


@pytest.mark.parametrize("name", sorted(set(CLASSES) - MACHINERY))
def test_what_a_public_class_gives_back_is_public(name):
    hidden = {
        (name, member, each.__qualname__)
        for member, each in given_back(CLASSES[name])
        if each.__module__.startswith("amiss") and each not in PUBLIC.values()
        if (name, member) not in FOR_MESSAGES
    }
    assert hidden == set()


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("rule", ["flip", "auto"])
def test_what_a_fit_exposes_is_public_numpy_or_builtin(rule):
    X, Y = make_table(60)
    detector = amiss.MCODE(rule=rule, fdr=0.2).fit(X, Y).calibrate(X, Y)
    exposed = {name: value for name, value in vars(detector).items() if name.endswith("_")}
    documented = inspect.getdoc(amiss.MCODE)
    assert {"decision_scores_", "probabilities_", "rule_", "p_values_", "calibration_"} <= set(exposed)
    for name, value in exposed.items():
        kind = type(value)
        assert kind in PUBLIC.values() or kind.__module__ in ("builtins", "numpy"), name
        assert name in documented or name == "n_features_in_", name


def test_the_modules_for_evaluation_and_the_paper_name_what_they_offer():
    assert set(amiss.evaluation.__all__) == {"RuleChoice", "atpar", "inject", "measure", "tpar", "tpar_curve"}
    for module in (amiss.evaluation, amiss.paper):
        assert module.__doc__ and module.__all__
        for name in module.__all__:
            assert inspect.getdoc(getattr(module, name)), name
    assert amiss.evaluation.RuleChoice is amiss.RuleChoice


def test_importing_the_package_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "pandas")
    code = f"import sys, amiss; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
