"""What both examples share: every arm at every rate on the seeds that choose, the best on the judged ones, verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

import lopsided as lop
from lopsided.report.words import claim_rows


class Study(NamedTuple):
    """`train(arm, rate, seed)` gives the curve of a metric at the points of `axis`."""

    train: Callable[[str, float, int], list[float]]
    arms: Sequence[str]
    """The first one is what the others are compared with."""
    rates: Sequence[float]
    choose: Sequence[int]
    judge: Sequence[int]
    axis: np.ndarray
    metric: str
    goal: float
    file: Path

    @property
    def falls(self) -> bool:
        """Whether less is better."""
        return "loss" in self.metric

    def done(self) -> list[dict]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def curves(self, arm: str, rate: float, seeds: Sequence[int]) -> np.ndarray:
        """(seeds, points)"""
        found = {r["seed"]: r["curve"] for r in self.done() if (r["arm"], r["rate"]) == (arm, rate)}
        return np.array([found[seed] for seed in seeds if seed in found])

    def best_rate(self, arm: str) -> float:
        """By the median of the last values, on the seeds that choose."""
        last = {rate: float(np.median(self.curves(arm, rate, self.choose)[:, -1])) for rate in self.rates}
        return min(last, key=last.__getitem__) if self.falls else max(last, key=last.__getitem__)

    def train_all(self, jobs: int) -> None:
        """What is missing; goes on where it stopped."""
        for stage in ("choose", "judge"):
            have = {(r["arm"], r["rate"], r["seed"]) for r in self.done()}
            if stage == "choose":
                asked = [(arm, rate, seed) for seed in self.choose for arm in self.arms for rate in self.rates]
            else:
                asked = [(arm, self.best_rate(arm), seed) for seed in self.judge for arm in self.arms]
            missing = [a for a in asked if a not in have]
            with ProcessPoolExecutor(jobs) as pool, self.file.open("a") as file:
                runs = [(a, pool.submit(self.train, *a)) for a in missing]
                for (arm, rate, seed), run in runs:
                    file.write(json.dumps({"arm": arm, "rate": rate, "seed": seed, "curve": run.result()}) + "\n")
                    file.flush()

    def report(self) -> str:
        """Tables of arms and verdicts, in Markdown."""
        curves, edges = {}, set()
        lines = [f"| arm | best rate | final {self.metric}, median [lowest, highest] |", "|---|---|---|"]
        for arm in self.arms:
            rate = self.best_rate(arm)
            values = self.curves(arm, rate, self.judge)
            curves[arm] = lop.Curves(arm, self.axis, values, "samples", self.judge)
            last = values[:, -1]
            edge = " (end of the grid)" if rate in (min(self.rates), max(self.rates)) else ""
            if edge:
                edges.add(arm)
            lines.append(f"| {arm} | {rate:g}{edge} | {np.median(last):.3f} [{last.min():.3f}, {last.max():.3f}] |")
        lines += ["", "| claim | measured, 95 % interval | verdict |", "|---|---|---|"]
        for arm in self.arms[1:]:
            compared = lop.compare(curves[self.arms[0]], curves[arm], metric=self.metric, held=True)
            better = compared.lower() if self.falls else compared.higher()
            for claim, effect, verdict, _ in claim_rows([better.claim, compared.faster(at=self.goal).claim]):
                # A better rate may lie beyond: the laboratory's own rule for sweeps.
                if verdict != "inconclusive" and edges & {self.arms[0], arm}:
                    verdict = "inconclusive: a best rate lies at the end of its grid"
                lines.append(f"| {claim} | {effect} | {verdict} |")
        return "\n".join(lines)


def main(study: Study, about: str, title: str) -> None:
    """`train` and `report`."""
    import argparse

    asked = argparse.ArgumentParser(description=title)
    asked.add_argument("do", choices=["train", "report"])
    asked.add_argument("--jobs", type=int, default=2)
    given = asked.parse_args()
    if given.do == "train":
        study.train_all(given.jobs)
    print(f"# {title}\n\n{about.strip()}\n\n{study.report()}")
