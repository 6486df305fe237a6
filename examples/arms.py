"""What the examples share: every arm at every rate on the seeds that choose, the best on the judged ones, verdicts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

import lopsided as lop
from lopsided.report.words import claim_rows
from lopsided.stats.verdict import Claim


class Study(NamedTuple):
    """`train(arm, rate, seed)` gives the curve of a metric at the points of `axis`, or a `curve` and others."""

    train: Callable[[str, float, int], list[float] | dict]
    arms: Sequence[str]
    """The first one is what the others are compared with."""
    rates: Sequence[float]
    choose: Sequence[int]
    judge: Sequence[int]
    axis: np.ndarray
    metric: str
    goal: float | None
    """Where the time to learn is compared; None: last values alone."""
    file: Path
    also: Sequence[str] = ()
    """Last values that the table of arms has beside the metric's."""
    pairs: Sequence[tuple[str, str]] = ()
    """Compared beside every arm with the first: (baseline, candidate)."""
    learned: float | None = None
    """Level of the metric: which share of the seeds comes so far, and when."""
    unit: str = "samples"
    """What the axis counts."""
    judged: str = "curve"
    """Under which name `train` gives the curve that is judged."""
    by_mean: bool = False
    """Whether the best rate is that of the best mean over the run: where last values are all the same, it is the one
    that learns first."""
    narrowed: bool = False
    """Whether every rate is tried on the first seed that chooses, and on the others that seed's best rate and its
    neighbours only."""

    @property
    def falls(self) -> bool:
        """Whether less is better."""
        return "loss" in self.metric

    def done(self) -> list[dict]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def values(self, arm: str, rate: float, seeds: Sequence[int], name: str = "") -> np.ndarray:
        """(seeds, points) of the curve that is judged, (seeds,) of another name."""
        name = name or self.judged
        found = {r["seed"]: r[name] for r in self.done() if (r["arm"], r["rate"]) == (arm, rate)}
        return np.array([found[seed] for seed in seeds if seed in found])

    def best_rate(self, arm: str) -> float:
        """By the median of the last values, on the seeds that choose; where there is one rate, that one."""
        if len(self.rates) == 1:
            return self.rates[0]
        rates = self._near(arm) if self.narrowed else self.rates
        return self._best(arm, rates, self.choose)

    def _best(self, arm: str, rates: Sequence[float], seeds: Sequence[int]) -> float:
        curves = {rate: self.values(arm, rate, seeds) for rate in rates}
        score = {rate: float(np.median(c.mean(1) if self.by_mean else c[:, -1])) for rate, c in curves.items()}
        return min(score, key=score.__getitem__) if self.falls else max(score, key=score.__getitem__)

    def _near(self, arm: str) -> Sequence[float]:
        """The best rate of the first seed that chooses, and its neighbours."""
        at = sorted(self.rates).index(self._best(arm, self.rates, self.choose[:1]))
        return sorted(self.rates)[max(0, at - 1) : at + 2]

    def train_all(self, jobs: int) -> None:
        """What is missing; goes on where it stopped."""
        first = self.choose[:1] if self.narrowed else self.choose
        rates = {arm: self.rates if len(self.rates) > 1 else () for arm in self.arms}
        stages = [
            lambda: [(arm, rate, seed) for seed in first for arm in self.arms for rate in rates[arm]],
            lambda: [(arm, rate, seed) for seed in self.choose[1:] for arm in self.arms for rate in self._near(arm)],
            lambda: [(arm, self.best_rate(arm), seed) for seed in self.judge for arm in self.arms],
        ]
        for asked in stages if self.narrowed else stages[::2]:  # the second one narrows
            have = {(r["arm"], r["rate"], r["seed"]) for r in self.done()}
            missing = [a for a in asked() if a not in have]
            with ProcessPoolExecutor(jobs) as pool, self.file.open("a") as file:
                runs = [(a, pool.submit(self.train, *a)) for a in missing]
                for (arm, rate, seed), run in runs:
                    got = run.result()
                    got = got if isinstance(got, dict) else {"curve": got}
                    file.write(json.dumps({"arm": arm, "rate": rate, "seed": seed} | got) + "\n")
                    file.flush()

    def report(self) -> str:
        """Tables of arms and verdicts, in Markdown."""
        also = "".join(f" {name} |" for name in self.also)
        lines = [f"| arm | best rate | final {self.metric}, median [lowest, highest] |{also}"]
        lines.append("|---|---|---|" + "---|" * len(self.also))
        if self.learned is not None:
            lines[0] += f" share of seeds at {self.learned:g} or better once [95 %] | {self.unit} until then, median |"
            lines[1] += "---|---|"
        for arm in self.arms:
            rate = self.best_rate(arm)
            values = self.values(arm, rate, self.judge)
            last = values[:, -1]
            edge = " (end of the grid)" if self._at_edge(arm) else ""
            medians = [float(np.median(self.values(arm, rate, self.judge, name))) for name in self.also]
            also = "".join(f" {value:.3f} |" if value < 10 else f" {value:,.0f} |" for value in medians)
            lines.append(
                f"| {arm} | {rate:g}{edge} | {np.median(last):.3f} [{last.min():.3f}, {last.max():.3f}] |{also}"
            )
            if self.learned is not None:
                lines[-1] += self._when(values)
        lines += ["", "| claim | measured, 95 % interval | verdict |", "|---|---|---|"]
        for each in self.claims():
            ((claim, effect, verdict, _),) = claim_rows([each])
            edge = ": a best rate lies at the end of its grid" if each.at_edge else ""
            lines.append(f"| {claim} | {effect} | {verdict}{edge} |")
        return "\n".join(lines)

    def claims(self) -> list[Claim]:
        """Every arm against the first one, then `pairs`; what a wider grid might change is open."""
        curves = {
            arm: lop.Curves(arm, self.axis, self.values(arm, self.best_rate(arm), self.judge), self.unit, self.judge)
            for arm in self.arms
        }
        found = []
        for of, arm in [(self.arms[0], arm) for arm in self.arms[1:]] + list(self.pairs):
            compared = lop.compare(curves[of], curves[arm], metric=self.metric, held=True)
            claims = [(compared.lower() if self.falls else compared.higher()).claim]
            if self.goal is not None:
                claims.append(compared.faster(at=self.goal).claim)
            edges = tuple(each for each in (of, arm) if self._at_edge(each))
            for claim in claims:
                # A better rate may lie beyond: the laboratory's own rule for sweeps.
                if edges and claim.verdict != "inconclusive":
                    claim = replace(claim, verdict="inconclusive", reason="edge", at_edge=edges)
                found.append(claim)
        return found

    def _at_edge(self, arm: str) -> bool:
        return len(self.rates) > 1 and self.best_rate(arm) in (min(self.rates), max(self.rates))

    def _when(self, values: np.ndarray) -> str:
        """Two cells: the share of seeds that once come to `learned`, with its interval, and the median of when."""
        there = values <= self.learned if self.falls else values >= self.learned
        once = there.any(axis=1)
        low, high = binomtest(int(once.sum()), len(once)).proportion_ci(method="exact")
        when = np.median(np.where(once, self.axis[there.argmax(axis=1)], np.inf))
        median = f"{when:,.0f}" if np.isfinite(when) else f"over {self.axis[-1]:,}"
        return f" {once.mean():.2f} [{low:.2f}, {high:.2f}] | {median} |"


def _said(claim: Claim) -> dict:
    """A claim as JSON, without the fields that say nothing."""
    named = ("recipe", "claim", "scale", "kind", "source", "paper")
    every = claim.as_json().items()
    # By type: an effect of 0.0 equals False, and is something.
    return {key: v for key, v in every if key in named or (isinstance(v, int | float) and v is not False) or v}


def main(study: Study | dict[str, Study], about: str, title: str) -> None:
    """`train` and `report`, of one study or of several by their headings."""
    import argparse

    asked = argparse.ArgumentParser(description=title)
    asked.add_argument("do", choices=["train", "report"])
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--claims", type=Path, help="write the claims to this file, too, as JSON")
    given = asked.parse_args()
    studies = study if isinstance(study, dict) else {"": study}
    page = Path(sys.argv[0]).stem.replace("_", "-")
    if given.claims:
        found = [
            _said(replace(each, recipe=page, claim=f"{heading}: {each.claim}" if heading else each.claim))
            for heading, study in studies.items()
            for each in study.claims()
        ]
        given.claims.write_text(json.dumps(found, indent=1) + "\n")
    print(f"# {title}\n\n{about.strip()}")
    for heading, each in studies.items():
        if given.do == "train":
            each.train_all(given.jobs)
        print(f"\n## {heading}\n" if heading else "")
        print(each.report())
