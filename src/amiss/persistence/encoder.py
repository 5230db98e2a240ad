"""The encoder and its ranks."""

from __future__ import annotations

import numpy as np

from amiss.encoding.encoder import Encoder
from amiss.encoding.expansion import count_encoded
from amiss.encoding.ranks import Ranks
from amiss.encoding.scalings.base import Scaling
from amiss.persistence.fields import SMALLEST, Fields, InvalidField, Packed, at_least, distinct_texts


def pack_encoder(encoder: Encoder) -> Packed:
    description = {
        "levels": {str(column): list(levels) for column, levels in encoder.levels.items()},
        "indicated": list(encoder.indicated),
        "sparse": encoder.stored_sparse,
    }
    names = ("means", "low", "high", "counts", "unit", "centre", "scale")
    arrays = {f"encoding.{name}": getattr(encoder, name) for name in names}
    return Packed(description, arrays) | _pack_ranks(encoder.distribution)


def unpack_encoder(fields: Fields, names: tuple[str, ...], scaling: Scaling) -> Encoder:
    levels = {int(column): distinct_texts(found, 0) for column, found in fields.value("levels", dict).items()}
    indicated = tuple(fields.value("indicated", list))
    for column in (*levels, *indicated):
        if type(column) is not int or not 0 <= column < len(names):
            raise InvalidField("columns")
    if len(set(indicated)) < len(indicated):
        raise InvalidField("columns")
    n_columns = count_encoded(len(names), levels, indicated)
    stored_sparse, knots = fields.value("sparse", bool), _unpack_ranks(fields, n_columns)
    if stored_sparse and knots.counts.any():  # among mostly zeros nothing is ranked
        raise InvalidField("ranks")
    return Encoder(
        names=names,
        levels=levels,
        means=fields.cells("encoding.means", len(names)),
        low=fields.cells("encoding.low", len(names), missing=True),
        high=fields.cells("encoding.high", len(names), missing=True),
        indicated=indicated,
        scaling=scaling,
        stored_sparse=stored_sparse,
        counts=fields.mask("encoding.counts", n_columns),
        unit=at_least(SMALLEST, fields.cells("encoding.unit", n_columns)),
        centre=fields.floats("encoding.centre", n_columns),
        scale=fields.floats("encoding.scale", n_columns),
        ranks=knots if scaling.ranked else Ranks.none(n_columns),
        distribution=knots,
    )


def _pack_ranks(ranks: Ranks) -> Packed:
    arrays = {"encoding.knots": ranks.at, "encoding.ranks": ranks.rank, "encoding.knot_counts": ranks.counts}
    return Packed({}, arrays)


def _unpack_ranks(fields: Fields, n_columns: int) -> Ranks:
    counts = fields.array("encoding.knot_counts", "I64", n_columns)
    at, rank = fields.cells("encoding.knots", None), fields.floats("encoding.ranks", None)
    if (counts < 0).any() or (counts > len(at)).any() or counts.sum() != len(at) or len(at) != len(rank):
        raise InvalidField("knots")
    starts = np.cumsum(counts)[:-1]
    rising = np.diff(at) > 0
    rising[starts[(starts > 0) & (starts < len(at))] - 1] = True  # the next column begins
    if not rising.all():
        raise InvalidField("knots")
    return Ranks(at, rank, counts)
