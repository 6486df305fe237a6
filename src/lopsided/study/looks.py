"""Which look of `--until-decided` is in hand, for `lopsided status`: OUT/plans/<label>.look.

Nothing is decided from it, and reading it needs no JAX.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId

ENDING = ".look"


def tell(store: Store, label: str, said: str, specs: Sequence[str], seeds: Sequence[int]) -> None:
    """A look of the run `label` begins: what to call it, and its members."""
    text = json.dumps({"run": f"{label}, {said}", "specs": list(specs), "seeds": list(seeds)})
    replace_text(store.root / "plans" / f"{label}{ENDING}", text)


def end(store: Store, label: str) -> None:
    """The run has no further look."""
    (store.root / "plans" / f"{label}{ENDING}").unlink(missing_ok=True)


def in_hand(store: Store) -> dict[str, list[MemberId]]:
    """For each `--until-decided` run that is under way, by its name: the members that it trains for its next test."""
    found = {}
    for file in sorted((store.root / "plans").glob(f"*{ENDING}")):
        try:
            said = json.loads(file.read_text())
            found[str(said["run"])] = [(str(spec), int(seed)) for spec in said["specs"] for seed in said["seeds"]]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # it is only shown
    return found
