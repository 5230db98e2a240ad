"""Where data comes from: a file, gzipped or not, or standard input."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from amiss.errors import DataError, quoted

LONGEST_LINE = 64 << 20  # bytes; a gzipped line can unpack to any length
CHUNK = 1 << 20
ALWAYS_ALLOWED = 256 << 20  # bytes that any file may unpack to
MOST_COMPRESSION = 300  # ratio of content to file for larger files
BOMB = "the file unpacks to hundreds of times its size and may be an attack; if you trust it, compress it less"
GZIP_MAGIC = b"\x1f\x8b"
LONE_RETURN = re.compile(rb"(?<=\r)(?!\n)(?!$)")  # the line ending of old Macintosh files
NOT_TEXT = {
    b"\xff\xfe": "the file is UTF-16; save it as UTF-8",
    b"\xfe\xff": "the file is UTF-16; save it as UTF-8",
    b"PK\x03\x04": "this is a zip or Excel file; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "this is an old Excel file; save the table as CSV",
    b"PAR1": "this is a Parquet file; name it .parquet, or pass --format parquet",
    b"\x89PNG": "this is a picture, not a table",
}


def is_decompression_bomb(size: int, packed: int) -> bool:
    """Whether a file is likely to be made to fill up memory: small, but huge when unpacked."""
    return size > max(ALWAYS_ALLOWED, MOST_COMPRESSION * packed)


@dataclass(frozen=True)
class Source:
    """One file to read, or standard input (``-``)."""

    path: str

    @property
    def name(self) -> str:
        return "standard input" if self.path == "-" else self.path

    @property
    def suffix(self) -> str:
        """The suffix that says the format, without ``.gz``."""
        path = Path(self.path.lower())
        return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix

    def beside(self, name: str) -> str:
        """The path of a file that this one names, relative to this one; empty if the name is."""
        return str(Path(self.path).parent / name) if name and self.path != "-" else name

    def refuse(self, problem: str, line: int | None = None, column: object = None) -> NoReturn:
        """Raise an error of one line: file, line, column, what is wrong and what to do."""
        place = self.name
        place += f", line {line}" if line is not None else ""
        place += f", column {quoted(column)}" if column is not None else ""
        # The exception that led here may quote a cell, so it is not chained.
        raise DataError(f"{place}: {problem}") from None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes, decompressed if they are gzipped."""
        with ExitStack() as opened:
            raw: Any = sys.stdin.buffer
            if self.path != "-":
                try:
                    raw = opened.enter_context(Path(self.path).open("rb"))
                except FileNotFoundError:
                    self.refuse("there is no such file")
                except IsADirectoryError:
                    self.refuse("this is a folder; give a file in it")
            try:
                if raw.peek(2)[:2] == GZIP_MAGIC:
                    raw = opened.enter_context(gzip.open(raw, "rb"))
                yield raw
            except OSError as error:
                if error.errno is None or error.filename is not None:
                    raise
                raise OSError(error.errno, error.strerror, self.name) from None

    @contextmanager
    def open_seekable(self) -> Iterator[IO[bytes]]:
        """The bytes, for who jumps about in them: a plain file itself, anything else unpacked in memory."""
        if self.path != "-" and Path(self.path).is_file() and Path(self.path).stat().st_size:
            with self.open() as stream:
                if not isinstance(stream, gzip.GzipFile):
                    yield stream
                    return
        yield io.BytesIO(self.bytes())

    def _refuse_binary(self, start: bytes) -> None:
        """Refuse files that are not text, as their first bytes show."""
        for magic, kind in NOT_TEXT.items():
            if start.startswith(magic):
                self.refuse(kind, line=1)

    def bytes(self) -> bytes:
        """The whole content, decompressed."""
        size = Path(self.path).stat().st_size if self.path != "-" and Path(self.path).is_file() else 0
        parts = list[bytes]()
        with self.open() as stream:
            try:
                while part := stream.read(CHUNK):
                    parts.append(part)
                    if size and is_decompression_bomb(CHUNK * len(parts), size):
                        self.refuse(BOMB)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.refuse("the gzip data is damaged or incomplete; copy the file again")
        content = b"".join(parts)
        if not content:
            self.refuse("the file is empty")
        return content

    def lines(self) -> Iterator[str]:
        """The decoded lines with their line endings; a line that is not UTF-8 is refused."""
        number = 0
        with self.open() as stream:
            try:
                while raw := stream.readline(LONGEST_LINE):
                    if len(raw) == LONGEST_LINE:
                        self.refuse(f"the line is longer than {LONGEST_LINE >> 20} MB", line=number + 1)
                    if number == 0:
                        raw = raw.removeprefix(b"\xef\xbb\xbf")
                        self._refuse_binary(raw)
                    for piece in LONE_RETURN.split(raw) if b"\r" in raw else (raw,):
                        number += 1
                        yield piece.decode("utf-8")
            except UnicodeDecodeError as error:
                self.refuse(
                    f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8 "
                    "(iconv -f latin1 -t utf8, if it is Latin-1)",
                    line=number,
                )
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.refuse("the gzip data is damaged or incomplete; copy the file again", line=number + 1)
        if number == 0:
            self.refuse("the file is empty")
