"""Random tables of runs and of examples, harmed, and the commands that read them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

CELLS = [
    "nan", "NaN", "inf", "-inf", "1e400", "-1", "0", "", " ", "null", "None", "true", "a", "ü", "²", "[/x]", "\x00",
    "=1+1", "1,5", '"', "a" * 3000, "1e-320", "9" * 40, "2026-11-28",
]  # fmt: skip
NAMES = ["arm", "seed", "step", "loss", "text", "skill", "nothing", "", "[/x]", "ü", "a.b", "\x00", "-1"]
COMPARE = ["--metric", "--at", "--baseline", "--axis", "--arm-from", "--seed-from", "--run", "--step", "--task-from"]
SAMPLE = ["-n", "--set", "--law", "--rank-order", "--split", "--seed", "--tokens"]
LAWS = ["uniform", "power-law:1.0", "power-law:", "power-law:nan", "zipf", "power-law:-1", "uniform:3", ":"]


class Tables:
    """Writes a harmed file, and gives the command that reads it; `odd` gives any text, `mutated` harms JSON."""

    def __init__(self, chance: random.Random, folder: Path, odd: Callable[[], str], mutated: Callable[[Any], Any]):
        self.random, self.folder, self.odd, self.mutated = chance, folder, odd, mutated
        published = json.loads((Path(__file__).parents[2] / "docs/results.json").read_text())
        self.published = {**published, "claims": published["claims"][::60]}

    def compare(self) -> list[str]:
        """Logs of two arms, a few seeds each."""
        rows: list[dict[str, Any]] = [
            {"arm": arm, "seed": seed, "step": step, "loss": self.random.random() / step, "accuracy": step / 9}
            for arm in "ab"
            for seed in range(self.random.randrange(1, 7))
            for step in range(1, self.random.randrange(2, 9))
        ]
        files = [self._written("log", rows) for _ in range(self.random.choice([1, 1, 2]))]
        more = [["--rank"], ["--target"], ["--json"], [], [], *([o, self._value(o)] for o in COMPARE)]
        return ["compare", *files, *self.random.choice([[], ["--metric", "loss"]]), *self._some(more)]

    def skills(self) -> list[str]:
        """A table of texts."""
        words = ["parity", "sum", "group", "law", "seed", "arm", "step", "loss"]
        rows: list[dict[str, Any]] = [
            {"text": " ".join(self.random.choices(words, k=8)), "skill": self.random.choice("abc"), "n": i}
            for i in range(self.random.choice([0, 1, 2, 30]))
        ]
        by = self.random.choice([["--text", "text"], ["--by", "skill"], ["--by", "skill", "n"], ["--text", self.odd()]])
        more = [[], ["-k", self.odd()], ["-k", "3"], ["--seed", self.odd()], ["--json"], ["--embeddings", "n"]]
        return ["skills", self._written("table", rows), *by, *self._some(more)]

    def advise(self) -> list[str]:
        """A table whose training function fails."""
        rows: list[dict[str, Any]] = [
            {"skill": self.random.choice("abcd"), "text": "a"} for _ in range(self.random.choice([0, 1, 20]))
        ]
        loop = self.folder / "loop.py"
        loop.write_text(
            self.random.choice(["", "def train(stream, seed): 1 / 0", "train = 3", "1 +", "import nothing"])
        )
        more = [[], ["--samples", self.odd()], ["--skill", self._name()], ["--budget", self.odd()], ["--json"]]
        return ["advise", self._written("table", rows), "--train", str(loop), "--skill", "skill", *self._some(more)]

    def others(self) -> list[str]:
        """Commands on recipes, tasks and claims."""
        name = self.random.choice(["adam", "state-tracking", "arithmetic", "nothing", "../x", "", "[/x]", "ü.py"])
        claims = self.folder / "claims.json"
        harmed = json.dumps(self.mutated(json.loads(json.dumps(self.published))))
        few = ["", "[]", "{}", "null", '{"claims": [{}], "runs": {}}', '{"claims": 3}', "[" * 9999]
        claims.write_text(self.random.choice([*few, *[harmed] * 8]), encoding="utf-8", errors="replace")
        sample = [[], *([option, self._value(option)] for option in SAMPLE)]
        return self.random.choice([
            ["diff", name, *self._some([[], ["--scale", self.odd()]])],
            ["sample", name, *self._some(sample)],
            ["new", "recipe", self.odd(), "--from", name],
            ["paper", *self._some([[name]]), "--claims", str(claims), "-o", str(self.folder / "paper.html")],
            ["export", self.random.choice(["logbook", "crate", "x"]), f"{self.folder}/out", "--claims", str(claims)],
        ])  # fmt: skip

    def _some(self, options: list[list[str]]) -> list[str]:
        return [text for _ in range(self.random.randrange(3)) for text in self.random.choice(options)]

    def _name(self) -> str:
        return self.random.choice(NAMES)

    def _value(self, option: str) -> str:
        if option == "--law":
            return self.random.choice(LAWS)
        return self.random.choice([self.odd(), self._name(), self.random.choice(CELLS)])

    def _written(self, name: str, rows: list[dict[str, Any]]) -> str:
        """The rows as JSON lines or CSV with up to three harms."""
        for _ in range(self.random.randrange(4)):
            if rows:
                row = self.random.choice(rows)
                row[self.random.choice(list(row))] = self.random.choice([*CELLS, None, float("nan"), [], {}, 10**400])
        if self.random.random() < 0.5:
            file, text = self.folder / f"{name}.jsonl", "\n".join(json.dumps(row) for row in rows)
        else:
            file = self.folder / f"{name}.csv"
            lines = [",".join(str(v) for v in row.values()) for row in rows]
            text = "\n".join([",".join(rows[0]) if rows else "", *lines])
        if self.random.random() < 0.15:
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.random.choice(["\x00", "\n\n", "{", '"', "\ud800", ";", "\ufeff"]) + text[at + 1 :]
        file.write_bytes(text.encode("utf-8", "replace"))
        return str(file)
