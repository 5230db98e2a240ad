"""What is said about one row: numbers for a program, sentences for a person, a table for a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any

from scipy.special import expit

from amiss.data.output_kinds import MISSING, Value
from amiss.explanations.explained_output import MOST_TERMS, ExplainedOutput, Term
from amiss.scoring.registry import SPACES
from amiss.wording import count, in_sentence, joined, percent, printable, value_text

TELLING = 0.1  # a column that is named adds at least this share of the largest
MOST_REASONS = 4
WORTH_IT = 0.8  # of the score: a change that leaves more helps little
LONGEST_NAME = 80
RARE = 0.1
WORTH_SAYING = 0.2  # a chance of an error

KIND_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "contradiction": "It contradicts its other outputs or its inputs",
        "inputs": "It does not fit its inputs",
        "unrelated": "It does not fit its inputs: these outputs look like another row's",
        "blank": "Nothing is marked in it, although rows with such inputs usually have something",
    }
)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a row has its score. ``print`` it, look at it in a notebook, or take its :meth:`to_dict`.

    Attributes
    ----------
    label : what the row is called
    row : its number in the training data, None for a new row
    score, rule : the score, and the rule that made it
    threshold, flagged : where the fit flags, and whether this row is above
    rank, n_rows : its place among the training rows; for a new row the place it would have
    outputs : the outputs that count in the score. First come the ``n_suspects`` with a telling contribution, by
        what their change takes off the score (and a third of their contribution, which decides where either of
        two outputs may be changed); the others follow by contribution.
    neighbors : numbers of the training rows that set the local weights, nearest first
    neighbor_space : where they are near, "joint" (inputs and outputs) or "inputs"
    left_out : what could not be said, and why
    observed : every output that is not missing, also those that do not count
    p_value : of a new row, if the detector was calibrated: how often rows held out of the fit score as high
    kind : the kind of error it looks like most: "contradiction" (with its inputs and other outputs), "inputs"
    (some
        outputs do not fit them), "unrelated" (the outputs look like another row's) or "blank" (nothing was
        annotated); None by rules that weigh no hypotheses. The probabilities of the outputs, and their grounds,
        are by the models that see this kind: given the inputs alone for all but the first.
    chances : the chance of each kind of error
    values : the row's inputs as texts by name, where they are known (rows of the fit are kept encoded)
    """

    label: str
    row: int | None
    score: float
    rule: str
    threshold: float
    flagged: bool
    rank: int
    n_rows: int
    outputs: tuple[ExplainedOutput, ...]
    n_suspects: int
    neighbors: tuple[int, ...] | None = field(repr=False)
    neighbor_space: str
    left_out: Mapping[str, str]
    observed: Mapping[str, Value] = field(repr=False)
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    p_value: float | None = None
    kind: str | None = None
    chances: Mapping[str, float] = field(default_factory=dict)

    @property
    def suspects(self) -> tuple[ExplainedOutput, ...]:
        return self.outputs[: self.n_suspects]

    def __getitem__(self, output: str) -> ExplainedOutput:
        """What is said about one output."""
        for each in self.outputs:
            if each.output == output:
                return each
        raise KeyError(output)

    def to_dict(self, n_terms: int = MOST_TERMS) -> dict[str, Any]:
        """Plain values, ready for JSON; of each output's grounds the ``n_terms`` largest."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "outputs"}
        plain["neighbors"] = None if self.neighbors is None else list(self.neighbors)
        plain |= {name: dict(getattr(self, name)) for name in ("left_out", "observed", "values", "chances")}
        return plain | {"outputs": [output.to_dict(n_terms) for output in self.outputs]}

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """The explanation as plain sentences, the most important first."""
        return [
            self._verdict(),
            *self._kind_of_error(),
            *self._what_is_wrong(),
            *(f"Left out: {why}." for why in self.left_out.values()),
        ]

    def _verdict(self) -> str:
        kind = "is flagged as unusual" if self.flagged else "is not flagged"
        place = f"rank {self.rank:,} of {count(self.n_rows, 'row')}"
        if self.p_value is not None:
            place = f"p-value {self.p_value:.2g} (how often rows held out of the fit score as high)"
        elif self.row is None:
            place = f"rank {self.rank:,} if it were among the {count(self.n_rows, 'row')} of the fit"
        cut = "the threshold itself" if self.score == self.threshold else f"threshold {self.threshold:.4g}"
        return f"{self.label} {kind}: score {self.score:.4g}, {cut}, {place}."

    def _kind_of_error(self) -> list[str]:
        chance = sum(self.chances.values())
        if self.kind is None or not (self.flagged or chance >= WORTH_SAYING):
            return []
        return [f"{KIND_SENTENCES[self.kind]} (chance that the row is wrong: {percent(chance)})."]

    def _what_is_wrong(self) -> list[str]:
        if not self.suspects:
            return ["None of its outputs stands out."]
        first, *others = self.suspects
        if all(output.direction is None for output in self.outputs) and not self._would_fall(first):
            largest = max(self.outputs, key=lambda output: output.contribution)
            return [
                f"Each of its outputs has the expected value. {_valued(largest)} adds most to the score; "
                f"the model gives it a chance of {percent(largest.probability)}."
            ]
        about_first = [_claim(first), *self._change(first), *self._why(first), *self._alike(first)]
        return [*about_first, *_companions(first, others)]

    def _would_fall(self, output: ExplainedOutput) -> bool:
        return output.score_if_changed is not None and output.score_if_changed < self.score

    def _change(self, output: ExplainedOutput) -> list[str]:
        after = output.score_if_changed
        if after is None:
            return []
        then = f"With {said(output.instead)} instead, the score would be {after:.2g}"
        if after > WORTH_IT * self.score:
            return [f"{then}: changing this output alone would help little."]
        if not self.flagged:
            return [f"{then}."]
        return [f"{then}, and the row would {'still' if after > self.threshold else 'not'} be flagged."]

    def _why(self, output: ExplainedOutput) -> list[str]:
        """The columns that speak most for the value that was expected."""
        if output.grounds is None or output.direction is None:
            return []
        sign = 1 if output.expected == 1 and output.is_tag else -1
        if not output.predictable:  # no column says anything, so none is a reason
            rare = _rare(output, float(expit(-sign * output.grounds.average)))
            return [f"{rare.removesuffix('.')}, and not predictable from these columns."]
        terms = [term for term in output.grounds.largest(50) if sign * term.log_odds > 0]
        telling = [term for term in terms if abs(term.log_odds) >= TELLING * abs(terms[0].log_odds)]
        named = [self.with_value(term) for term in telling[:MOST_REASONS]]
        sentences, usual = [], sign * output.grounds.average
        if usual > 0 and usual >= max((abs(term.log_odds) for term in telling), default=0.0):
            sentences.append(_rare(output, float(expit(-usual))))
        if named:
            reasons = f"{'Other' if sentences else 'The main'} {'reason' if len(named) == 1 else 'reasons'}"
            what = f"to expect {output.expected}" if output.is_tag else "against it"
            sentences.append(f"{reasons} {what}: {joined(named)}.")
        return sentences

    def _alike(self, output: ExplainedOutput) -> list[str]:
        known, alike = output.neighbors_known, output.neighbors_alike
        if not known:
            return []
        where = SPACES[self.neighbor_space].description
        have = "has" if alike == 1 else "have"
        return [f"Of the {known} rows nearest to it in {where}, {alike} {have} {_valued(output)} too."]

    def with_value(self, term: Term) -> str:
        """A column's name and what stands in it in this row, as far as that is known."""
        value = self.value_of(term)
        if value is None or value == MISSING:
            return in_sentence(term.name) + (f" ({MISSING})" if value else "")
        return f"{in_sentence(term.name)} = {in_sentence(value, 32)}"

    def value_of(self, term: Term) -> str | None:
        """What stands in a column in this row; None where it is not known."""
        if term.kind == "input":
            return self.values.get(term.name)
        return value_text(self.observed.get(term.name, MISSING))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("output", "is", "chance of 1", "share", "score if changed"))
        rows = "".join(_html_row(output) for output in self.suspects)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if self.suspects else ""
        return f"<div><p>{escape(str(self))}</p>{table}</div>"


def _valued(output: ExplainedOutput) -> str:
    return f"{in_sentence(output.output)} = {said(output.observed)}"


def said(value: Value) -> str:
    """A value in a sentence."""
    return in_sentence(str(value), 40) if isinstance(value, str) else value_text(value)


def _expected(output: ExplainedOutput) -> str:
    if output.interval is None:
        return said(output.expected)
    low, high = (f"{end:.0f}" if 1e4 <= abs(end) < 1e15 else f"{end:.4g}" for end in output.interval)
    return low if low == high else f"{low} to {high}"


def _claim(output: ExplainedOutput) -> str:
    name, makes = in_sentence(output.output), f"it accounts for {percent(output.share_of_score)} of the score"
    if output.direction is None:
        return (
            f"{name} is {said(output.observed)}, in itself the likelier value ({percent(output.probability)}), "
            f"but {makes}."
        )
    if not output.is_tag:
        as_far = " a value as far off" if output.interval else ""
        return (
            f"{name} is {said(output.observed)} where {_expected(output)} is expected "
            f"(the model gives{as_far or ' it'} a chance of {percent(output.probability)}); {makes}."
        )
    return (
        f"{name} is {output.observed} where {output.expected} is expected (the model gives a {output.observed} "
        f"a chance of {percent(output.probability)}); {makes}."
    )


def _rare(output: ExplainedOutput, chance: float) -> str:
    """How seldom the value that stands there is, in the average row."""
    rare = "is rare" if chance < RARE else "is the less likely value"
    what = f"A {output.observed}" if output.is_tag else said(output.observed).capitalize()
    return f"{what} {rare} here ({percent(chance)} in the average row)."


def _companions(first: ExplainedOutput, others: Sequence[ExplainedOutput]) -> list[str]:
    """Other unexpected outputs: those that the first explains, and those that it does not."""
    surprising = [output for output in others if output.direction is not None]
    explained = [output for output in surprising if (output.probability_if_first_changed or 0) >= 0.5]
    alone = [output for output in surprising if output not in explained]
    sentences = []
    if explained:
        chances = joined([_with_chance(output) for output in explained])
        sentences.append(f"These look wrong only because {_valued(first)}: {chances}.")
    if alone:
        sentences.append(f"Also unexpected: {joined([_with_chance(output) for output in alone])}.")
    return sentences


def _with_chance(output: ExplainedOutput) -> str:
    return f"{_valued(output)} ({percent(output.probability)})"


def _html_row(output: ExplainedOutput) -> str:
    width = f"display:inline-block;height:0.7em;background:#0072B2;width:{100 * output.share_of_score:.0f}px"
    after = "" if output.score_if_changed is None else f"{output.score_if_changed:.4g}"
    cells = (
        f"<bdi>{escape(printable(output.output, LONGEST_NAME))}</bdi>",
        escape(said(output.observed)),
        "" if output.chance_of_one is None else percent(output.chance_of_one),
        f'<span style="{width}"></span> {percent(output.share_of_score)}',
        after,
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
