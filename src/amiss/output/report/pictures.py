"""Pictures beside rows: small arrays, or files, as data that a page carries in itself."""

from __future__ import annotations

import importlib.util
import io
import struct
import warnings
import zlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from amiss.errors import DataError

SIDE = 160  # pixels: larger pictures are made smaller
LARGEST_UNSHRUNK = 48 << 10  # bytes of a file that is taken as it is where Pillow is missing
LARGEST_FILE = 64 << 20
BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
}

BUDGET = 700_000  # bytes of all pictures of a page

Picture = str | Path | Any  # a file, or an array (height, width) or (height, width, 3)


def data_uri(picture: Picture) -> str | None:
    """The picture as a data URI, at most ``SIDE`` pixels high and wide; None if it cannot be shown."""
    if isinstance(picture, (str, Path)):
        return _of_file(Path(picture))
    array = np.asarray(picture)
    if not array.size or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))):
        return None
    return _uri("png", _png(_bytes_of(array if array.ndim == 2 else array[:, :, :3])))


def data_uris(pictures: Sequence[Picture]) -> list[str | None]:
    """Pictures in their order, until together they are too large for one page."""
    result: list[str | None] = []
    left = BUDGET
    for picture in pictures:
        uri = data_uri(picture) if left > 0 else None
        left -= len(uri or "")
        result.append(uri)
    return result


def why_unseen() -> str:
    """What pictures can be shown, for those that are not."""
    if importlib.util.find_spec("PIL") is None:
        return "without Pillow (pip install 'amiss[plot]') only PNG, JPEG and GIF files below 48 kB are shown"
    return "PNG, JPEG and GIF files are shown, as many as fit into 700 kB"


def check_pictures(pictures: Sequence[Picture], n_rows: int) -> None:
    """Refuse what cannot be pictures before any work is done."""
    if len(pictures) != n_rows:
        raise DataError(f"there are {len(pictures)} pictures for {n_rows} rows")
    if isinstance(pictures, np.ndarray) and not (
        pictures.ndim == 3 or (pictures.ndim == 4 and pictures.shape[3] in (3, 4))
    ):
        raise DataError(
            f"an array of pictures is rows x height x width, or with 3 colours; got shape {pictures.shape}"
        )


def _of_file(path: Path) -> str | None:
    """A file's picture made small by Pillow; without Pillow, only if it is small already."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return None
        content = path.read_bytes()
    except (OSError, ValueError):  # a name may hold a zero byte
        return None
    kind = next((kind for beginning, kind in BEGINNINGS.items() if content.startswith(beginning)), None)
    if kind is None:
        return None
    if importlib.util.find_spec("PIL") is not None:
        return _shrunk(content)
    return _uri(kind, content) if len(content) <= LARGEST_UNSHRUNK else None


def _shrunk(content: bytes) -> str | None:
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF"])
            image: Image.Image = ImageOps.exif_transpose(opened).convert("RGB")  # as it was held
            image.thumbnail((SIDE, SIDE))
            stream = io.BytesIO()
            image.save(stream, "JPEG", quality=80)
    except Exception:  # whatever a broken or hostile file makes a decoder say: it is not shown
        return None
    return _uri("jpeg", stream.getvalue())


def _bytes_of(array: Any) -> Any:
    """Grey or colour values from 0 to 255; other scales are stretched to that."""
    array = _thinned(array)
    if array.dtype == np.uint8:
        return array
    values = np.nan_to_num(np.asarray(array, dtype=float))
    low, high = min(0.0, values.min()), values.max()
    return np.round(255 * (values - low) / (high - low) if high > low else np.zeros_like(values)).astype(np.uint8)


def _thinned(array: Any) -> Any:
    step = max(1, -(-max(array.shape[:2]) // SIDE))
    return array[::step, ::step]


def _png(pixels: Any) -> bytes:
    """A PNG file of grey (height, width) or colour (height, width, 3) bytes."""
    height, width = pixels.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # each line begins with its filter: none
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def _uri(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{b64encode(content).decode()}"
