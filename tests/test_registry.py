"""Registries: every name a user may write is in one place, and the command line takes its choices from there."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping

import click
import pytest

import amiss.decisions.comparisons
import amiss.encoding.scalings
import amiss.models.kinds
import amiss.models.parents
import amiss.output.frame_libraries
import amiss.output.list_formats
import amiss.readers
import amiss.scoring.rules
import amiss.scoring.searches
import amiss.scoring.spaces
import amiss.scoring.weightings
from amiss.cli import cli
from amiss.decisions.registry import COMPARISONS
from amiss.encoding.scalings import SCALINGS
from amiss.encoding.scalings.base import Scaling
from amiss.models.registry import MODELS, PARENTS
from amiss.output.registry import LIBRARIES, LIST_FORMATS
from amiss.readers.format import Format
from amiss.readers.registry import FORMATS
from amiss.registry import Registry
from amiss.scoring.registry import AUTO, RULES, SEARCHES, SPACES, WEIGHTINGS

REGISTRIES = {
    "rule": RULES, "weighting": WEIGHTINGS, "scaling": SCALINGS, "parents": PARENTS, "format": FORMATS,
    "neighbor_space": SPACES, "neighbor_search": SEARCHES, "against": COMPARISONS, "library": LIBRARIES,
    "model": MODELS,
}  # fmt: skip


def modules(package):
    """A module, or all modules of a folder."""
    if not hasattr(package, "__path__"):
        return [package]
    names = [found.name for found in pkgutil.iter_modules(package.__path__)]
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def defined(package, fits):
    """Objects at the top of a module, and instances of its classes, that look like an entry of a registry."""
    for module in modules(package):
        for name, value in vars(module).items():
            if inspect.isclass(value) and value.__module__ == module.__name__ and not inspect.isabstract(value):
                try:
                    value = value()
                except TypeError:  # it takes parameters, or is a protocol: not an entry by itself
                    continue
            if not name.startswith("_") and not inspect.isclass(value) and fits(value):
                yield value


@pytest.mark.parametrize(
    ("registry", "package", "fits"),
    [
        (RULES, amiss.scoring.rules, lambda value: hasattr(value, "terms")),
        (WEIGHTINGS, amiss.scoring.weightings, lambda value: hasattr(value, "inverted")),
        (SCALINGS, amiss.encoding.scalings, lambda value: isinstance(value, Scaling)),
        (SPACES, amiss.scoring.spaces, lambda value: hasattr(value, "has_outputs")),
        (SEARCHES, amiss.scoring.searches, lambda value: hasattr(value, "prepared")),
        (COMPARISONS, amiss.decisions.comparisons, lambda value: hasattr(value, "needs_calibration")),
        (PARENTS, amiss.models.parents, lambda value: hasattr(value, "ordered")),
        (MODELS, amiss.models.kinds, lambda value: hasattr(value, "learner")),
        (FORMATS, amiss.readers, lambda value: isinstance(value, Format)),
        (LIBRARIES, amiss.output.frame_libraries, lambda value: hasattr(value, "frame")),
    ],
    ids=lambda value: getattr(value, "parameter", ""),
)
def test_whatever_is_defined_is_registered_under_its_name(registry, package, fits):
    found = {value.name: value for value in defined(package, fits)}
    assert set(found) == set(registry)
    assert found == dict(registry.items())


@pytest.mark.parametrize("registry", [*REGISTRIES.values(), LIST_FORMATS], ids=lambda found: found.parameter)
def test_a_registry_is_a_mapping_that_gives_one_object_per_name(registry):
    assert isinstance(registry, Mapping) and len(registry) == len(list(registry)) > 1
    for name in registry:
        assert registry[name] is registry.named(name) is registry[name]
    assert "no such" not in registry
    with pytest.raises(KeyError):
        registry["no such"]


@pytest.mark.parametrize("registry", REGISTRIES.values(), ids=lambda found: found.parameter)
def test_entries_have_their_name_and_a_description(registry):
    for name, entry in registry.items():
        assert entry.name == name and entry.description


@pytest.mark.parametrize("asked", ["cubic", None, 3, ["sqrt"], b"sqrt"])
def test_an_unknown_name_is_refused_with_all_there_are(asked):
    with pytest.raises(ValueError) as refused:
        WEIGHTINGS.named(asked, "more")
    assert str(refused.value) == f"weighting must be one of 'sqrt', 'error', 'brier', 'more'; got {asked!r}"


def test_an_entry_is_imported_when_it_is_first_asked_for():
    registry = Registry("thing", "collections", {"ordered": "OrderedDict", "none": "no_such_module.Thing"})
    assert list(registry) == ["ordered", "none"]  # without looking
    assert registry["ordered"] == {} and registry["ordered"] is registry["ordered"]
    with pytest.raises(ModuleNotFoundError):
        registry["none"]


def choices(command, option):
    """What an option of a command lets one choose from."""
    (found,) = (each for each in cli.commands[command].params if option in each.opts)
    assert isinstance(found.type, click.Choice)
    return list(found.type.choices)


@pytest.mark.parametrize("command", ["find", "fit", "explain"])
def test_the_command_line_lets_one_choose_what_is_registered(command):
    assert choices(command, "--rule") == [*RULES, AUTO]
    assert choices(command, "--weighting") == list(WEIGHTINGS)
    assert choices(command, "--scaling") == [*SCALINGS, AUTO]
    assert choices(command, "--parents") == list(PARENTS)
    assert choices(command, "--model") == list(MODELS)
    assert choices(command, "--neighbor-space") == list(SPACES)
    assert choices(command, "--neighbor-search") == list(SEARCHES)


def test_the_command_line_compares_with_whom_is_registered():
    assert choices("score", "--against") == list(COMPARISONS)


@pytest.mark.parametrize("command", ["find", "fit", "explain", "evaluate", "score"])
def test_the_command_line_reads_every_format_that_is_registered(command):
    assert choices(command, "--format") == list(FORMATS)
