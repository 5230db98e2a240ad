"""``amiss evaluate``: which rule for my data, and what precision to expect."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from amiss.cli.grouped import GroupedCommand
from amiss.cli.lazy import LazyOption, default_of, value_of
from amiss.cli.pipes import readers_may_leave
from amiss.cli.reading import all_files, read_table, reading_options

if TYPE_CHECKING:
    from amiss.evaluation import RuleChoice
    from amiss.evaluation.variants import VariantComparison


Command = TypeVar("Command", bound=Callable[..., Any])


def _measured(option: str, constant: str, help: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option of the measurement; its default is what the measurement has."""

    def default() -> Any:
        found = value_of("amiss.evaluation.choice", constant)()
        return ",".join(map(str, found)) if isinstance(found, tuple) else found

    return click.option(option, **{"cls": LazyOption, "lazy_default": default, "help": help, **attributes})


class _Described(LazyOption):
    """An option whose help describes the kinds of error."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.described = value_of("amiss.evaluation.registry", "ERROR_KINDS")()
        return super().get_help_record(ctx)


@click.command(cls=GroupedCommand, short_help="See which rule finds errors in a table, and with what precision.")
@reading_options
@_measured(
    "--flips",
    "DIMENSIONALITIES",
    "Shares of a row's outputs to flip, separated by commas; by default none where outputs are of several kinds.",
    metavar="SHARES",
)
@_measured("--seeds", "N_SEEDS", "How often to try each share.", type=click.IntRange(1))
@_measured(
    "--ratio",
    "RATIO",
    "Share of the rows that are made wrong.",
    type=click.FloatRange(0, 0.5, min_open=True),
    metavar="SHARE",
)
@_measured("--rows", "MOST_ROWS", "Draw this many rows from a larger table.", type=click.IntRange(1), metavar="N")
@_measured(
    "--errors",
    "KINDS",
    "Other kinds of error to try, separated by commas; none for flips alone. Where outputs are of several kinds, "
    "the default is swap and what can be made there from another-row on.",
    cls=_Described,
    metavar="ERRORS",
)
@click.option(
    "--settings",
    "with_settings",
    is_flag=True,
    help="Also compare other settings (parents, scaling, rule) on each kind of error; takes much longer.",
)
@click.option("--plot", metavar="PNG", help="Also draw the precisions (needs the extra plot).")
@click.option("--json", "as_json", is_flag=True, help="Print the measurements as JSON.")
@click.option(
    "--jobs", cls=LazyOption, lazy_default=default_of("n_jobs"), type=int, help="Threads; -1 is all cores."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
def evaluate(files: tuple[str, ...], **options: Any) -> None:
    """Make errors in a table on purpose, and see which rule finds them.

    FILE is read as by amiss find. Outputs are flipped, left out, added, exchanged, taken from another row, or
    all set to 0; numbers, counts, grades and classes change as they do by mistake (--errors). The table may
    hold errors already; nobody needs to know them. A row that was not changed counts as a false alert even
    if it is wrong, so the precisions tend to be too low for a table in which --ratio of the rows have such
    errors. Each trial is a fit of the models.

    \b
    amiss evaluate photos.csv --outputs 'tag_*' --id photo --plot precision.png
    """  # fmt: skip
    from amiss.evaluation import measure
    from amiss.evaluation.baselines import lof_of_fit
    from amiss.evaluation.one_fit import Subject
    from amiss.evaluation.variants import compare_variants
    from amiss.files import check_writable
    from amiss.output.plots import require_matplotlib
    from amiss.settings import Settings

    shares, errors = _said("flips", _shares), _said("errors", _errors)
    if options["plot"] is not None:
        require_matplotlib()
        if Path(options["plot"]).suffix.lower() != ".png":
            raise click.BadParameter("must end in .png", param_hint="--plot")
        check_writable(Path(options["plot"]), all_files(files, options))
    data = read_table(files, options)
    settings = Settings.of(n_jobs=options["jobs"], verbose=not options["quiet"] and sys.stderr.isatty())
    if options["group"] == "auto" and data.groups is None:
        raise click.UsageError("--group auto is for amiss find and fit; here, name the column")
    roles: dict[str, Any] = {"probabilities": data.probabilities, "groups": data.groups}
    choice = measure(
        data.X,
        data.Y,
        settings,
        dimensionalities=shares,
        n_seeds=options["seeds"],
        ratio=options["ratio"],
        most_rows=options["rows"],
        others={"lof": partial(lof_of_fit, n_jobs=options["jobs"])},
        kinds=errors,
        **roles,
    )
    compared = None
    if options["with_settings"]:
        how = {"n_seeds": options["seeds"], "ratio": options["ratio"], "most_rows": options["rows"]}
        kinds = (*(["flip"] if choice.flips else []), *choice.kinds)
        compared = compare_variants(Subject.of(data.X, data.Y, **roles), settings, kinds=kinds, **how)
    if options["plot"] is not None:
        _draw(choice, Path(options["plot"]))
    with readers_may_leave():
        click.echo(_as_json(choice, compared) if options["as_json"] else _text(choice, len(data)))
        if compared is not None and not options["as_json"]:
            click.echo("\n" + "\n".join(_settings_table(compared)))
        if options["plot"] is not None and not options["as_json"]:
            click.echo(f"\nDrawn: {options['plot']}")


def _said(option: str, parsed: Callable[[str], Any]) -> Any:
    """What the user says; None if nothing, so that the outputs decide."""
    context = click.get_current_context()
    if context.get_parameter_source(option) is ParameterSource.DEFAULT:
        return None
    return parsed(context.params[option])


def _shares(text: str) -> list[float]:
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 1 for share in shares):
        raise click.BadParameter(
            "must be numbers above 0 and at most 1, separated by commas", param_hint="--flips"
        )
    return shares


def _errors(text: str) -> list[str]:
    from amiss.evaluation.registry import ERROR_KINDS

    kinds = [] if text == "none" else [part.strip() for part in text.split(",")]
    if not all(kind in ERROR_KINDS for kind in kinds):
        raise click.BadParameter(f"must be some of {', '.join(ERROR_KINDS)}, or none", param_hint="--errors")
    return kinds


def _text(choice: RuleChoice, n_rows: int) -> str:
    """Precision of each rule at each alert rate, and which to take."""
    from amiss.wording import count

    of = f" (drawn from {n_rows:,})" if choice.n_rows < n_rows else ""
    rates = "".join(f"{rate:>7.1%}" for rate in choice.rates)
    lines = [
        f"{count(choice.n_rows, 'row')}{of}; {choice.n_flipped:,} of them made wrong; "
        f"{count(choice.atpar.shape[2], 'trial')} of each kind of error.",
        "",
        f"{'':8}{'precision among the top':>{len(rates)}}  {'errors found among the top':>{len(rates)}}",
        f"{'rule':8}{rates}  {rates}",
    ]
    for number, name in enumerate(choice.rules):
        precision, found = (values[number].mean(axis=(0, 1)) for values in (choice.precision, choice.found))
        lines.append(f"{name:8}{_cells(precision)}  {_cells(found)}")
    lines += [f"{'at most':8}{_cells(choice.ceiling)}", "", *_by_kind(choice)]
    return "\n".join([*lines, "", *_advice(choice)])


def _by_kind(choice: RuleChoice) -> list[str]:
    """Mean precision of each rule for each kind of error."""
    widths = [max(7, len(trial) + 2) for trial in choice.trials]
    head = "".join(f"{trial:>{width}}" for trial, width in zip(choice.trials, widths, strict=True))
    lines = ["Mean precision up to 1.0%, by kind of error", f"{'rule':8}{head}"]
    for number, name in enumerate(choice.rules):
        means = zip(choice.atpar[number].mean(axis=1), widths, strict=True)
        lines.append(f"{name:8}" + "".join(f"{value:{width}.2f}" for value, width in means))
    return lines


def _settings_table(compared: VariantComparison) -> list[str]:
    """Average precision of each variant of the settings for each kind of error."""
    first = max(map(len, compared.variants)) + 2
    widths = [max(7, len(kind) + 2) for kind in (*compared.kinds, "mean")]
    head = "".join(f"{kind:>{width}}" for kind, width in zip((*compared.kinds, "mean"), widths, strict=True))
    lines = ["Average precision over rows, by kind of error", f"{'settings':{first}}{head}"]
    for name, values in zip(compared.variants, compared.average_precision, strict=True):
        cells = zip((*values, values.mean()), widths, strict=True)
        lines.append(f"{name:{first}}" + "".join(f"{value:{width}.2f}" for value, width in cells))
    return [*lines, "", f"Best over all kinds: {compared.best}."]


def _advice(choice: RuleChoice) -> list[str]:
    """Which rule to take; nothing to do if it is the default."""
    best = choice.best.name
    if best != value_of("amiss.settings", "DEFAULTS")()["rule"]:
        return [f"Best here: {choice.why}.", f"To use it: amiss find … --rule {best}"]
    reason = "it found rows made wrong best" if choice.leads else "no rule was clearly better"
    return [f"Keep the default, {best}: {reason} {choice.evidence}."]


def _cells(values: Iterable[float]) -> str:
    return "".join(f"{value:7.2f}" for value in values)


def _as_json(choice: RuleChoice, compared: VariantComparison | None) -> str:
    import json

    return json.dumps(
        {
            "best": choice.best.name,
            "rows": choice.n_rows,
            "flipped": choice.n_flipped,
            "trials": choice.atpar.shape[1] * choice.atpar.shape[2],
            "because": choice.why,
            "at_most": [round(value, 6) for value in choice.ceiling],
            "flips": list(choice.flips),
            "kinds": list(choice.kinds),
            "rates": list(choice.rates),
            "rules": {
                name: {
                    "precision": choice.precision[number].mean(axis=(0, 1)).round(6).tolist(),
                    "found": choice.found[number].mean(axis=(0, 1)).round(6).tolist(),
                    "atpar_by_kind": dict(
                        zip(choice.trials, choice.atpar[number].mean(axis=1).round(6).tolist(), strict=True)
                    ),
                }
                for number, name in enumerate(choice.rules)
            },
            **({} if compared is None else {"settings": _settings_as_json(compared)}),
        },
        indent=2,
    )


def _settings_as_json(compared: VariantComparison) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(compared.kinds, values.round(6).tolist(), strict=True))
        for name, values in zip(compared.variants, compared.average_precision, strict=True)
    }


def _draw(choice: RuleChoice, path: Path) -> None:
    from amiss.output.plots import precision_at_rates, save

    n_rates = len(choice.rates)
    values = {name: choice.precision[number].reshape(-1, n_rates) for number, name in enumerate(choice.rules)}
    title = f"{choice.n_flipped} of {choice.n_rows} rows made wrong; whiskers: spread over trials"
    save(precision_at_rates(values, choice.rates, title), path)
