"""Settings: what the user asked for, checked once, and what becomes of it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.utils.validation import check_random_state
from support.tables import make_table

from amiss import MCODE, Settings
from amiss.encoding.scalings import SCALINGS
from amiss.models.registry import PARENTS
from amiss.scoring.registry import RULES, SEARCHES, SPACES, WEIGHTINGS
from amiss.settings import DEFAULTS, OF_THE_MACHINE


def test_the_defaults_are_those_of_the_detector():
    assert dict(DEFAULTS) == MCODE().get_params()
    assert set(OF_THE_MACHINE) <= set(DEFAULTS)


def test_names_become_objects():
    near = {"neighbor_space": "inputs", "neighbor_search": "exact"}
    settings = Settings.of(rule="lrw", weighting="brier", scaling="block", parents="chain", **near)
    assert settings.scoring.rule is RULES["lrw"]
    assert settings.scoring.weighting is WEIGHTINGS["brier"]
    assert settings.scoring.neighbor_space is SPACES["inputs"]
    assert settings.scoring.neighbor_search is SEARCHES["exact"]
    assert settings.models.scaling is SCALINGS["block"]
    assert settings.models.parents is PARENTS["chain"]
    assert Settings.of(rule="auto").scoring.rule is None


def test_an_unknown_parameter_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="there is no parameter 'score'; there are parents, order, rule"):
        Settings.of(score="flip")


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("rule", "rule must be one of 'mixture', 'flip', 'lrw', 'rw', 'prod', 'auto'; got 'x'"),
        ("weighting", "weighting must be one of 'sqrt', 'error', 'brier'; got 'x'"),
        (
            "scaling",
            "scaling must be one of 'rank', 'block', 'none', 'standard', 'maxabs', 'log-unit', 'auto'; got 'x'",
        ),
        ("parents", "parents must be one of 'untied', 'others', 'chain', 'none'; got 'x'"),
        ("neighbor_space", "neighbor_space must be one of 'joint', 'inputs'; got 'x'"),
        ("neighbor_search", "neighbor_search must be one of 'auto', 'exact', 'approximate'; got 'x'"),
    ],
)
def test_a_name_that_is_none_is_refused_with_those_there_are(parameter, message):
    for value in ("x", ["x"], None, 3):
        with pytest.raises(ValueError) as refused:
            Settings.of(**{parameter: value})
        assert str(refused.value) == message.replace("'x'", repr(value))


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_a_number_of_threads_that_is_none_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        Settings.of(n_jobs=n_jobs)


@pytest.mark.usefixtures("few_trials")
def test_they_are_checked_when_they_are_made_and_a_fit_makes_them_once(monkeypatch):
    made = []
    real = Settings.of
    monkeypatch.setattr(Settings, "of", classmethod(lambda cls, **given: made.append(1) or real(**given)))
    X, Y = make_table(60)
    MCODE(rule="auto").fit(X, Y).calibrate(X, Y).score_batch(X, Y)
    assert made == [1]


def test_they_cannot_be_changed():
    settings = Settings.of()
    for holder, name in ((settings, "seed"), (settings.models, "cv"), (settings.scoring, "rule"),
                         (settings.decision, "fdr")):  # fmt: skip
        with pytest.raises(FrozenInstanceError):
            setattr(holder, name, 1)
    with pytest.raises(TypeError):
        settings.parameters["rule"] = "prod"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda settings: pickle.loads(pickle.dumps(settings))])
def test_a_copy_is_the_same_and_cannot_be_changed_either(copied):
    settings = Settings.of(rule="lrw", exclude=[1], fdr=0.1)
    other = copied(settings)
    assert other == settings and dict(other.parameters) == dict(settings.parameters)
    with pytest.raises(TypeError):
        other.parameters["rule"] = "prod"


@pytest.mark.parametrize(
    ("crossfit", "level", "share", "needs_folds"),
    [(False, None, 0, False), (True, None, 1, True), (0.3, None, 0.3, True), (0.3, 0.1, 1, True)],
)
def test_a_level_takes_models_that_did_not_see_the_row(crossfit, level, share, needs_folds):
    settings = Settings.of(crossfit=crossfit, fdr=level, strengths=(1.0,))
    assert settings.scoring.out_of_fold_share == share
    assert settings.models.needs_folds == needs_folds
    assert Settings.of(crossfit=crossfit, fdr=level).models.needs_folds  # they choose between strengths


def test_auto_is_an_even_chance_or_a_level_by_rules_without_chances():
    decision = Settings.of(contamination="auto").decision
    assert decision.by_chance and decision.level is None
    assert Settings.of(contamination="auto", rule="flip").decision.level == 0.2
    chosen = Settings.of(contamination="auto", rule="auto")
    assert chosen.with_rule(RULES["mixture"]).decision.by_chance
    assert chosen.with_rule(RULES["rw"]).decision.level == 0.2
    assert chosen.with_rule(RULES["rw"]).scoring.out_of_fold_share == 1
    assert chosen.with_rule(RULES["mixture"]).scoring.out_of_fold_share == 0.6
    assert Settings.of(contamination="auto", fdr=0.1).decision.level == 0.1
    decision = Settings.of(contamination=0.05).decision
    assert decision.level is None and decision.share == 0.05


def test_any_seed_becomes_one_number():
    assert Settings.of(random_state=np.int64(7)).seed == 7
    assert Settings.of(random_state=-1).seed == 2**63 - 1
    drawn = check_random_state(np.random.RandomState(3)).randint(2**31 - 1)
    assert Settings.of(random_state=np.random.RandomState(3)).seed == drawn
    generator = np.random.default_rng(3)
    assert Settings.of(random_state=generator).seed != Settings.of(random_state=generator).seed
    with pytest.raises(ValueError, match="seed"):
        Settings.of(random_state="dice")


def test_a_refit_scores_alike_and_flags_nothing_by_a_level():
    settings = Settings.of(rule="rw", exclude=0.5, fdr=0.1, crossfit=0.3, verbose=True, random_state=4)
    again = settings.for_refits([0, 2], "exact")
    assert again.models == settings.models and again.seed == settings.seed
    assert again.scoring.rule is settings.scoring.rule
    assert again.scoring.out_of_fold_share == settings.scoring.out_of_fold_share == 1
    assert again.scoring.exclude == (0, 2)  # what the rows decided stays decided
    assert again.decision.level is None and not again.verbose
    assert settings.for_refits([], "exact").scoring.exclude is None


def test_a_rule_that_was_chosen_stands_in_for_auto():
    settings = Settings.of(rule="auto")
    chosen = settings.with_rule(RULES["rw"])
    assert chosen.scoring.chosen_rule is RULES["rw"] and settings.scoring.rule is None
    assert not chosen.scoring.uses_neighbors
    assert settings.with_rule(RULES["flip"]).scoring.uses_neighbors
    assert not Settings.of(n_neighbors=0).scoring.uses_neighbors


def test_lists_and_arrays_become_tuples_and_settings_compare():
    given = {"parents": "chain", "order": np.array([1, 0]), "strengths": np.array([1.0, 2.0]), "exclude": "y1"}
    settings = Settings.of(**given)
    assert settings.models.order == (1, 0)
    assert settings.models.strengths == (1.0, 2.0)
    assert settings.scoring.exclude == ("y1",)
    assert settings == Settings.of(**given) != Settings.of()
    assert hash(settings) == hash(Settings.of(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strengths": 5.0}, "strengths must be a list of numbers between 1e-30 and 1e30, at least one; got 5.0"),
        (
            {"strengths": ["1"]},
            "strengths must be a list of numbers between 1e-30 and 1e30, at least one; got ['1']",
        ),
        ({"order": 3, "parents": "chain"}, "order must be a list of output names or numbers; got 3"),
        ({"order": "ab", "parents": "chain"}, "order must be a list of output names or numbers; got 'ab'"),
        (
            {"order": [0, 1.9, 2], "parents": "chain"},
            "order must be a list of output names or numbers; got [0, 1.9, 2]",
        ),
        ({"exclude": [1.5]}, "exclude must be a list of output names or numbers; got [1.5]"),
        ({"exclude": object}, "exclude must be a list of output names or numbers; got <class 'object'>"),
    ],
)
def test_what_is_no_list_of_the_right_things_is_refused_in_plain_words(given, message):
    with pytest.raises(ValueError) as refused:
        Settings.of(**given)
    assert str(refused.value) == message


def test_an_automatic_rule_is_not_known_before_the_fit():
    with pytest.raises(ValueError, match="rule='auto' is chosen by fit"):
        _ = Settings.of(rule="auto").scoring.uses_neighbors


def test_settings_print_what_differs_from_the_defaults_on_one_line():
    assert repr(Settings.of()) == "Settings()"
    settings = Settings.of(rule="lrw", n_neighbors=50, strengths=np.ones(3))
    assert repr(settings) == "Settings(rule='lrw', n_neighbors=50, strengths=array([1., 1., 1.]))"
