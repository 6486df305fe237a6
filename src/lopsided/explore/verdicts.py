"""Every recipe's claims, decided in a process of their own, so that the page answers meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.explore.folder import Folder
from lopsided.stats.verdict import Claim
from lopsided.study.catalog import catalog
from lopsided.study.manifest import LOOKS
from lopsided.study.processes import ANSWER_SECONDS, Lost, Others, processes

LOOK_SECONDS = 5.0
"""Time between verdicts that are made anew while a page is open: deciding all claims of a folder takes seconds."""


class Verdicts:
    """Claims by recipe: from the folder where it has a run, else `not run`."""

    def __init__(self, folder: Folder):
        self._folder = folder
        self.recipes: dict[str, ShownClaims] = {row["name"]: _not_run(row) for row in catalog()}
        self.waiting: list[str] = []
        """Recipes whose claims are being decided."""
        self.errors: dict[str, str] = {}
        self._decided: dict[str, Any] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Decide what the folder has runs of, and again whenever it has more."""
        self._thread.start()

    def close(self) -> None:
        """Stop, whatever is being decided."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.is_set():
            with processes(1) as others:  # leaving the block ends the other process
                self._watch_with(others)

    def _watch_with(self, others: Others) -> None:
        """Decide what is due, until the page is closed or the other process is lost."""
        while not self._stop.is_set():
            due = self._due()
            self.waiting = list(due)
            for name, key in due.items():
                waited = others.ask(decided, str(self._folder.root), name)
                while not waited.ready():
                    if self._stop.is_set():
                        return
                    try:
                        others.require_all()
                    except Lost as error:
                        return self._lost(name, key, error)
                    waited.wait(ANSWER_SECONDS)
                self._take(name, key, waited)
            self._stop.wait(LOOK_SECONDS)

    def _lost(self, name: str, key: Any, error: Lost) -> None:
        """The recipe is not tried again before it has more rows."""
        self.errors[name] = str(error)
        self._decided[name] = key

    def _take(self, name: str, key: Any, waited: Any) -> None:
        try:
            self.recipes[name] = self.recipes[name].decided(waited.get())
            self.errors.pop(name, None)
        except Exception as error:  # whatever a recipe's claim raises on this folder's rows; the others go on
            self.errors[name] = f"{type(error).__name__}: {error}"
        self._decided[name] = key
        self.waiting = [each for each in self.waiting if each != name]

    def _due(self) -> dict[str, Any]:
        """Recipes of which more members are complete than when they were decided last."""
        if not self._folder.status:
            return {}
        done: dict[str, list[tuple[str, int]]] = {}
        for row in self._folder.status["runs"]:
            run = self._folder.runs.get(row["run"].removesuffix(LOOKS))  # seeds that judge are a row of their own
            if run is not None and run.recipe in self.recipes and run.scale != "smoke":
                done.setdefault(run.recipe, []).append((row["run"], row["done"]))
        return {
            name: runs for name, runs in done.items() if any(n for _, n in runs) and self._decided.get(name) != runs
        }


class ShownClaims(NamedTuple):
    """One recipe's claims, as the page shows them."""

    recipe: str
    paper: str
    question: str
    claims: list[Claim]
    needed: list[int | None]
    run: str
    """Label of the run that they are decided from; empty where the folder has none that is complete."""

    def decided(self, found: tuple[list[dict[str, Any]], list[int | None], str]) -> ShownClaims:
        """With what the other process found."""
        claims, needed, run = found
        return self._replace(claims=[Claim.of_json(claim) for claim in claims], needed=needed, run=run)


def _not_run(row: Mapping[str, Any]) -> ShownClaims:
    claims = [
        Claim(recipe=row["name"], claim=claim, scale="laptop", kind="", source="paper", paper="")
        for claim in row["claims"]
    ]
    return ShownClaims(row["name"], row["paper"], row["question"], claims, [None] * len(claims), "")


def decided(root: str, recipe: str) -> tuple[list[dict[str, Any]], list[int | None], str]:
    """In the other process: claims as JSON, seeds that open ones need, the run's label."""
    from lopsided.store.parts import Store
    from lopsided.study.checking import claims_of
    from lopsided.study.manifest import recorded
    from lopsided.study.targets import find

    store = Store(Path(root)).as_of_now()
    found = claims_of(find(recipe), recorded(store), store)
    return [claim.as_json() for claim in found.claims], found.needed, found.run.label if found.run else ""
