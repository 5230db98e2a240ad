"""Write the files of this folder again: one small table as other programs write it. README.md says which.

    python tests/tables/make.py

Files that need a library which is not installed are left as they are (clinic.xls needs xlwt).
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import sqlite3
import zipfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("patient", "age", "ward", "seen", "tag_a", "tag_b")
FIRST = datetime.date(2024, 3, 1)
ROWS = [
    (f"p{i}", age, ward, FIRST + datetime.timedelta(days=9 * i), i % 2, int(i % 3 == 0))
    for i, (age, ward) in enumerate(
        [
            *((34.5, "eyes"), (None, "café"), (51.25, "eyes"), (7.0, None), (28.75, "café"), (63.0, "eyes")),
            *((45.5, "eyes"), (19.25, "café"), (80.0, "eyes"), (2.5, "café"), (33.0, "eyes"), (58.5, "café")),
        ]
    )
]
ODS = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="Tabelle1">{rows}<table:table-row table:number-rows-repeated="1048563">'
    '<table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)


def delimited(delimiter=",", decimal=".", missing="", day="%Y-%m-%d", ending="\n", quoting=csv.QUOTE_MINIMAL):
    """The table as a text; ``day`` is how dates are written."""

    def text(cell, name):
        if cell is None:  # SAS has a mark for missing numbers only
            return missing if name == "age" or missing != "." else ""
        if isinstance(cell, datetime.date):
            return cell.strftime(day)
        if isinstance(cell, float):
            return f"{cell:g}".replace(".", decimal)
        return cell

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerows([NAMES, *(map(text, row, NAMES) for row in ROWS)])
    return stream.getvalue()


def text_files():
    """Each name with its bytes."""
    excel, german = {"ending": "\r\n"}, {"delimiter": ";", "decimal": ",", "ending": "\r\n"}
    plain = delimited().splitlines()
    objects = [
        dict(zip(NAMES, [str(c) if isinstance(c, datetime.date) else c for c in row], strict=True)) for row in ROWS
    ]
    r_header = ",".join(f'"{name}"' for name in NAMES)
    return {
        "excel-en-us.csv": delimited(**excel, day="%m/%d/%Y").encode("cp1252"),
        "excel-de-de.csv": delimited(**german, day="%d.%m.%Y").encode("cp1252"),
        "excel-fr-fr-utf8.csv": delimited(**german, day="%d/%m/%Y").encode("utf-8-sig"),
        "excel-ja-jp.csv": delimited(**excel, day="%Y/%m/%d").replace("café", "眼科").encode("cp932"),
        "excel-unicode-text.txt": delimited(delimiter="\t", ending="\r\n").encode("utf-16"),
        "excel-sep-line.csv": ("sep=;\r\n" + delimited(delimiter=";", ending="\r\n")).encode(),
        "excel-title.csv": (
            "Clinic, March 2024;;;;;;;\r\n;;;;;;;\r\n"
            + "".join(f"{line};;\r\n" for line in delimited(**german).splitlines())
        ).encode(),
        "pandas-index.csv": "\n".join(
            [f",{plain[0]}", *(f"{i},{line}" for i, line in enumerate(plain[1:]))]
        ).encode(),
        "polars.csv": delimited().encode(),
        "r-write-table.csv": "\n".join(
            [r_header, *(f'"{i}",{line}' for i, line in enumerate(plain[1:], 1))]
        ).encode(),
        "r-write-csv.csv": "\n".join(
            [
                f'"",{r_header}',
                *(f'"{i}",{line}' for i, line in enumerate(delimited(missing="NA").splitlines()[1:], 1)),
            ]
        ).encode(),
        "spss.csv": delimited(missing=" ", ending="\r\n").encode("utf-8-sig"),
        "stata.csv": delimited(missing="").encode(),
        "sas.csv": delimited(missing=".").encode(),
        "lines.jsonl": "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects).encode(),
        "array.json": json.dumps(objects, indent=1).encode(),
    }


def workbook(path, title, headings):
    """A sheet as people make it: a title over merged cells, a blank line, formulas, errors, a sheet of remarks."""
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        book.set_properties({"created": datetime.datetime(2024, 3, 1)})
        book.add_worksheet("Info").write(0, 0, title)
        sheet, day = book.add_worksheet("Data"), book.add_format({"num_format": "dd.mm.yyyy"})
        bold = book.add_format({"bold": True})
        sheet.merge_range(0, 0, 0, 3, title, bold)
        for place, name in enumerate(headings):
            sheet.write(3, place, name, bold)
        for number, row in enumerate(ROWS, start=4):
            for place, cell in enumerate(row):
                if isinstance(cell, datetime.date):
                    sheet.write_datetime(number, place, datetime.datetime.combine(cell, datetime.time()), day)
                elif cell is None and place == 1:
                    sheet.write_formula(number, place, "=NA()", None, "#N/A")
                elif place == 5:
                    sheet.write_formula(number, place, f"={cell}+0", None, cell)
                elif cell is not None:
                    sheet.write(number, place, cell)
            sheet.write_blank(number, 9, None, bold)  # formatted, and empty
        sheet.write_blank(len(ROWS) + 9, 0, None, bold)


def binary_files():
    workbook(HERE / "excel-en-us.xlsx", "Clinic, March 2024", NAMES)
    workbook(HERE / "excel-de-de.xlsx", "Klinik, März 2024", NAMES)
    workbook(HERE / "excel-fr-fr.xlsx", "Clinique, mars 2024", NAMES)
    workbook(HERE / "excel-ja-jp.xlsx", "クリニック 2024年3月", NAMES)
    connected(HERE / "clinic.sqlite")
    if find_spec("duckdb"):
        import duckdb

        (HERE / "clinic.duckdb").unlink(missing_ok=True)
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{HERE / 'clinic.duckdb'}' AS clinic (BLOCK_SIZE 16384)")
            connection.execute(
                "CREATE TABLE clinic.patients "
                "(patient VARCHAR, age DOUBLE, ward VARCHAR, seen DATE, tag_a BOOLEAN, tag_b TINYINT)"
            )
            connection.executemany("INSERT INTO clinic.patients VALUES (?, ?, ?, ?, ?, ?)", ROWS)
            connection.execute("CHECKPOINT clinic")
    arrow_file(HERE / "polars.feather")
    open_document(HERE / "libreoffice.ods")
    if find_spec("xlwt"):
        old_workbook(HERE / "clinic.xls")


def connected(path):
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 1024")
    connection.execute(f"CREATE TABLE patients ({', '.join(NAMES)})")
    rows = [[str(cell) if isinstance(cell, datetime.date) else cell for cell in row] for row in ROWS]
    connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute("CREATE VIEW young AS SELECT * FROM patients WHERE age < 40")
    connection.commit()
    connection.close()


def arrow_file(path):
    import pyarrow as pa
    from pyarrow import feather

    table = pa.table([pa.array(column) for column in zip(*ROWS, strict=True)], names=NAMES)
    feather.write_feather(table, path, compression="lz4")


def open_document(path):
    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, datetime.date):
            return f'<table:table-cell office:value-type="date" office:date-value="{value}"/>'
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    rows = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in [NAMES, *ROWS])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": ODS.format(rows=rows),
            "META-INF/manifest.xml": '<?xml version="1.0"?><manifest/>',
        }.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 3, 1, 0, 0, 0)), content)


def old_workbook(path):
    import xlwt

    book = xlwt.Workbook()
    sheet, day = book.add_sheet("Data"), xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for number, row in enumerate([NAMES, *ROWS]):
        for place, cell in enumerate(row):
            if isinstance(cell, datetime.date):
                sheet.write(number, place, cell, day)
            elif cell is not None:
                sheet.write(number, place, cell)
    book.save(str(path))


if __name__ == "__main__":
    for file, content in text_files().items():
        (HERE / file).write_bytes(content)
    binary_files()
