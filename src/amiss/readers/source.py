"""Where bytes come from: a path, a gzipped path or standard input; lines with their numbers."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from amiss.errors import DataError, shown

GZIP_MAGIC = b"\x1f\x8b"


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

    def refuse(self, problem: str, line: int | None = None, column: object = None) -> NoReturn:
        """One line: file, line, column, what is wrong and what to do."""
        place = self.name
        place += f", line {line}" if line is not None else ""
        place += f", column {shown(column)}" if column is not None else ""
        raise DataError(f"{place}: {problem}")

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
            if raw.peek(2)[:2] == GZIP_MAGIC:
                raw = opened.enter_context(gzip.open(raw, "rb"))
            yield raw

    def bytes(self) -> bytes:
        with self.open() as stream:
            try:
                content = stream.read()
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.refuse("the gzip data is damaged or cut short; copy the file again")
        if not content:
            self.refuse("the file is empty")
        return content

    def lines(self) -> Iterator[str]:
        """Decoded lines, line ends kept; what is not UTF-8 is refused by line."""
        number = 0
        with self.open() as stream:
            try:
                for raw in stream:
                    number += 1
                    if number == 1:
                        raw = raw.removeprefix(b"\xef\xbb\xbf")
                        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                            self.refuse("the file is UTF-16; save it as UTF-8", line=1)
                    yield raw.decode("utf-8")
            except UnicodeDecodeError as error:
                self.refuse(
                    f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8",
                    line=number,
                )
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.refuse("the gzip data is damaged or cut short; copy the file again", line=number + 1)
        if number == 0:
            self.refuse("the file is empty")
