"""What the tests of all readers share."""

from __future__ import annotations

import pytest

import amiss
from amiss import DataError


@pytest.fixture
def refused(tmp_path):
    """The text of the refusal to read what is written."""

    def refuse(content, name, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(DataError) as caught:
            amiss.read(path, **options)
        return str(caught.value).removeprefix(f"{tmp_path}/")

    return refuse
