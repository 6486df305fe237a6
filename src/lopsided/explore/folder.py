"""One folder as the page sees it, kept up to date by a thread."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError, StoreError
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.explore.curves import Reader
from lopsided.explore.runs import ListedRun, of_manifest, of_others
from lopsided.store.mirror import Mirror
from lopsided.store.parts import Store
from lopsided.store.status import folder_status
from lopsided.study.manifest import called, recorded, titles
from lopsided.study.others import members, members_of
from lopsided.study.own_code import code_versions, digests_of, versions_text

LOOK_SECONDS = 2.0
"""Pause between two looks at the folder."""


class Folder:
    """Rows, runs and what is going on. The pages only read what the thread has found."""

    def __init__(self, root: Path):
        self.root = root
        self.store = Store(root)
        self.mirror = Mirror(self.store)
        self.reader = Reader(self.mirror)
        self.status: dict[str, Any] = {}
        """What `lopsided.store.status.folder_status` said; empty before the first look."""
        self.trouble = ""
        """Why the last look failed, if it did."""
        self._runs: dict[str, ListedRun] = {}
        self._manifests: Any = None
        self._mixed: dict[str, tuple[str, Any]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Read the manifests now and the rows in a thread."""
        self._read_manifests()
        self._thread.start()

    def close(self) -> None:
        """Stop looking and remove the copy."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.mirror.close()

    def mixed(self, run: ListedRun) -> str:
        """What to say if the rows of a run come from several versions of the code; empty where they come from one."""
        key = run.label, self.mirror.version
        if self._mixed.get(run.label, ("", None))[1] != key:
            self._mixed[run.label] = self._say_mixed(run), key
        return self._mixed[run.label][0]

    def _say_mixed(self, run: ListedRun) -> str:
        now = self.store.as_of_now()
        try:
            versions = code_versions([Spec.parse(dict(arm.spec)) for arm in run.arms], now)
        except InputError:  # somebody's own part, which this process does not know: two arms cannot be compared
            made = digests_of({arm.digest for arm in run.arms}, now)
            versions = max(map(len, made.values()), default=1)
        return versions_text(versions)

    @property
    def titles(self) -> dict[str, str]:
        """What people call the runs of `status`, by name."""
        return called((row["run"] for row in self.status["runs"]), self._manifests[1])[0] if self._manifests else {}

    @property
    def runs(self) -> dict[str, ListedRun]:
        """By label, newest first."""
        return self._runs

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                whole = self.mirror.refresh()
                self._read_manifests()
                if whole:
                    now = self.store.as_of_now()
                    wanted = members_of(now, self._manifests[1])
                    wanted |= members(now, wanted)
                    self.status = folder_status(now, wanted)
                self.trouble = ""
            except (OSError, StoreError) as error:
                whole, self.trouble = True, str(error)
            except Exception as error:  # the page goes on with what it has, and says why it is old
                whole, said = True, f"{type(error).__name__}: {error}"
                if said != self.trouble:
                    tell(f"explore: {said}")
                self.trouble = said
            if whole:
                self._stop.wait(LOOK_SECONDS)

    def _read_manifests(self) -> None:
        stamps = sorted((file.name, file.stat().st_mtime_ns) for file in (self.root / "runs").glob("[!.]*.json"))
        key = stamps, self.mirror.version
        if self._manifests is not None and self._manifests[0] == key:
            return
        if self._manifests is None or self._manifests[0][0] != stamps:
            manifests = recorded(self.store)
        else:
            manifests = self._manifests[1]
        names = titles(manifests)
        found = [of_manifest(each)._replace(title=names[each.label]) for each in reversed(manifests)]
        taken = {member for each in members_of(self.store, manifests).values() for member in each}
        there = {(spec, seed) for spec, seed, _ in self.mirror.members()}
        rest = of_others(self.store.index.specs, found, there - taken)
        self._runs = {run.label: run for run in [*found, *([rest] if rest else [])]}
        self._manifests = key, manifests
