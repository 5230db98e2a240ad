"""Mulan's XML files, and the paper's datasets as a whole."""

from __future__ import annotations

import pytest
from support.files import read_text, written

import amiss
from amiss.errors import DataError

XML = '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{}</labels>'


def test_mulan_xml_names_the_outputs_in_any_order_and_nesting(tmp_path):
    xml = XML.format('<label name="y2"><label name="y1"></label></label>')
    path = written(tmp_path / "t.csv", "y1,a,y2\n0,5,1\n1,6,0\n")
    data = amiss.read(path, outputs=str(written(tmp_path / "t.xml", xml)))
    assert data.output_names == ("y1", "y2")
    assert amiss.read(path, outputs=tmp_path / "t.xml").output_names == ("y1", "y2")


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ('<!DOCTYPE labels [<!ENTITY a "b">]>\n<labels><label name="y"/></labels>', r"t\.xml, line 1: .*DTD"),
        ('<labels>\n<label name="y">\n', r"t\.xml, line 3: .*well-formed"),
        ("<labels></labels>", r"t\.xml: there must be labels"),
        ('<labels><label title="y"/></labels>', r"t\.xml: there must be labels"),
        ('<labels><label name="other"/></labels>', r"t\.csv: label 'other' of .*t\.xml is not among"),
        ("", r"t\.xml: the file is empty"),
        ('<?xml version="1.0" encoding="nonsense"?><labels/>', r"t\.xml"),
    ],
)
def test_bad_xml_is_refused(tmp_path, xml, message):
    written(tmp_path / "t.xml", xml)
    with pytest.raises(DataError, match=message):
        read_text(tmp_path, "a,y\n1,0\n", outputs=str(tmp_path / "t.xml"))


@pytest.mark.parametrize(
    ("name", "n_rows", "n_outputs"),
    [
        ("mediamill", 43907, 101), ("enron", 1702, 53), ("bibtex", 7395, 159), ("yahoo-business", 11214, 30),
        ("yahoo-arts", 7484, 26), ("yeast", 2417, 14), ("genbase", 662, 27), ("birds", 645, 19),
    ],
)  # fmt: skip
def test_the_papers_datasets_have_the_papers_shapes(paper_data, name, n_rows, n_outputs):
    files = sorted((paper_data / name).glob("*.arff*"))
    data = amiss.read(
        *files, outputs=paper_data / name / f"{name}.xml", id="protein" if name == "genbase" else None
    )
    assert (len(data), len(data.output_names)) == (n_rows, n_outputs)
    assert 0 < data.Y.values.mean() < 0.5
