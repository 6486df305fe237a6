"""Small runs that the page starts: `lopsided run` in a process of its own, on the folder that is shown."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.store.files import new_file, replace_text
from lopsided.store.paths import folder_in
from lopsided.study.targets import OF_A_SPEC

TAIL = 6
"""Lines of a run's output that the page shows."""
PATIENCE = 20.0
"""Seconds that a run has to commit when the page ends."""


@dataclass
class Try:
    """One run that the page started."""

    name: str
    label: str
    """Label of its run in the folder."""
    process: subprocess.Popen
    log: Path
    cancelled: bool = False

    @property
    def state(self) -> str:
        code = self.process.poll()
        if code is None:
            return "stopping" if self.cancelled else "running"
        return "cancelled" if self.cancelled and code else "finished" if code == 0 else f"failed (exit code {code})"

    @property
    def tail(self) -> str:
        """The last lines that it printed."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL:])
        except OSError:
            return ""


class Tries:
    """The runs that this page started."""

    def __init__(self, root: Path):
        self._root = root
        self.all: list[Try] = []

    def start(self, spec: dict[str, Any], seeds: int) -> Try:
        """Start a spec. Raises `InputError` for one that is not valid, or while the same one runs."""
        from lopsided.core.spec import Spec

        parsed = Spec.parse(spec)
        if not 1 <= seeds <= 10_000 or seeds != int(seeds):
            raise InputError(f"seeds = {seeds}: a whole number between 1 and 10000")
        name = f"try-{parsed.content_hash()[:8]}"
        if any(each.name == name and each.process.poll() is None for each in self.all):
            raise InputError(f"{name} is running already")
        folder = self._root / "tried"
        try:
            folder_in(self._root, "tried")
            file, log = folder / f"{name}.json", folder / f"{name}-{secrets.token_hex(8)}.log"
            replace_text(file, json.dumps(parsed.model_dump(mode="json"), indent=1))
            with new_file(log) as output:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "lopsided.cli", "run", str(file), "--seeds", str(seeds),
                     "--out", str(self._root)],
                    stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise InputError(f"{str(folder)!r}: cannot be written ({error.strerror})") from None
        found = Try(name, f"{OF_A_SPEC}{name}-{parsed.content_hash()[:8]}-laptop", process, log)
        self.all = [each for each in self.all if each.name != name] + [found]
        return found

    def cancel(self, name: str) -> None:
        """Ask a run to stop: it commits what it has."""
        for each in self.all:
            if each.name == name and each.process.poll() is None:
                each.cancelled = True
                each.process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """Stop all of them; each commits what it has."""
        for each in self.all:
            self.cancel(each.name)
        for each in self.all:
            try:
                each.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                each.process.kill()
