"""The structure of the package in figures, for one or more source trees side by side.

    python -m benchmarks.structure --tree ../old=/path/to/old/python --tree .

A tree is a checkout of the project. The interpreter after "=" runs `amiss find` with the source of that tree; its
environment must have the dependencies. By default that is the present interpreter. The script prints a Markdown
table with one column per tree. With ``--details`` it also names every underscore read and every module it counted.

How things are counted:

- The lines of a function are those of its body, without the docstring.
- An underscore read is ``thing._name`` in a file that does not define ``_name`` itself: the file has no function
  or class of that name, and no ``self._name``. Imports of ``_name`` from another module are counted separately.
- `amiss find` passes through a module if it calls a function of that module. Code that runs while a module is
  imported (class bodies, decorators, registries) does not count.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

PACKAGE = "amiss"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Size:
    """How large something is."""

    amount: int
    what: str

    def __str__(self) -> str:
        return f"{self.amount:,} ({self.what})"


@dataclass(frozen=True)
class Source:
    """One file of the package."""

    path: Path
    name: str

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def n_lines(self) -> int:
        return self.text.count("\n")

    @property
    def n_statements(self) -> int:
        """Statements that do something: neither imports nor docstrings."""
        passive = (ast.Import, ast.ImportFrom)
        statements = [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]
        return sum(not isinstance(node, passive) and not is_text(node) for node in statements)

    def functions(self) -> Iterator[Size]:
        """Lines of the body of each function, without its docstring."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                said = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
                first, last = node.body[1 if said else 0], node.body[-1]
                yield Size((last.end_lineno or 0) - first.lineno + 1, f"{self.name}: {node.name}")

    def classes(self) -> Iterator[Size]:
        """Methods of each class."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                methods = [member for member in node.body if isinstance(member, Function)]
                yield Size(len(methods), f"{self.name}: {node.name}")

    def underscore_reads(self) -> Iterator[str]:
        """Places that read an underscore attribute which this file does not define."""
        attributes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)]
        own = {node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        own |= {node.attr for node in attributes if is_name(node.value, "self")}
        for node in sorted(attributes, key=lambda each: (each.lineno, each.col_offset)):
            if is_private(node.attr) and node.attr not in own and not is_name(node.value, "self", "cls"):
                yield f"{self.name}:{node.lineno} {node.attr}"

    def underscore_imports(self) -> Iterator[str]:
        """Places that import an underscore name from a module of the package."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(PACKAGE)):
                yield from (
                    f"{self.name}:{node.lineno} {alias.name}" for alias in node.names if is_private(alias.name)
                )


def is_name(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@dataclass(frozen=True)
class Tree:
    """A checkout of the project, and an interpreter that can run it."""

    home: Path
    python: str

    @classmethod
    def named(cls, text: str) -> Tree:
        """``PATH`` or ``PATH=PYTHON``; the path may be the checkout, its ``src``, or the package itself."""
        path, _, python = text.partition("=")
        for home in (Path(path).resolve(), *Path(path).resolve().parents[:2]):
            if (home / "src" / PACKAGE / "__init__.py").exists():
                return cls(home, python or sys.executable)
        raise argparse.ArgumentTypeError(f"{path}: no src/{PACKAGE} there")

    @property
    def package(self) -> Path:
        return self.home / "src" / PACKAGE

    @cached_property
    def sources(self) -> list[Source]:
        paths = sorted(self.package.rglob("*.py"))
        return [Source(path, path.relative_to(self.package).as_posix()) for path in paths]

    @cached_property
    def underscore_reads(self) -> list[str]:
        return [place for source in self.sources for place in source.underscore_reads()]

    @cached_property
    def underscore_imports(self) -> list[str]:
        return [place for source in self.sources for place in source.underscore_imports()]

    @cached_property
    def contract(self) -> dict[str, Any]:
        """What import-linter is told, from ``pyproject.toml``."""
        with (self.home / "pyproject.toml").open("rb") as file:
            found: dict[str, Any] = tomllib.load(file)["tool"]["importlinter"]
            return found

    @property
    def n_layers(self) -> int:
        """Layers of the contract about the package as a whole, which is the longest."""
        return max(len(each.get("layers", [])) for each in self.contract["contracts"])

    @cached_property
    def find(self) -> dict[str, list[str]]:
        """Modules that `amiss find` imports, and those it passes through."""
        environment = os.environ | {"PYTHONPATH": str(self.home / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [self.python, "-P", str(Path(__file__).resolve()), "--watch-find"]
        done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
        found: dict[str, list[str]] = json.loads(done.stdout)
        if Path(found.pop("home")[0]) != self.package:
            sys.exit(f"{self.python} did not run the source in {self.package}")
        return found

    def figures(self) -> dict[str, object]:
        """Every line of the table."""
        sources = self.sources
        longest = max((Size(source.n_lines, source.name) for source in sources), key=lambda size: size.amount)
        functions = [size for source in sources for size in source.functions()]
        classes = [size for source in sources for size in source.classes()]
        left_out = bool(self.contract.get("exclude_type_checking_imports", False))
        return {
            "lines": f"{sum(source.n_lines for source in sources):,}",
            "statements, without imports and docstrings": f"{sum(source.n_statements for source in sources):,}",
            "files": len(sources),
            "files at the top": sum("/" not in source.name for source in sources),
            "longest file, lines": longest,
            "files above 400 lines": sum(source.n_lines > 400 for source in sources),
            "longest function, lines": max(functions, key=lambda size: size.amount),
            "functions above 50 lines": sum(size.amount > 50 for size in functions),
            "widest class, methods": max(classes, key=lambda size: size.amount),
            "classes above 15 methods": sum(size.amount > 15 for size in classes),
            "underscore reads across modules": len(self.underscore_reads),
            "underscore imports across modules": len(self.underscore_imports),
            "import layers": self.n_layers,
            "imports for type checking": "left out of the contract" if left_out else "in the contract",
            "modules that `amiss find` passes through": len(self.find["passed"]),
            "modules that `amiss find` imports": len(self.find["imported"]),
        }


class Watch:
    """A profile function that notes the modules whose functions are called."""

    def __init__(self, home: Path) -> None:
        self.home, self.seen, self.modules = str(home) + os.sep, set[CodeType](), set[str]()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in self.seen or not code.co_filename.startswith(self.home):
            return
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # bodies of modules and classes are not
        if is_function and not self._is_importing(frame):
            self.seen.add(code)
            self.modules.add(str(frame.f_globals["__name__"]))

    def _is_importing(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(self.home):
                return True
            frame = frame.f_back
        return False


def watch_find() -> None:
    """Run `amiss find` on a small table in this process, and print the modules of the package as JSON."""
    import amiss

    assert amiss.__file__ is not None
    home = Path(amiss.__file__).parent
    watch = Watch(home)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        write_small_table(path)
        sys.argv = [PACKAGE, "find", str(path), "--outputs", "y*", "-o", str(Path(folder) / "found.csv")]
        from amiss.cli import main as command

        threading.setprofile(watch)
        sys.setprofile(watch)
        try:
            with redirect_stdout(io.StringIO()):
                command()
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
    imported = [name for name in sys.modules if name.split(".")[0] == PACKAGE]
    print(json.dumps({"home": [str(home)], "passed": sorted(watch.modules), "imported": sorted(imported)}))


def write_small_table(path: Path, n_rows: int = 300) -> None:
    """Two numbers, a category and three outputs; some inputs are missing."""
    rng = np.random.default_rng(0)
    lines = ["a,b,c,y0,y1,y2"]
    for _ in range(n_rows):
        a, b = rng.normal(size=2)
        kind = "" if rng.random() < 0.05 else "uvw"[rng.integers(3)]
        outputs = [a > 0, b > 0, a + b > 0]
        lines.append(",".join([f"{a:.4f}", f"{b:.4f}", kind, *(str(int(value)) for value in outputs)]))
    path.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="the structure of the package in figures")
    parser.add_argument("--tree", type=Tree.named, action="append", metavar="CHECKOUT[=PYTHON]", default=[])
    parser.add_argument("--details", action="store_true", help="name what was counted")
    parser.add_argument("--watch-find", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.watch_find:
        watch_find()
        return
    trees: list[Tree] = arguments.tree or [Tree.named(".")]
    columns = [tree.figures() for tree in trees]
    print(f"| | {' | '.join(str(tree.home) for tree in trees)} |\n|{' --- |' * (1 + len(trees))}")
    for figure in columns[0]:
        print(f"| {figure} | {' | '.join(str(column[figure]) for column in columns)} |")
    for tree in trees if arguments.details else []:
        print(f"\n{tree.home}")
        print("underscore reads:", *(tree.underscore_reads or ["none"]), sep="\n  ")
        print("underscore imports:", *(tree.underscore_imports or ["none"]), sep="\n  ")
        print("amiss find passes through:", *tree.find["passed"], sep="\n  ")


if __name__ == "__main__":
    main()
