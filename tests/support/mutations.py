"""Valid files, and bytes of them changed at random but by a seed: what a reader must survive."""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
import zipfile
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    import pyarrow as pa

CSV = (
    b"name,age,ward,in_c,tag_a,tag_b\n"
    b'a1,34,eyes,0.5,0,1\na2,,"surgery, ""minor""",1e3,1,0\na3,51.5,NA,-2,1,\na4,7,eyes,0,0,0\n'
)
ARFF = (
    b"% comment\n@relation 'r'\n@attribute age numeric\n@attribute 'the ward' {eyes,'minor surgery'}\n"
    b"@attribute tag_a {0,1}\n@attribute tag_b {0,1}\n@data\n34,eyes,0,1\n?,'minor surgery',1,0\n5.5,eyes,1,?\n"
)
SPARSE_ARFF = (
    b"@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute tag_a {0,1}\n@attribute tag_b {0,1}\n"
    b"@data\n{0 1, 2 1}\n{1 2.5}\n{0 -1, 3 1}, {1}\n{}\n"
)
XML = b'<?xml version="1.0"?>\n<labels>\n<label name="tag_a"></label>\n<label name="tag_b"/>\n</labels>\n'
SVMLIGHT = b"3 9 2\n0,1 1:0.5 4:1\n1 2:-1e3 # remark\n 0:1\n0 3:7 8:1\n"
TEXT_TOKENS = [
    *(b",", b";", b"\t", b"\n", b"\r", b"\r\n", b'"', b"'", b"\\", b"{", b"}", b"%", b"#", b":", b"|", b" "),
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", "é".encode(), "\u2028".encode(), "٣".encode()),
    *(b"NA", b"?", b"nan", b"inf", b"-inf", b"1e309", b"1e-320", b"-0", b"1_000", b"0x10", b"1,5"),
    *(b"99999999999999999999", b"2147483648", b"-1", b"true", b"yes", b"@data", b"@attribute", b"string", b"date"),
    *(b"<!DOCTYPE x [<!ENTITY y 'z'>]>", b"&y;", b"<label name='", b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"qid:1"),
]
NUMBER_TOKENS = [
    (value & (2 ** (8 * size) - 1)).to_bytes(size, "little")
    for size in (1, 2, 4, 8)
    for value in (0, 1, -1, 127, 255, 2**31 - 1, 2**31, 2**40, 2**62)
]
XML_TOKENS = [
    *(b"<c ", b"</c>", b"<v>", b"</v>", b"<row ", b"</row>", b' r="XFD1048576"', b' r="A1"', b' r="ZZZZ99999999"'),
    *(b' t="s"', b' t="e"', b' t="b"', b' t="d"', b' t="inlineStr"', b' s="1"', b"<f>1/0</f>", b"&amp;", b"&#0;"),
    *(b'<dimension ref="A1:XFD1048576"/>', b"<![CDATA[", b"<!--", b'xmlns:x="y"'),
]
JSON_TOKENS = [
    *(b"null", b"true", b"false", b"NaN", b"Infinity", b"[", b"]", b'"a"', b"\\ud800", b"\\u0000", b"{}", b"[[[["),
    *(b'"name":', b'"tag_a": 1', b"1e999", b"-", b"[" * 5000),
]
BINARY_TOKENS = [
    *NUMBER_TOKENS,
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PAR1",
    b"\x93NUMPY",
    b"|O",
    b"<f8",
    b"(9999999999,)",
]
LABELS = b"name,tag_a\nw,0\nx,1\ny,1\nz,0\n"
LONGEST = 1 << 16


def npz(compressed: bool, is_sparse: bool) -> bytes:
    X, Y = np.arange(12.0).reshape(4, 3), np.eye(4)[:, :2]
    arrays = {"Y": Y, "input_names": np.array(["a", "b", "c"]), "ids": np.array(list("wxyz"))}
    if is_sparse:
        matrix = sparse.csr_array(X)
        arrays |= {f"X_{field}": getattr(matrix, field) for field in ("data", "indices", "indptr", "shape")}
    else:
        arrays["X"] = X
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def npy(dtype: str) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(12).reshape(4, 3).astype(dtype))
    return stream.getvalue()


def parquet(compression: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "name": ["a1", "a2", "a3", "a4"],
            "age": [34.0, None, 51.5, 7.0],
            "ward": ["eyes", "surgery", None, "eyes"],
            "tag_a": [0, 1, 1, 0],
            "tag_b": [True, False, None, True],
        }
    )
    stream = io.BytesIO()
    pq.write_table(table, stream, compression=compression)
    return stream.getvalue()


def frame() -> pa.Table:
    """The table of :func:`parquet`."""
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(parquet("none")))


def feather(compression: str) -> bytes:
    from pyarrow import feather as arrow_files

    stream = io.BytesIO()
    arrow_files.write_feather(frame(), stream, compression=compression)
    return stream.getvalue()


def json_lines() -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in frame().to_pylist())


def sqlite() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA page_size = 512")
    connection.execute("CREATE TABLE people (name TEXT PRIMARY KEY, age REAL, ward TEXT, tag_a INT, tag_b INT)")
    rows = [tuple(row.values()) for row in frame().to_pylist()]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    content = connection.serialize()
    connection.close()
    return content


def workbook(shared: bool) -> bytes:
    """Texts beside the cells (``shared``), as Excel writes them, or in the cells."""
    import xlsxwriter

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"constant_memory": not shared}) as book:
        sheet = book.add_worksheet()
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for place, name in enumerate([*frame().column_names, "day"]):
            sheet.write(0, place, name)
        for number, row in enumerate(frame().to_pylist(), start=1):
            for place, cell in enumerate(row.values()):
                sheet.write(number, place, cell)
            sheet.write_number(number, 5, 45000 + number, day)
        sheet.write_formula(6, 1, "=NA()", None, "#N/A")
        sheet.write(6, 3, 1)
        sheet.write(6, 4, 0)
    return stream.getvalue()


def valid_files(kind: str) -> list[bytes]:
    """Small files of one format, each with most of what the format knows."""
    makers = {
        "csv": lambda: [CSV, CSV.replace(b",", b";").replace(b"5.5", b"5,5"), CSV.replace(b"\n", b"\r\n")],
        "tsv": lambda: [CSV.replace(b",", b"\t")],
        "csv.gz": lambda: [gzip.compress(CSV, mtime=0)],
        "arff": lambda: [ARFF, SPARSE_ARFF],
        "xml": lambda: [XML],
        "svm": lambda: [SVMLIGHT, SVMLIGHT.split(b"\n", 1)[1]],
        "npz": lambda: [npz(compressed, is_sparse) for compressed in (False, True) for is_sparse in (False, True)],
        "npy": lambda: [npy(dtype) for dtype in ("float16", "float32", "float64", "int32")],
        "inputs.npz": lambda: [npz(compressed, is_sparse=False) for compressed in (False, True)],
        "xlsx": lambda: [workbook(shared) for shared in (False, True)],
        "sqlite": lambda: [sqlite()],
        "feather": lambda: [feather(compression) for compression in ("uncompressed", "lz4", "zstd")],
        "jsonl": lambda: [json_lines()],
        "json": lambda: [b"[" + json_lines().strip().replace(b"\n", b",") + b"]"],
        "parquet": lambda: [parquet(compression) for compression in ("none", "snappy")],
    }
    return makers[kind]()


def mutated_member(original: bytes, rng: random.Random) -> bytes:
    """An archive of which one file is changed, so that no checksum gives it away."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(original)) as old, zipfile.ZipFile(stream, "w") as new:
        names = old.namelist()
        chosen = rng.choice([name for name in names if rng.random() < 0.3 or "sheet" in name] or names)
        for name in names:
            content = old.read(name)
            new.writestr(name, mutated(content, rng, [*TEXT_TOKENS, *XML_TOKENS]) if name == chosen else content)
    return stream.getvalue()


def mutated(original: bytes, rng: random.Random, tokens: list[bytes]) -> bytes:
    """One to four changes at random places."""
    data = bytearray(original)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        stop = min(len(data), place + int(rng.expovariate(1 / 8)) + 1)
        change = rng.randrange(8)
        if change == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif change == 1 and place < len(data):
            data[place] = rng.randrange(256)
        elif change == 2:
            data[place:place] = rng.choice(tokens)
        elif change == 3:
            token = rng.choice(tokens)
            data[place : place + len(token)] = token
        elif change == 4:
            del data[place:stop]
        elif change == 5:
            data[place:place] = data[place:stop] * rng.choice((1, 1, 1, 2, 50, 5000))
        elif change == 6:
            to = rng.randrange(len(data) + 1)
            data[to:to] = data[place:stop]
        elif rng.random() < 0.1:
            del data[place:]
        del data[LONGEST:]
    return bytes(data)
