"""How many clusters there are: as many as two halves of the data agree about, more than about a cloud without any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

SAMPLE = 4_000
"""Points that agreement is measured on."""
ROUNDS, MOST, FINE = 3, 256, 64
"""Pairs of halves; most clusters; up to how many each number of them is tried."""
FEWEST = 20
"""Points a cluster, on average: with fewer nobody can tell."""
STABLE, ABOVE_CHANCE = 0.6, 0.2
"""An agreement from which clusters are there; and by how much it has to exceed that of a Gaussian cloud, whose longest
axes alone can make it large."""
AS_GOOD, SHARP, WITHIN = 0.02, 0.05, 0.25
"""A number of clusters is chosen at a peak of the agreement that is as good as the best, or a sharp one (above both
neighbours) within a quarter of it: two halves always agree best about a few coarse clusters, where there are any."""


class Agreement(NamedTuple):
    """Adjusted Rand indices of clusterings of two halves, on all points: 1 is equal, 0 as by chance."""

    k: int
    of_data: float
    of_cloud: float
    """Agreement about points of one Gaussian cloud of the same mean and covariance, which has no clusters."""

    @property
    def there(self) -> bool:
        """Whether so many clusters are there."""
        return self.of_data >= STABLE and self.of_data - self.of_cloud >= ABOVE_CHANCE


class Tree:
    """All clusterings of points, from one cluster to one each: Ward's tree. (k-means splits large clusters before it
    finds small ones; with sizes of a power law it was at an adjusted Rand index of 0.7 where this is at 1.0.)"""

    def __init__(self, points: np.ndarray):
        self.points, self._links = points, linkage(points, "ward")

    def centres(self, k: int) -> np.ndarray:
        """(k, D) means of k clusters; fewer where points are equal."""
        cluster = fcluster(self._links, k, "maxclust") - 1
        found = np.zeros((int(cluster.max()) + 1, self.points.shape[1]), np.float32)
        np.add.at(found, cluster, self.points)
        return found / np.bincount(cluster)[:, None]


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """(N,) the nearest centre of each point."""
    return np.argmax(points @ centres.T - (centres**2).sum(1) / 2, axis=1)


def agreements(vectors: np.ndarray, seed: int) -> list[Agreement]:
    """By rising numbers of clusters: each up to 24, some above, and each around the one that is chosen."""
    random = np.random.default_rng(seed)
    points = vectors[random.permutation(len(vectors))[:SAMPLE]]
    most = min(MOST, len(points) // FEWEST)
    numbers = {*range(2, min(most, FINE) + 1), *np.geomspace(2, max(2, most), 40).round().astype(int).tolist()}
    halves = [_Halves(each, seed) for each in (points, _cloud(points, random))]
    found = {k: Agreement(k, *(each.agree(k) for each in halves)) for k in sorted(numbers)}
    for k in [k for around in _peaks([found[k] for k in sorted(found)]) for k in around]:
        found[k] = found.get(k) or Agreement(k, *(each.agree(k) for each in halves))
    return [found[k] for k in sorted(found)]


def _peaks(found: list[Agreement]) -> list[range]:
    """The numbers around each peak that is there, up to its neighbours."""
    ends = [found[0].k - 1, *(each.k for each in found), found[-1].k + 1]
    return [range(ends[i] + 1, ends[i + 2]) for i, each in enumerate(found) if each.there and _fall(found, i) >= 0]


def _fall(found: list[Agreement], i: int) -> float:
    """By how much the agreement at place i exceeds those at its neighbours."""
    beside = [found[j].of_data for j in (i - 1, i + 1) if 0 <= j < len(found)]
    return found[i].of_data - max(beside, default=0.0)


class _Halves:
    """Clusterings of random halves of points."""

    def __init__(self, points: np.ndarray, seed: int):
        orders = [np.random.default_rng((seed, r)).permutation(len(points)) for r in range(ROUNDS)]
        self._points = points
        self._trees = [[Tree(points[half]) for half in np.array_split(order, 2)] for order in orders]

    def agree(self, k: int) -> float:
        """How both halves' clusterings into k agree about all points: the mean over pairs of halves."""
        from sklearn.metrics import adjusted_rand_score

        pairs = ([nearest(self._points, tree.centres(k)) for tree in trees] for trees in self._trees)
        return float(np.mean([adjusted_rand_score(one, two) for one, two in pairs]))


def _cloud(points: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Unit vectors of one Gaussian of the points' mean and covariance, as many as points."""
    mean = points.mean(0)
    _, spread, axes = np.linalg.svd(points - mean, full_matrices=False)
    drawn = random.normal(size=(len(points), len(spread))) * (spread / np.sqrt(len(points)))
    found = mean + drawn @ axes
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def chosen(found: list[Agreement]) -> int:
    """The largest number of clusters about which halves of the data agree (`Agreement.there`) at a peak of the
    agreement: one that is as good as the best, or a sharp one. 0 where halves agree about no number."""
    best = max((each.of_data for each in found if each.there), default=0.0)
    peaks = [(each, _fall(found, i)) for i, each in enumerate(found) if each.there]
    good = [
        each.k
        for each, fall in peaks
        if fall >= 0 and (each.of_data >= best - AS_GOOD or (fall >= SHARP and each.of_data >= best - WITHIN))
    ]
    return max(good, default=0)
