"""Options that say how rows are scored and flagged, shared by the commands that fit a detector."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from amiss.encoding.scalings import SCALINGS
from amiss.models.registry import PARENTS
from amiss.scoring.registry import AUTO, RULES, SEARCHES, SPACES, WEIGHTINGS

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.detector import MCODE


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
    help="Share of the rows to flag; auto is --fdr 0.2.  [default: 0.01]",
)
_ALERTS = click.option(
    "--alerts", type=click.IntRange(1), metavar="N", help="Number of rows to flag, instead of --rate."
)
# A model flags rows of other tables; the option is there to be refused by its reason.
_NO_ALERTS = click.option("--alerts", type=int, hidden=True)
_OPTIONS = (
    click.option(
        "--fdr",
        type=Level(1),
        metavar="LEVEL",
        help="False-discovery level: flag as many rows as keep the share of falsely flagged ones at this level, "
        "instead of --rate. Right as far as the models' probabilities are.",
    ),
    click.option(
        "--rule",
        type=click.Choice([*RULES, AUTO]),
        default="flip",
        show_default=True,
        help="Scoring rule: the evidence of a flip; the paper's with weights from each row's neighbourhood, from "
        "all rows, or none; or whichever finds most flips in this table.",
    ),
    click.option(
        "--weighting",
        type=click.Choice([*WEIGHTINGS]),
        default="sqrt",
        show_default=True,
        help="What the weights of lrw and rw are the inverse of.",
    ),
    click.option(
        "--parents",
        type=click.Choice([*PARENTS]),
        default="others",
        show_default=True,
        help="Which other outputs the model of an output sees.",
    ),
    click.option(
        "--parent-penalty",
        type=click.FloatRange(1e-6, 1e6),
        default=4.0,
        show_default=True,
        metavar="R",
        help="How many times more the coefficients of outputs are penalised than those of inputs.",
    ),
    click.option("--order", metavar="COL", multiple=True, help="Order of the chain: every output once."),
    click.option(
        "--crossfit",
        default="0.6",
        show_default=True,
        metavar="SHARE",
        callback=_share_or_word,
        help="Score rows by models that did not see them (yes), by models that did (no), or by a mixture with "
        "this share of the former.",
    ),
    click.option(
        "--scaling",
        type=click.Choice(tuple(SCALINGS)),
        default="rank",
        show_default=True,
        help="How inputs are scaled.",
    ),
    click.option(
        "--neighbors",
        type=click.IntRange(0),
        default=100,
        show_default=True,
        metavar="K",
        help="Size of the neighbourhood for flip and lrw; with 0 all rows have the same weights.",
    ),
    click.option(
        "--neighbor-space",
        type=click.Choice(list(SPACES)),
        default="joint",
        show_default=True,
        help="Where neighbours are near: in inputs and outputs, or in inputs.",
    ),
    click.option(
        "--neighbor-search",
        type=click.Choice(list(SEARCHES)),
        default="auto",
        show_default=True,
        help="Approximate is for very many dense rows; sparse ones are always searched exactly.",
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
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seeds the folds."),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 is all cores."),
)


WITH_A_MODEL = ("files", "row", "id_column", "drop", "file_format", "as_json", "quiet")


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


def detector_of(data: Dataset, options: dict[str, Any]) -> MCODE:
    """The detector those options ask for."""
    from amiss.detector import MCODE
    from amiss.errors import DataError
    from amiss.settings import Settings

    share = 0.01 if options["rate"] is None else options["rate"]
    if options["alerts"] is not None:
        if options["alerts"] > len(data) / 2:
            raise DataError(f"--alerts {options['alerts']} is more than half of the {len(data)} rows")
        share = options["alerts"] / len(data)
    detector = MCODE(
        parents=options["parents"],
        order=_named(options["order"], data.output_names, "--order") or None,
        rule=options["rule"],
        weighting=options["weighting"],
        crossfit=options["crossfit"],
        n_neighbors=options["neighbors"],
        neighbor_space=options["neighbor_space"],
        neighbor_search=options["neighbor_search"],
        scaling=options["scaling"],
        parent_penalty=options["parent_penalty"],
        exclude=_named(options["exclude"], data.output_names, "--exclude") or options["min_skill"],
        contamination=share,
        fdr=options["fdr"],
        random_state=options["seed"],
        n_jobs=options["jobs"],
        verbose=not options.get("quiet") and sys.stderr.isatty(),
    )
    try:
        Settings.of(**detector.get_params(deep=False))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return detector


def _named(items: tuple[str, ...], names: tuple[str, ...], option: str) -> list[str]:
    """The outputs an option means."""
    from amiss.readers.select import matching_columns

    return [name for item in items for name in matching_columns(item, names, option)]
