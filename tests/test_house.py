"""The rules of the house (CONTRIBUTING.md), checked: who may read what, and how long things may be."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "amiss"
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES, MOST_BODY_LINES, MOST_METHODS, MOST_AT_THE_TOP = 400, 50, 15, 12
# The detector is the public surface: each of its methods is a line or two that delegates.
WIDE = {"MCODE"}


def named(path):
    return str(path.relative_to(SOURCE))


def underscore_reads(tree):
    """Attributes with one leading underscore that are read of something else than self, and not defined here."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    own |= {
        node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    }
    for node in attributes:
        private = node.attr.startswith("_") and not node.attr.startswith("__")
        if private and node.attr not in own:
            yield f"line {node.lineno}: {node.attr}"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("amiss"):
            yield from (
                f"line {node.lineno}: {each.name}"
                for each in node.names
                if each.name.startswith("_") and not each.name.startswith("__")
            )


def test_no_module_reads_underscore_names_of_another():
    found = {named(path): list(underscore_reads(ast.parse(path.read_text()))) for path in FILES}
    assert {name: reads for name, reads in found.items() if reads} == {}


def test_an_underscore_name_of_another_module_would_be_noticed():
    assert list(underscore_reads(ast.parse("def f(detector):\n    return detector._rows"))) == ["line 2: _rows"]
    assert list(underscore_reads(ast.parse("from amiss.files import _umask"))) == ["line 1: _umask"]
    assert (
        list(underscore_reads(ast.parse("class A:\n    def f(self, other):\n        return self._x + other._x")))
        == []
    )


def too_long(text):
    """What of a file is longer than it may be."""
    if text.count("\n") > MOST_LINES:
        yield f"{text.count(chr(10))} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            if node.end_lineno - body[0].lineno >= MOST_BODY_LINES:
                yield node.name
        if isinstance(node, ast.ClassDef):
            n_methods = sum(isinstance(each, ast.FunctionDef) for each in node.body)
            if n_methods > MOST_METHODS and node.name not in WIDE:
                yield node.name


def test_files_functions_and_classes_are_short():
    found = {named(path): list(too_long(path.read_text())) for path in FILES}
    assert {name: what for name, what in found.items() if what} == {}


def test_what_is_too_long_would_be_noticed():
    long_function = "def f():\n" + "    x = 1\n" * 51
    wide_class = "class A:\n" + "".join(f"    def m{i}(self): ...\n" for i in range(16))
    assert list(too_long(long_function)) == ["f"] and list(too_long(wide_class)) == ["A"]
    assert list(too_long("x = 1\n" * 401)) == ["401 lines"]


def test_few_files_stand_at_the_top():
    assert len(list(SOURCE.glob("*.py"))) <= MOST_AT_THE_TOP


def test_every_folder_says_what_it_holds():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), named(path)
