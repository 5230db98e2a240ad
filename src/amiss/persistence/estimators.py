"""Classifiers of the user's, kept by skops: a safe format that builds only types which are trusted.

A file with classifiers is written only if the user asks for it, and read only with a list of trusted types. Types
of scikit-learn are trusted by skops; with an empty list nothing else is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amiss.encoding.as_given import AsGiven, Encoded, InputsView, Scaled
from amiss.encoding.encoder import Encoder
from amiss.errors import MissingDependencyError
from amiss.models.classifiers import Classifier, ClassifierModel, Constant, OutputModel, Shown
from amiss.persistence.fields import Arrays, Fields, InvalidField

KINDS = (Encoded, Scaled, AsGiven)
LIBRARIES = (None, "pandas", "polars")
NOT_ALLOWED = (
    "this model holds classifiers; if you trust where it comes from, load it with amiss.load(path, trusted=[]), "
    "or with the names of types beyond those of scikit-learn"
)


class NotTrusted(Exception):
    """A file holds objects that the user has not said to trust."""


@dataclass(frozen=True, eq=False)
class Revival:
    """What it takes to bring classifiers back: which types are ``trusted``, and what they are shown."""

    trusted: Sequence[str] | None
    encoder: Encoder
    metric: Encoder | None
    names: tuple[str, ...]

    def view(self, kind: int, library: int) -> InputsView:
        if KINDS[kind] is AsGiven:
            return AsGiven(self.encoder, LIBRARIES[library])
        if KINDS[kind] is Encoded:
            return Encoded()
        if self.metric is None:
            raise InvalidField("view")
        return Scaled(self.metric)


def pack_object(name: str, found: Any) -> Arrays:
    """Any object that skops knows, as bytes."""
    return {f"{name}.skops": np.frombuffer(_skops().dumps(found), dtype=np.uint8)}


def unpack_object(name: str, fields: Fields, trusted: Sequence[str] | None) -> Any:
    if trusted is None:
        raise NotTrusted(NOT_ALLOWED)
    skops, content = _skops(), fields.array(f"{name}.skops", "U8", None).tobytes()
    unknown = sorted(set(skops.get_untrusted_types(data=content)) - set(trusted))
    if unknown:
        raise NotTrusted(
            f"this model holds types that are not trusted: {', '.join(unknown)}; name them in trusted"
        )
    return skops.loads(content, trusted=list(trusted))


def untrusted_types(arrays: Arrays) -> list[str]:
    """The types in packed objects that skops does not trust by itself."""
    packed = [array.tobytes() for name, array in arrays.items() if name.endswith(".skops")]
    return sorted({each for content in packed for each in _skops().get_untrusted_types(data=content)})


def pack_classifiers(name: str, model: ClassifierModel) -> Arrays:
    fitted = [each.fitted if isinstance(each, Classifier) else _rate(each) for each in model.classifiers]
    shown = model.shown
    library = shown.view.library if isinstance(shown.view, AsGiven) else None
    kind = next(place for place, each in enumerate(KINDS) if isinstance(shown.view, each))
    return pack_object(name, fitted) | {
        f"{name}.visible": shown.visible,
        f"{name}.shown": np.array([kind, LIBRARIES.index(library), shown.takes_sparse], dtype=np.int64),
    }


def unpack_classifiers(name: str, fields: Fields, n_outputs: int, revival: Revival | None) -> ClassifierModel:
    if revival is None:
        raise InvalidField("classifiers")
    found = unpack_object(name, fields, revival.trusted)
    if type(found) is not list or len(found) != n_outputs:
        raise InvalidField("classifiers")
    classifiers: list[OutputModel] = [
        Constant(each) if isinstance(each, float) and 0 < each < 1 else Classifier(each) for each in found
    ]
    kind, library, takes_sparse = fields.array(f"{name}.shown", "I64", 3).tolist()
    if kind not in range(len(KINDS)) or library not in range(len(LIBRARIES)):
        raise InvalidField("view")
    visible = fields.mask(f"{name}.visible", n_outputs, n_outputs)
    shown = Shown(revival.view(kind, library), visible, revival.names, bool(takes_sparse))
    return ClassifierModel(classifiers, shown)


def _rate(model: OutputModel) -> float:
    assert isinstance(model, Constant)
    return float(model.rate)


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise MissingDependencyError(
            "a classifier of yours is kept by skops, which is not installed: pip install 'amiss[skops]'"
        ) from None
    return skops.io
