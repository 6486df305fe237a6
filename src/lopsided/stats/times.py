"""Time to learn, with censoring: a member that never learns is censored at its budget, never dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lopsided.core.rounding import reaches

if TYPE_CHECKING:  # reading results needs no JAX
    from lopsided.core.evaluation import Until


class Times(NamedTuple):
    """(M,) times on some axis (steps, samples); where `censored`, the member had not learned by `time`."""

    time: np.ndarray
    censored: np.ndarray
    gap: np.ndarray | None = None
    """How far before `time` the evaluation before lies (from 0 on, for the first one), where that is known."""
    interpolated: bool = False
    """Whether times lie between evaluations (`stats.crossing`)."""

    @property
    def ordinal(self) -> np.ndarray:
        """Times with +inf for censored members."""
        return np.where(self.censored, np.inf, self.time)

    @property
    def budget(self) -> float:
        """How far all of the arm were followed: the first censoring time, or without end if all learned."""
        return float(self.time[self.censored].min()) if self.censored.any() else np.inf

    def chosen(self, which: np.ndarray) -> Times:
        """The times of some members, by index or as a mask."""
        return Times(
            self.time[which], self.censored[which], None if self.gap is None else self.gap[which], self.interpolated
        )

    @property
    def coarseness(self) -> float:
        """How far apart evaluations lie, as a share of the time to learn: the median over members that learned; 1 where
        they learned by the first evaluation, 0 where it is not known."""
        if self.gap is None:
            return 0.0
        known = ~self.censored & (self.time > 0) & np.isfinite(self.gap)
        return float(np.median(self.gap[known] / self.time[known])) if known.any() else 0.0

    @property
    def median(self) -> float:
        """Median with censored members as +inf: infinite if half or more never learned."""
        return float(median(self.ordinal))


def median(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Median along an axis that tolerates infinities (the mean of two middle values, inf if one is inf)."""
    ordered = np.sort(values, axis=axis)
    n = values.shape[axis]
    low, high = np.take(ordered, (n - 1) // 2, axis), np.take(ordered, n // 2, axis)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(high), high, 0.5 * (low + high))
    return middle


def times_until(axis: np.ndarray, values: np.ndarray, until: Until) -> Times:
    """`time_to_learn` by the rule that a spec says itself."""
    if until.at_least is not None:
        return time_to_learn(axis, values, until.at_least)
    return time_to_learn(axis, -values, -(until.at_most or 0.0))


FALLING = {
    "err", "mse", "rmse", "mae", "nll", "xent", "perplexity", "ppl", "bits", "bpb", "bpc", "wer", "cer", "fid", "kl",
    "brier", "regret", "divergence", "ece", "eer", "latency",
}  # fmt: skip
"""Words of metrics that get smaller as a network learns, beside those that end in loss, losses, error or errors."""


RISING = {"acc", "accuracy", "f1", "auc", "auroc", "map", "bleu", "rouge", "precision", "recall", "score", "reward",
          "return", "success", "iou", "psnr", "ssim", "correct", "exact", "r2"}  # fmt: skip
"""Words of metrics that get larger."""


TURNING = {"gap", "drop", "reduction", "neg", "negative", "free", "ratio", "diff", "difference", "delta", "improvement"}
"""Words that turn what another one says: of an `accuracy_gap` the name tells nothing."""


def turned(metric: str) -> bool:
    """Whether a word of the name may turn its direction round."""
    return any(word.lower() in TURNING for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", metric))


def rises(metric: str) -> bool:
    """Whether one of the metric's words says that it gets larger."""
    return any(word.lower() in RISING for word in re.findall("[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*", metric))


def falls(metric: str) -> bool:
    """Whether one of the metric's words (`valLoss`, `test/NLL`) says that it gets smaller; anything else rises."""
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+", metric)
    low = [word.lower() for word in words]
    if {"cross", "entropy"} <= set(low):
        return True
    return any(word in FALLING or re.search("(loss|losses|error|errors)$", word) for word in low if word != "gloss")


def falls_by_name(metric: str) -> bool | None:
    """Whether the name says that the metric gets smaller as a network learns; None where it says nothing."""
    return falls(metric) if (falls(metric) or rises(metric)) and not turned(metric) else None


def time_to_reach(axis: np.ndarray, metric: str, values: np.ndarray, at: float) -> Times:
    """`time_to_learn` by the name of the metric, see `falls`. Nobody reaches a value that is not finite."""
    if not np.isfinite(at):
        return Times(np.full(len(values), axis[-1], np.float64), np.ones(len(values), bool))
    sign = -1.0 if falls(metric) else 1.0
    return time_to_learn(axis, sign * values, sign * at)


def time_to_learn(axis: np.ndarray, values: np.ndarray, threshold: float) -> Times:
    """First point of `axis` (T,) at which `values` (M, T) reach the threshold and still hold at the next evaluation.

    Reaching it only at the last evaluation is not enough: nothing confirms it, so the member is censored there.
    """
    above = reaches(np.nan_to_num(values, nan=-np.inf), threshold)
    learned = above[:, :-1] & above[:, 1:]
    has = np.asarray(learned.any(1))
    first = np.argmax(learned, axis=1) if learned.shape[1] else np.zeros(len(values), int)
    gaps = np.diff(axis, prepend=0).astype(np.float64)
    time = np.where(has, axis[first], axis[-1]).astype(np.float64)
    return Times(time, ~has, np.where(has, gaps[first], gaps[-1]))
