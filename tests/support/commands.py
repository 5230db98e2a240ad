"""The command in processes that begin with its imports done: most of the time of a small run is importing.

A server, which has imported the package and run nothing, is forked for each command. The child gets its own
arguments, folder, environment and standard files, and ends with the command's exit code. (What belongs to a
process from its very beginning, such as what ``--help`` imports, is tested with a process of its own.)
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NoReturn


class Server:
    """Runs commands one after the other, each in a fork of one process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._files = tempfile.TemporaryDirectory()
        self._n_runs = 0

    def run(
        self, arguments: list[str], folder: Path, environment: dict[str, str], stdin: bytes
    ) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error."""
        self._n_runs += 1  # files of its own, so that nothing an earlier command left behind can write to them
        paths = [Path(self._files.name, f"{self._n_runs}.{name}") for name in ("in", "out", "err")]
        paths[0].write_bytes(stdin)
        job = {"arguments": arguments, "folder": str(folder), "environment": environment}
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(job | {"files": [str(path) for path in paths]}), file=self._process.stdin, flush=True)
        code = self._process.stdout.readline()
        assert code, "the server that forks commands has ended"
        _, out, err = [path.read_bytes() for path in paths]
        for path in paths:
            path.unlink()
        return int(code), out, err

    def close(self) -> None:
        self._process.communicate()
        self._files.cleanup()


def serve() -> None:
    import amiss.cli
    import amiss.detector
    import amiss.output.summary  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(**json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(arguments: list[str], folder: str, environment: dict[str, str], files: list[str]) -> NoReturn:
    """In the child: be the command."""
    from amiss.cli import main

    for descriptor, path in enumerate(files):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags, 0o600), descriptor)
    sys.stdin, sys.stdout = _opened(0, "r"), _opened(1, "w")
    sys.stderr = _opened(2, "w", line_buffering=True)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["amiss", *arguments]
    code = 70  # it broke, and not by an exit
    try:
        main()
        code = 0
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    finally:
        # os._exit skips this, and joblib's workers would complain into the file of the next command.
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _opened(descriptor: int, mode: str, **options: bool) -> Any:
    stream = open(descriptor, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
    if options:
        stream.reconfigure(**options)
    return stream


if __name__ == "__main__":
    serve()
