"""Formats that are not read: whose they are, and how a table in one becomes a file that is."""

from __future__ import annotations

PANDAS = "pandas.{reader}(…).to_csv('table.csv', index=False)"

FOREIGN: dict[str, tuple[str, str]] = {
    ".sav": ("SPSS", PANDAS.format(reader="read_spss")),
    ".zsav": ("SPSS", PANDAS.format(reader="read_spss")),
    ".sas7bdat": ("SAS", PANDAS.format(reader="read_sas")),
    ".xpt": ("SAS", PANDAS.format(reader="read_sas")),
    ".dta": ("Stata", PANDAS.format(reader="read_stata")),
    ".xlsx": ("Excel", "Save As, CSV UTF-8"),
    ".xlsm": ("Excel", "Save As, CSV UTF-8"),
    ".xls": ("Excel", "Save As, CSV UTF-8"),
    ".ods": ("LibreOffice", "Save As, Text CSV"),
    ".numbers": ("Numbers", "Export To, CSV"),
    ".rds": ("R", "write.csv(readRDS('table.rds'), 'table.csv', row.names = FALSE)"),
    ".rdata": ("R", "write.csv(table, 'table.csv', row.names = FALSE)"),
    ".rda": ("R", "write.csv(table, 'table.csv', row.names = FALSE)"),
    ".mat": ("MATLAB", "writetable(T, 'table.csv')"),
    ".json": ("JSON", PANDAS.format(reader="read_json")),
    ".jsonl": ("JSON", "pandas.read_json(…, lines=True).to_csv('table.csv', index=False)"),
    ".feather": ("Feather", PANDAS.format(reader="read_feather")),
    ".arrow": ("Feather", PANDAS.format(reader="read_feather")),
    ".orc": ("ORC", PANDAS.format(reader="read_orc")),
    ".h5": ("HDF5", PANDAS.format(reader="read_hdf")),
    ".hdf5": ("HDF5", PANDAS.format(reader="read_hdf")),
    ".pkl": ("pickle", PANDAS.format(reader="read_pickle")),
    ".pickle": ("pickle", PANDAS.format(reader="read_pickle")),
    ".html": ("HTML", "pandas.read_html(…)[0].to_csv('table.csv', index=False)"),
    ".sqlite": ("SQLite", "sqlite3 -header -csv FILE 'SELECT * FROM name' > table.csv"),
    ".db": ("SQLite", "sqlite3 -header -csv FILE 'SELECT * FROM name' > table.csv"),
    ".npy": ("NumPy", "numpy.savez('table.npz', X=…, Y=…), or give the matrix as --inputs"),
    ".zip": ("zip", "unzip it first"),
}


def conversion(suffix: str) -> str:
    """How to convert a file with this suffix, as the end of a message; empty if that is not known.

    >>> conversion(".dta")
    ". Stata files are not read. To convert one: pandas.read_stata(…).to_csv('table.csv', index=False)"
    """
    if suffix not in FOREIGN:
        return ""
    whose, how = FOREIGN[suffix]
    return f". {whose} files are not read. To convert one: {how}"
