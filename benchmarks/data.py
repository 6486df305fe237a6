"""Indices per second of `lopsided.data`, one core, calls of 4,096, against PyTorch's samplers, in turn in one run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import lopsided.data as ld
from benchmarks.measure import paired

EXAMPLES = 10**6
CALL, CALLS = 4096, 256


def _rate(stream: ld.Stream) -> Callable[[], float]:
    position = [0]

    def measure() -> float:
        began = time.thread_time()
        for _ in range(CALLS):
            stream.at(np.arange(position[0], position[0] + CALL))
            position[0] += CALL
        return CALLS * CALL / (time.thread_time() - began)

    return measure


def rows() -> list[tuple[str, ...]]:
    import torch

    torch.set_num_threads(1)
    weights = torch.rand(EXAMPLES)
    sampler = torch.utils.data.WeightedRandomSampler(weights.tolist(), CALLS * CALL)

    def weighted() -> float:
        began = time.thread_time()
        count = sum(1 for _ in sampler)
        return count / (time.thread_time() - began)

    def multinomial() -> float:
        began = time.thread_time()
        for _ in range(8):
            torch.multinomial(weights, CALL, True)
        return 8 * CALL / (time.thread_time() - began)

    total = 10**10
    skills = {n: ld.Groups(np.arange(EXAMPLES) % n) for n in (1000, 100_000)}
    streams = {
        "uniform, 10^6 examples": (ld.Stream(EXAMPLES, ld.Uniform(), total), weighted, 10),
        "uniform, 2 10^9 examples": (ld.Stream(2 * 10**9, ld.Uniform(), total), weighted, 10),
        "power law, 1,000 skills": (ld.Stream(skills[1000], ld.PowerLaw(1.0), total), weighted, 5),
        "power law, 10^5 skills": (ld.Stream(skills[100_000], ld.PowerLaw(1.0), total), weighted, 5),
        "power law, 10^5 skills, drawn": (
            ld.Stream(skills[100_000], ld.PowerLaw(1.0), total, replacement=True),
            weighted,
            5,
        ),
        "annealed, 1,000 skills": (ld.Stream(skills[1000], ld.Anneal(1.5, 0), 10**7), multinomial, 5),
    }
    names = {weighted: "WeightedRandomSampler", multinomial: "torch.multinomial a call"}
    found = []
    for name, (stream, other, least) in streams.items():
        pair = paired(_rate(stream), other)
        ours, theirs = f"{pair.a / 1e6:.1f} M indices/s", f"{names[other]} {pair.b / 1e6:.1f} M/s"
        found.append((name, ours, theirs, pair.text(), f"{least} M/s"))
    return found
