"""What runs in a process of a Ray cluster."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
import threading
import time
import traceback
from pathlib import Path

from lopsided.core.engine import Member
from lopsided.core.errors import Stopped
from lopsided.core.execution import Execution
from lopsided.core.json_text import parsed
from lopsided.core.spec import Spec
from lopsided.executors.orders import NAME, as_worker
from lopsided.store.parts import Store
from lopsided.store.transfer import packed
from lopsided.study.targets import find
from lopsided.work.rows import member_id
from lopsided.work.worker import run_members

IDLE_SECONDS = 300.0
"""Patience of an actor: it keeps what it compiled, and between the jobs of one program there may be minutes."""


class Actor:
    """A worker; or, where the folder is not seen, somebody who trains jobs and sends the parts back."""

    def __init__(self, name: str):
        os.environ[NAME] = name
        self._folder: str | None = None
        self._busy, self._last = False, time.monotonic()
        threading.Thread(target=self._end_when_idle, daemon=True).start()

    def _end_when_idle(self) -> None:
        """An actor whose head went away for good must not keep its cores."""
        while self._busy or time.monotonic() - self._last < IDLE_SECONDS:
            time.sleep(1.0)
        self.close()
        os._exit(0)

    def close(self) -> None:
        """Remove what was trained here; the head has it."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def work(self, root: str, idle_seconds: float) -> None:
        """Carry out the folder's orders until there are none, then end."""
        self._busy = True
        try:
            as_worker(Store(root), threading.Event(), idle_seconds)
        except Stopped:
            pass
        except Exception:  # the actor has to end, or it would count as a worker for ever
            traceback.print_exc()
        importlib.import_module("ray").actor.exit_actor()

    def job(self, target: str, members: list[tuple[str, int]], execution: str) -> bytes:
        """Train members (a spec's JSON, a seed) into a folder of this machine; their parts, packed."""
        self._busy = True
        try:
            return self._trained(target, members, execution)
        finally:
            self._busy, self._last = False, time.monotonic()

    def _trained(self, target: str, members: list[tuple[str, int]], execution: str) -> bytes:
        find(target)  # registers what a recipe file defines
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="lopsided-")
        store = Store(Path(self._folder))
        specs = {text: Spec.parse(parsed(text)) for text, _ in members}
        wanted = [Member(specs[text], seed) for text, seed in members]
        run_members(wanted, store, Execution.model_validate_json(execution))
        return packed(store, set(map(member_id, wanted)))
