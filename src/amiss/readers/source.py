"""Where bytes come from: a path, a gzipped path or standard input; lines with their numbers."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from amiss.errors import DataError, quoted

LONGEST_LINE = 64 << 20  # bytes; a gzipped line may unpack to anything
CHUNK = 1 << 20
HARMLESS = 256 << 20  # bytes that anything may unpack to
MOST_PACKED = 300  # times smaller than its content a larger file may be
TRAP = "it unpacks to hundreds of times its size, which looks like a trap; pack it less tightly"
GZIP_MAGIC = b"\x1f\x8b"
LONE_RETURN = re.compile(rb"(?<=\r)(?!\n)(?!$)")  # the line end of old Macintosh files
OTHER_KINDS = {
    b"\xff\xfe": "the file is UTF-16; save it as UTF-8",
    b"\xfe\xff": "the file is UTF-16; save it as UTF-8",
    b"PK\x03\x04": "this is a zip or Excel file; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "this is an old Excel file; save the table as CSV",
    b"PAR1": "this is a Parquet file; name it .parquet, or say --format parquet",
    b"\x89PNG": "this is a picture, not a table",
}


def is_decompression_bomb(size: int, packed: int) -> bool:
    """Whether a file is likely to be made to fill the memory."""
    return size > max(HARMLESS, MOST_PACKED * packed)


@dataclass(frozen=True)
class Source:
    """One file to read, or standard input (``-``)."""

    path: str

    @property
    def name(self) -> str:
        return "standard input" if self.path == "-" else self.path

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, ``.gz`` looked through."""
        path = Path(self.path.lower())
        return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix

    def beside(self, name: str) -> str:
        """A file that is named in this one, as a path from where this one lies; nothing for no name."""
        return str(Path(self.path).parent / name) if name and self.path != "-" else name

    def refuse(self, problem: str, line: int | None = None, column: object = None) -> NoReturn:
        """One line: file, line, column, what is wrong and what to do."""
        place = self.name
        place += f", line {line}" if line is not None else ""
        place += f", column {quoted(column)}" if column is not None else ""
        # Whatever was being handled may quote a cell, so it is not chained to the error.
        raise DataError(f"{place}: {problem}") from None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes, unzipped if they are gzipped."""
        with ExitStack() as opened:
            raw: Any = sys.stdin.buffer
            if self.path != "-":
                try:
                    raw = opened.enter_context(Path(self.path).open("rb"))
                except FileNotFoundError:
                    self.refuse("there is no such file")
                except IsADirectoryError:
                    self.refuse("this is a folder; name a file in it")
            try:
                if raw.peek(2)[:2] == GZIP_MAGIC:
                    raw = opened.enter_context(gzip.open(raw, "rb"))
                yield raw
            except OSError as error:
                if error.errno is None or error.filename is not None:
                    raise
                raise OSError(error.errno, error.strerror, self.name) from None

    def _refuse_other_kinds(self, start: bytes) -> None:
        """Files that are no text at all, told by their first bytes."""
        for magic, kind in OTHER_KINDS.items():
            if start.startswith(magic):
                self.refuse(kind, line=1)

    def bytes(self) -> bytes:
        size = Path(self.path).stat().st_size if self.path != "-" and Path(self.path).is_file() else 0
        parts = list[bytes]()
        with self.open() as stream:
            try:
                while part := stream.read(CHUNK):
                    parts.append(part)
                    if size and is_decompression_bomb(CHUNK * len(parts), size):
                        self.refuse(TRAP)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.refuse("the gzip data is damaged or cut short; copy the file again")
        content = b"".join(parts)
        if not content:
            self.refuse("the file is empty")
        return content

    def lines(self) -> Iterator[str]:
        """Decoded lines, line ends kept; what is not UTF-8 is refused by line."""
        number = 0
        with self.open() as stream:
            try:
                while raw := stream.readline(LONGEST_LINE):
                    if len(raw) == LONGEST_LINE:
                        self.refuse(f"the line has more than {LONGEST_LINE >> 20} MB", line=number + 1)
                    if number == 0:
                        raw = raw.removeprefix(b"\xef\xbb\xbf")
                        self._refuse_other_kinds(raw)
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
                self.refuse("the gzip data is damaged or cut short; copy the file again", line=number + 1)
        if number == 0:
            self.refuse("the file is empty")
