"""Options that say how rows are scored and flagged, shared by the commands that fit a detector."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from amiss.cli.lazy import LazyOption, default_of
from amiss.cli.reading import said_kinds
from amiss.decisions.settings import AUTO_LEVEL, DEFAULT_SHARE
from amiss.encoding.scalings import SCALINGS
from amiss.models.registry import MODELS, PARENTS
from amiss.registry import Registry
from amiss.scoring.registry import AUTO, RULES, SEARCHES, SPACES, WEIGHTINGS

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.fitted import FittedDetector
    from amiss.settings import Settings


def _share_or_word(context: click.Context, option: click.Parameter, text: str) -> Any:
    """What ``crossfit`` takes, from a word or a number."""
    words = {"yes": True, "no": False}
    try:
        share = words[text] if text in words else float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise click.BadParameter("must be yes, no or a share between 0 and 1")
    return share


def _rate(context: click.Context, option: click.Parameter, text: str | None) -> Any:
    """What ``contamination`` takes; None if nothing was asked for."""
    if text is None or text == "auto":
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 0.5:
        raise click.BadParameter("must be a share above 0 and at most 0.5, or auto")
    return share


class Level(click.FloatRange):
    """A number between two others, neither of them, and a number at all."""

    def __init__(self, highest: float, highest_too: bool = False) -> None:
        super().__init__(0, highest, min_open=True, max_open=not highest_too)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail("must be a number", param, ctx)
        return number


_RATE = click.option(
    "--rate",
    metavar="SHARE",
    callback=_rate,
    help="Share of the rows to flag; auto flags rows with a chance of over 30% of being wrong (with a rule "
    f"other than mixture it is --fdr {AUTO_LEVEL}).  [default: {DEFAULT_SHARE}]",
)
_ALERTS = click.option(
    "--alerts", type=click.IntRange(1), metavar="N", help="Number of rows to flag, instead of --rate."
)
# A model flags rows of other tables; the option is there to be refused by its reason.
_NO_ALERTS = click.option("--alerts", type=int, hidden=True)


def _setting(option: str, parameter: str, help: str, **attributes: Any) -> Any:
    """An option that sets a parameter of the detector and has its default."""
    return click.option(option, cls=LazyOption, lazy_default=default_of(parameter), help=help, **attributes)


def _choice(option: str, parameter: str, help: str, registry: Registry[Any], **also: str) -> Any:
    """The same for a parameter whose values are names: those of a registry, and ``also`` others."""
    names = click.Choice([*registry, *also])
    return _setting(option, parameter, help, type=names, described=registry, also=also)


_OPTIONS = (
    click.option(
        "--fdr",
        type=Level(1),
        metavar="LEVEL",
        help="False-discovery level: flag as many rows as keep the share of falsely flagged ones at this level, "
        "instead of --rate. The level holds only if the models' probabilities are accurate.",
    ),
    _choice(
        "--rule",
        "rule",
        "Scoring rule.",
        RULES,
        **{AUTO: "whichever finds most errors that are made in this table on purpose"},
    ),
    _choice(
        "--weighting",
        "weighting",
        "lrw and rw weight an output by the inverse of this error measure.",
        WEIGHTINGS,
    ),
    _choice("--model", "model", "What predicts the outputs.", MODELS),
    _setting(
        "--time-budget",
        "time_budget",
        "About how many seconds --model auto may take to try boosted trees; counted in work, not by the clock.",
        type=click.FloatRange(0, 1e9),
        metavar="SECONDS",
    ),
    _choice("--parents", "parents", "Which other outputs the model of an output sees.", PARENTS),
    _setting(
        "--parent-penalty",
        "parent_penalty",
        "How many times more the coefficients of outputs are penalised than those of inputs.",
        type=click.FloatRange(1e-6, 1e6),
        metavar="R",
    ),
    click.option(
        "--order", metavar="COL", multiple=True, help="Order of the outputs for --parents chain: each output once."
    ),
    _setting(
        "--crossfit",
        "crossfit",
        "Score rows by models that did not see them (yes), by models that did (no), or by a mixture with "
        "this share of the former.",
        metavar="SHARE",
        callback=_share_or_word,
    ),
    _choice(
        "--scaling",
        "scaling",
        "How inputs are scaled.",
        SCALINGS,
        **{AUTO: "rank or block, whichever predicts the outputs of a sample better"},
    ),
    _setting(
        "--neighbors",
        "n_neighbors",
        "Size of the neighbourhood for mixture, flip and lrw; with 0 all rows have the same weights.",
        type=click.IntRange(0),
        metavar="K",
    ),
    _choice("--neighbor-space", "neighbor_space", "Where the neighbours of a row are near it.", SPACES),
    _choice(
        "--neighbor-search",
        "neighbor_search",
        "How neighbours are searched among dense rows; sparse rows are always searched exactly.",
        SEARCHES,
    ),
    click.option(
        "--exclude",
        metavar="COL",
        multiple=True,
        help="Outputs to leave out of the score; they still serve as parents of the others.",
    ),
    click.option(
        "--min-skill",
        type=click.FloatRange(max=1, max_open=True),
        metavar="S",
        help="Leave outputs below this skill (see --quality) out of the score.",
    ),
    _setting("--seed", "random_state", "Seeds the folds.", type=click.IntRange(0)),
    _setting("--jobs", "n_jobs", "Threads; -1 is all cores.", type=int),
)


WITH_A_MODEL = ("files", "row", "inputs", "id_column", "drop", "file_format", "as_json", "quiet")


def detector_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How rows are scored, and how many are flagged."""
    return _with_options(command, (_RATE, _ALERTS, *_OPTIONS))


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How rows are scored and flagged by a model that is kept."""
    return _with_options(command, (_RATE, _NO_ALERTS, *_OPTIONS))


def _with_options(command: Callable[..., Any], options: tuple[Any, ...]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def given(option: str) -> bool:
    """Whether the user has named an option of the present command."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def refuse_detector_options() -> None:
    """A model was fitted before, so nothing about its fit can be asked for now."""
    for option in click.get_current_context().command.params:
        if option.name in WITH_A_MODEL or not given(option.name or ""):
            continue
        if option.name in ("rate", "alerts", "fdr"):
            raise click.UsageError(f"{option.opts[0]} is for amiss score; explain uses the model's threshold")
        raise click.UsageError(f"{option.opts[0]} is for amiss fit; a model keeps what it was fitted with")


def refuse_contradictions(options: dict[str, Any]) -> None:
    """Before anything is read."""
    if options["exclude"] and options["min_skill"] is not None:
        raise click.UsageError("--exclude and --min-skill cannot be combined")
    refuse_two_cuts(options)
    if options["order"] and options["parents"] != "chain":
        raise click.UsageError("--order needs --parents chain")
    if not options["jobs"]:
        raise click.UsageError("--jobs 0 is no thread at all; leave it out, or give 1 or more")
    if not options["crossfit"] and (options["fdr"] is not None or options["rate"] == "auto"):
        raise click.UsageError("--fdr and --rate auto need models that did not see a row; leave out --crossfit no")


def refuse_quiet_json(options: dict[str, Any]) -> None:
    """One prints nothing, the other prints."""
    if options["quiet"] and options["as_json"]:
        raise click.UsageError("--quiet prints nothing and --json prints JSON; give only one of them")


def refuse_two_cuts(options: dict[str, Any]) -> None:
    """There is one threshold, so one way to find it."""
    if sum(options[name] is not None for name in ("rate", "alerts", "fdr")) > 1:
        raise click.UsageError("--rate, --alerts and --fdr each say how many rows to flag; give only one of them")


def settings_of(data: Dataset, options: dict[str, Any]) -> Settings:
    """What those options ask for."""
    from amiss.errors import DataError
    from amiss.settings import Settings
    from amiss.wording import count

    share = DEFAULT_SHARE if options["rate"] is None else options["rate"]
    if options["alerts"] is not None:
        if options["alerts"] > len(data) / 2:
            raise DataError(f"--alerts {options['alerts']} is more than half of the {count(len(data), 'row')}")
        share = options["alerts"] / len(data)
    parameters = {
        "parents": options["parents"],
        "order": _named(options["order"], data.output_names, "--order") or None,
        "rule": options["rule"],
        "weighting": options["weighting"],
        "crossfit": options["crossfit"],
        "n_neighbors": options["neighbors"],
        "neighbor_space": options["neighbor_space"],
        "neighbor_search": options["neighbor_search"],
        "scaling": options["scaling"],
        "parent_penalty": options["parent_penalty"],
        "model": options["model"],
        "time_budget": options["time_budget"],
        "exclude": _named(options["exclude"], data.output_names, "--exclude") or options["min_skill"],
        "contamination": share,
        "fdr": options["fdr"],
        "output_kinds": said_kinds(options["kinds"]) or None,
        "random_state": options["seed"],
        "n_jobs": options["jobs"],
        "verbose": not options.get("quiet") and sys.stderr.isatty(),
    }
    try:
        return Settings.of(**parameters)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def fitted_to(data: Dataset, options: dict[str, Any]) -> FittedDetector:
    """A detector as those options ask for, fitted to all that was read.

    It does without :class:`amiss.MCODE`, because importing scikit-learn takes longer than a small fit.
    """
    from amiss.data.columns import Columns
    from amiss.fitted import fit_table

    settings = settings_of(data, options)
    table = Columns.of(data.X, data.Y, data.probabilities, dict(settings.output_kinds))
    groups = options["group"] if data.groups is None else data.groups  # auto, or nothing
    fitted = fit_table(settings, *table, groups)
    return replace(fitted, notes=(*data.notes, *fitted.notes)) if data.notes else fitted


def _named(items: tuple[str, ...], names: tuple[str, ...], option: str) -> list[str]:
    """The outputs an option means."""
    from amiss.readers.select import matching_columns

    return [name for item in items for name in matching_columns(item, names, option)]
