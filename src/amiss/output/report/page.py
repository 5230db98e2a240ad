"""The report: one HTML file that needs nothing but a browser.

Its script and style are the package's own and are allowed by their hashes; nothing else may run or be
loaded (Content-Security-Policy). Names, ids and cells enter as JSON data or through autoescaping.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from amiss.data.table import Table
from amiss.errors import DataError, quoted
from amiss.files import atomic_write
from amiss.fitted import FittedDetector, is_table_of
from amiss.monitoring.batch import ScoredBatch
from amiss.output.report.material import DETAILED_ROWS, Material
from amiss.output.report.payload import payload
from amiss.output.report.pictures import Picture, check_pictures, why_unseen
from amiss.output.summary import batch_overview, overview
from amiss.version import __version__
from amiss.wording import count, printable

WITHOUT_SCRIPTS = 20  # rows shown where scripts are switched off
LONGEST_TITLE = 200


def write_report(
    path: str | Path,
    fitted: FittedDetector,
    inputs: Table,
    *,
    ids: Sequence[str] | None = None,
    pictures: Sequence[Picture] | None = None,
    n_details: int = DETAILED_ROWS,
    title: str = "amiss report",
    shown: Mapping[str, Sequence[str]] | None = None,
    batch: ScoredBatch | None = None,
) -> None:
    """Write a report on the rows of a fit, or on a batch, completely or not at all.

    ``inputs`` are those of the fit, or of the batch; :func:`refuse_other_rows` checks a table that may be another.
    """
    content = page(material(fitted, inputs, ids, pictures, n_details, shown, batch), title)
    with atomic_write(Path(path)) as stream:
        stream.write(content.encode("utf-8", errors="replace"))


def refuse_other_rows(fitted: FittedDetector, inputs: Table, outputs: Table) -> None:
    """Refuse a table with the columns of the fit that does not hold its rows in their order."""
    n_rows = len(fitted.training_rows)  # a model that was saved without its rows refuses
    if len(inputs) != n_rows:
        raise DataError(f"X has {len(inputs)} rows and the fit had {n_rows}; give what the detector was fitted to")
    if not is_table_of(fitted, inputs, outputs):
        raise DataError("these are not the rows the detector was fitted to, or they are in another order")


def material(
    fitted: FittedDetector,
    inputs: Table,
    ids: Sequence[str] | None = None,
    pictures: Sequence[Picture] | None = None,
    n_details: int = DETAILED_ROWS,
    shown: Mapping[str, Sequence[str]] | None = None,
    batch: ScoredBatch | None = None,
) -> Material:
    """What a report is made from, checked."""
    n_rows = len(fitted.training_rows if batch is None else batch)
    if not n_rows:
        raise DataError("the batch has no rows, so there is nothing to report")
    if len(inputs) != n_rows:
        raise DataError(f"X has {len(inputs)} rows and the batch has {n_rows}; give what was scored")
    for name, texts in (shown or {}).items():
        if len(texts) != n_rows:
            raise DataError(f"column {quoted(name)} to show has {len(texts)} cells for {n_rows} rows")
    if ids is not None and len(ids) != n_rows:
        raise DataError(f"there are {len(ids)} ids for {n_rows} rows")
    if pictures is not None:
        check_pictures(pictures, n_rows)
    if n_details < 1:
        raise ValueError("n_details must be at least 1")
    names = None if ids is None else tuple(map(str, ids))
    beside = {str(name): tuple(map(str, cells)) for name, cells in (shown or {}).items()}
    return Material(fitted, inputs, names, pictures, n_details, batch, beside)


def page(made_from: Material, title: str = "amiss report") -> str:
    """The report as HTML."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {
        "separators": (",", ":"),
        "allow_nan": False,
        "ensure_ascii": False,
    }
    templates = files("amiss.output.report").joinpath("templates")
    html, style, *scripts = (
        templates.joinpath(name).read_text("utf-8")
        for name in ("report.html", "report.css", "kinds.js", "report.js")
    )
    script = "".join(scripts)
    data = payload(made_from)
    unseen = (data["pictures"] or []).count(None)
    remark = [f"{count(unseen, 'picture')} could not be shown: {why_unseen()}."] * bool(unseen)
    return environment.from_string(html).render(
        title=printable(title, LONGEST_TITLE),
        overview=[*_overview(made_from), *remark],
        first_rows=[" ".join(detail["said"]) for detail in data["details"][:WITHOUT_SCRIPTS]],
        weight_meaning=made_from.fitted.scorer.rule.weight_meaning + ".",
        sample_note=_sample_note(len(data["sample"]["row"]), data["n_rows"]),
        version=__version__,
        date=date.today().isoformat(),
        several="kinds" in data,
        data=data,
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
    )


def _overview(made_from: Material) -> list[str]:
    if made_from.batch is not None:
        return batch_overview(made_from.batch, made_from.ids)
    return overview(made_from.fitted, made_from.ids)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _sample_note(shown: int, n_rows: int) -> str:
    return "" if shown == n_rows else f"These are the most unusual rows and some others, {shown} of {n_rows}."
