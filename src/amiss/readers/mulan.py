"""Mulan's XML files, which name the attributes of an ARFF file that are labels."""

from __future__ import annotations

from xml.etree.ElementTree import ParseError

from amiss.readers.source import Source


def label_names(source: Source) -> list[str]:
    """The names of all labels, including nested ones, in the order of the file."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    content = source.bytes()
    try:
        root = fromstring(content, forbid_dtd=True)
    except ParseError as error:
        line, column = error.position
        source.refuse(f"this is not well-formed XML (character {column + 1})", line=line)
    except DefusedXmlException:
        line = content[: max(content.upper().find(b"<!DOCTYPE"), 0)].count(b"\n") + 1
        source.refuse("the XML has a DTD, which is refused for safety; remove it", line=line)
    except (LookupError, ValueError):
        source.refuse("the encoding of the XML is not supported; save it as UTF-8", line=1)
    labels = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in labels]
    found = [name for name in names if name is not None]
    if not found or len(found) < len(names):
        source.refuse('there must be labels, each written as <label name="…">')
    return found
