"""The common form of all laws over ranks, so that they can share one compiled program.

    log p_r(t)  =  -alpha(t) * log(bin_r) - log(size_r) + const,
    alpha(t)    =  start + (end - start) * clip((t - begin) / (finish - begin), 0, 1),    t the share of the run.

A power law has bin_r = r and size_r = 1; the binned one has bin_r = the number of r's bin; uniform has alpha = 0. From
any law a to any law b, with log p linear in alpha from 0 to 1: log(bin) = log a - log b, log(size) = -log a.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError


class Path(NamedTuple):
    """A law over ranks 1..R that may move during a run. Its numbers are floats, or the compiled program's."""

    start: Any
    end: Any
    begin: Any
    finish: Any
    log_bin: Any  # (R,)
    log_size: Any  # (R,)

    @property
    def constant(self) -> bool:
        """True if the law does not move (host values only)."""
        return bool(self.start == self.end)

    def exponent(self, progress: Any) -> Any:
        """alpha at the share `progress` of the run."""
        moved = (progress - self.begin) / (self.finish - self.begin)
        moved = min(max(moved, 0.0), 1.0) if isinstance(moved, float) else moved.clip(0.0, 1.0)
        return self.start + (self.end - self.start) * moved

    def logits(self, progress: Any) -> Any:
        """(R,) log p at the share `progress` of the run, up to a number."""
        return -self.exponent(progress) * self.log_bin - self.log_size

    def probabilities(self, progress: float = 0.0) -> np.ndarray:
        """(R,) p over ranks in float64 on the host."""
        logits = np.asarray(self.logits(float(progress)))
        p = np.exp(logits - logits.max())
        return p / p.sum()


def power(n: int, start: float, end: float | None = None, begin: float = 0.0, finish: float = 1.0) -> Path:
    """p_r proportional to r^-alpha(t)."""
    ranks = np.arange(1, n + 1, dtype=np.float64)
    return Path(start, start if end is None else end, begin, finish, np.log(ranks), np.zeros(n))


def binned(n: int, alpha: float, bins: int) -> Path:
    """Ranks cut into `bins` bins of equal size, the first ones with one skill more where that does not come out; bin b
    has a mass proportional to b^-alpha, the same for each skill inside."""
    if bins > n:
        raise InputError(f"bins = {bins}: at most the number of skills, {n}")
    parts = np.array_split(np.arange(n), bins)
    number = np.concatenate([np.full(len(part), b + 1.0) for b, part in enumerate(parts)])
    size = np.concatenate([np.full(len(part), float(len(part))) for part in parts])
    return Path(alpha, alpha, 0.0, 1.0, np.log(number), np.log(size))


def two_levels(n: int, heavy: float, mass: float, end: float, begin: float, finish: float) -> Path:
    """A share `heavy` of the ranks has the mass `mass`, the others the rest; p^e(t), e from 1 to `end`."""
    if n < 2:
        raise InputError("skills: two levels take at least two skills")
    first = heavy_ranks(n, heavy)
    p = np.full(n, (1 - mass) / (n - first))
    p[:first] = mass / first
    return Path(1.0, end, begin, finish, -np.log(p), np.zeros(n))


def heavy_ranks(n: int, heavy: float) -> int:
    """How many of `n` ranks are heavy: at least one, and not all."""
    return min(max(1, round(heavy * n)), n - 1)


def fixed(p: np.ndarray) -> Path:
    """A law that does not move; p (R,) above 0, up to a factor."""
    return Path(0.0, 0.0, 0.0, 1.0, np.zeros(len(p)), -np.log(np.asarray(p, np.float64)))


def between(a: Path, b: Path, begin: float, finish: float) -> Path:
    """From one law to another: p ∝ a^(1 - f) b^f. Raises `InputError` for laws that move themselves."""
    if not (a.constant and b.constant):
        raise InputError("blend: in a spec, from one law to another that both stand still")
    first, last = (np.log(law.probabilities()) for law in (a, b))
    return Path(0.0, 1.0, begin, finish, first - last, -first)


def product(paths: Sequence[Path]) -> Path:
    """Frequencies multiplied. Raises `InputError` for laws that move at different times."""
    moving = {(path.begin, path.finish) for path in paths if not path.constant}
    if len(moving) > 1:
        raise InputError("shape: a spec's laws that are multiplied move between the same shares of the run")
    begin, finish = next(iter(moving), (0.0, 1.0))
    first, last = (sum(path.logits(at) for path in paths) for at in (begin, finish))
    return Path(0.0, 1.0, begin, finish, first - last, -first) if moving else fixed(np.exp(first - np.max(first)))


def tempered(path: Path, temperature: float) -> Path:
    """p^(1/T)."""
    return path._replace(log_bin=path.log_bin / temperature, log_size=path.log_size / temperature)
