"""Where data comes from: a file, gzipped or not, or standard input."""

from __future__ import annotations

import codecs
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
from amiss.wording import shortened

LONGEST_LINE = 64 << 20  # bytes; a gzipped line can unpack to any length
CHUNK = 1 << 20
ALWAYS_ALLOWED = 256 << 20  # bytes that any file may unpack to
MOST_COMPRESSION = 300  # ratio of content to file for larger files
BOMB = "the file unpacks to hundreds of times its size and may be an attack; if you trust it, compress it less"
GZIP_MAGIC = b"\x1f\x8b"
UTF_8 = ("utf-8", "utf_8", "utf8", "utf-8-sig", "utf_8_sig")
WIDE = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
LONE_RETURN = re.compile(rb"(?<=\r)(?!\n)(?!$)")  # the line ending of old Macintosh files
NOT_TEXT = {
    b"PK\x03\x04": "this is a zip or Excel file; name a workbook .xlsx, or pass --format excel",
    b"\xd0\xcf\x11\xe0": "this is an old Excel file; name it .xls, or pass --format excel",
    b"PAR1": "this is a Parquet file; name it .parquet, or pass --format parquet",
    b"ARROW1": "this is an Arrow file; name it .arrow, or pass --format arrow",
    b"SQLite format 3": "this is a SQLite database; name it .sqlite, or pass --format sqlite",
    b"\x89PNG": "this is a picture, not a table",
}


Raw = bytes  # as a type, where a method of that name hides it
PART, LONGEST_PART = "::", 40  # what stands between a file and a part of it, and how much of that a message says


def path_of(asked: str) -> str:
    """The path of a file that a user may have named with a part of it.

    >>> path_of("data.sqlite::patients")
    'data.sqlite'
    """
    return asked if Path(asked).exists() else asked.partition(PART)[0]


def _is_encoding(name: str) -> bool:
    try:
        return bool("a".encode(name))
    except (LookupError, UnicodeError, ValueError):
        return False


def wide_encoding(start: bytes, asked: str | None) -> str | None:
    """The encoding if a line feed is more than one byte in it, as the user or the first bytes say.

    >>> wide_encoding(b"\\xff\\xfea\\x00", None), wide_encoding(b"a", None), wide_encoding(b"a", "latin-1")
    ('utf-16', None, None)
    """
    if asked is not None:
        return asked if len("\n".encode(asked)) > 1 else None
    return next((encoding for mark, encoding in WIDE.items() if start.startswith(mark)), None)


def is_decompression_bomb(size: int, packed: int) -> bool:
    """Whether a file is likely to be made to fill up memory: small, but huge when unpacked."""
    return size > max(ALWAYS_ALLOWED, MOST_COMPRESSION * packed)


@dataclass(frozen=True)
class Source:
    """One file to read, or standard input (``-``).

    Parameters
    ----------
    path : where the file is
    encoding : of a text file; by default UTF-8, or what its first bytes say
    part : which sheet of a workbook, or which table of a database, or a query
    unit : how a message calls a line: "line" in a text file, "sheet row" in a workbook
    """

    path: str
    encoding: str | None = None
    part: str | None = None
    unit: str = "line"

    @classmethod
    def of(cls, asked: str, encoding: str | None = None, part: str | None = None) -> Source:
        """What a user calls a file: its path, followed by :: and a part of it if need be."""
        if encoding is not None and not _is_encoding(encoding):
            raise DataError(f"there is no encoding {quoted(encoding)}; use one such as latin-1, cp1252 or utf-16")
        path, separator, own = asked.partition(PART)
        if not separator or Path(asked).exists():
            return cls(asked, encoding, part)
        if part is not None:
            raise DataError(f"{path}: its part is named twice, behind {PART} and by an option; name it once")
        return cls(path, encoding, own.strip())

    @property
    def name(self) -> str:
        name = "standard input" if self.path == "-" else self.path
        return name if self.part is None else f"{name}{PART}{shortened(' '.join(self.part.split()), LONGEST_PART)}"

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
        place += f", {self.unit.removeprefix('sheet ')} {line}" if line is not None else ""
        place += f", column {quoted(column)}" if column is not None else ""
        # The exception that led here may quote a cell, so it is not chained.
        raise DataError(f"{place}: {problem}") from None

    @property
    def is_plain(self) -> bool:
        """Whether another library may open the file itself: it is no pipe, and not gzipped."""
        path = Path(self.path)
        if self.path == "-" or not path.is_file():
            return False
        with path.open("rb") as stream:
            return stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC

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
        with self.open() as stream:
            content = self._rest_of(stream)
        if not content:
            self.refuse("the file is empty")
        return content

    def _rest_of(self, stream: IO[Raw]) -> Raw:
        """What is left to read, unless it is far more than the file can honestly hold."""
        size = Path(self.path).stat().st_size if self.path != "-" and Path(self.path).is_file() else 0
        parts = list[Raw]()
        try:
            while part := stream.read(CHUNK):
                parts.append(part)
                if size and is_decompression_bomb(CHUNK * len(parts), size):
                    self.refuse(BOMB)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            self.refuse("the gzip data is damaged or incomplete; copy the file again")
        return b"".join(parts)

    def lines(self) -> Iterator[str]:
        """The decoded lines with their line endings; a line that is not in the encoding is refused."""
        empty = True
        for line in self._decoded_lines():
            empty = False
            yield line
        if empty:
            self.refuse("the file is empty")

    def _decoded_lines(self) -> Iterator[str]:
        encoding, number = self.encoding or "utf-8", 0
        with self.open() as stream:
            try:
                while raw := stream.readline(LONGEST_LINE):
                    if number == 0:
                        wide = wide_encoding(raw, self.encoding)
                        if wide is not None:
                            yield from self._wide_lines(raw, stream, wide)
                            return
                        raw = raw.removeprefix(codecs.BOM_UTF8) if encoding.lower() in UTF_8 else raw
                        self._refuse_binary(raw)
                    if len(raw) == LONGEST_LINE:
                        self.refuse(f"the line is longer than {LONGEST_LINE >> 20} MB", line=number + 1)
                    for piece in LONE_RETURN.split(raw) if b"\r" in raw else (raw,):
                        number += 1
                        yield piece.decode(encoding)
            except UnicodeDecodeError as error:
                self._refuse_bytes(encoding, error.start, number)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.refuse("the gzip data is damaged or incomplete; copy the file again", line=number + 1)

    def _wide_lines(self, start: Raw, stream: IO[Raw], encoding: str) -> Iterator[str]:
        content = start + self._rest_of(stream)
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError as error:
            before = content[: error.start].decode(encoding, errors="replace")
            self._refuse_bytes(encoding, error.start, before.count("\n") + 1)
        for number, line in enumerate(io.StringIO(text.removeprefix("\ufeff"), newline=""), start=1):
            if len(line) >= LONGEST_LINE:
                self.refuse(f"the line is longer than {LONGEST_LINE >> 20} MB", line=number)
            yield line

    def _refuse_bytes(self, encoding: str, place: int, line: int) -> NoReturn:
        if encoding.lower() not in UTF_8:
            self.refuse(f"there are bytes that are not {encoding}; name another --encoding", line=line)
        self.refuse(
            f"byte {place + 1} of the line is not UTF-8; save the file as UTF-8, or say what it is "
            "(--encoding latin-1, or cp1252 for files from Windows)",
            line=line,
        )
