"""Rules that listen: laws that move with how training goes. `xp` is the array module, NumPy or JAX.

A rule has `init()`, `after(state, ...)` and the law of a state. The laboratory carries states in the compiled program,
`lopsided.data` in its samplers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

SLOWER = 4.0
"""The exponent moves this many times more slowly than the running mean, or the two would swing."""
TINY = 1e-6
"""Keeps the logarithm of a loss of 0 finite."""


class SelfAnneal(NamedTuple):
    """An exponent that falls from `start` while the running accuracy exceeds `goal`, and rises while it does not."""

    start: Any
    goal: Any
    window: Any

    def init(self) -> tuple[Any, Any]:
        """Exponent and running accuracy above chance, before the first step."""
        return self.start, 0.0

    def after(self, exponent: Any, running: Any, right: Any, xp: Any) -> tuple[Any, Any]:
        """Return both after a step whose accuracy above chance was `right`."""
        running = running + (right - running) / self.window
        moved = exponent - self.start * (running - self.goal) / (SLOWER * self.window)
        return xp.clip(moved, 0.0, self.start), running


class LossProportional(NamedTuple):
    """p_r ∝ (running mean loss of the samples that need skill r)^power, over about `window` steps; the share `floor` is
    uniform. (Schaul et al. 2016, for skills in place of single samples.)"""

    power: Any
    floor: Any
    window: Any

    def init(self, n_skills: int, xp: Any) -> tuple[Any, Any]:
        """(R,) sums of losses and of samples, before the first step."""
        return xp.zeros(n_skills, xp.float32), xp.zeros(n_skills, xp.float32)

    def after(self, losses: Any, counts: Any, loss: Any, count: Any) -> tuple[Any, Any]:
        """Return both after a step with these sums (R,): older steps count less."""
        kept = 1 - 1 / self.window
        return kept * losses + loss, kept * counts + count

    def law(self, losses: Any, counts: Any, xp: Any) -> Any:
        """(R,) frequencies."""
        whole = (losses.sum() + TINY) / (counts.sum() + TINY)
        mean = (losses + whole) / (counts + 1)  # one sample of average loss: a skill that was not seen counts
        return mixed(self.power * xp.log(mean + TINY), self.floor, xp)


class GroupDRO(NamedTuple):
    """log w_r grows by `rate` times the mean loss of the samples of a batch that need skill r; p = w / sum(w), but for
    the share `floor`, which is uniform. (Sagawa et al. 2020; DoReMi, Xie et al. 2023, finds its weights so.)"""

    rate: Any
    floor: Any

    def init(self, n_skills: int, xp: Any) -> Any:
        """(R,) logarithms of weights, before the first step."""
        return xp.zeros(n_skills, xp.float32)

    def after(self, logits: Any, loss: Any, count: Any, xp: Any) -> Any:
        """The logarithms after a step with these sums (R,)."""
        moved = logits + self.rate * loss / xp.maximum(count, 1)
        return moved - moved.max()

    def law(self, logits: Any, xp: Any) -> Any:
        """(R,) frequencies."""
        return mixed(logits, self.floor, xp)


def mixed(logits: Any, floor: Any, xp: Any) -> Any:
    """(R,) the share `floor` uniform, the rest the softmax of `logits`."""
    p = xp.exp(logits - logits.max())
    return (1 - floor) * (p / p.sum()) + floor / len(logits)


AS_GOOD = 1e-6
"""Accuracies are means of rounded numbers: one that is lower by this share is as good."""


def subset_over(steps: Any, epoch: Any, mean: Any, goal: Any, epochs: Any) -> Any:
    """Whether the next growing subset begins after `steps` steps on this one (paper C, figure 19): at the end of an
    epoch of `epoch` steps whose mean accuracy was `mean`, if that reached `goal`, or after `epochs` epochs."""
    learned = mean >= goal * (1 - AS_GOOD)
    return (steps % epoch == 0) & (learned | (steps // epoch >= epochs))


class Contrast(NamedTuple):
    """An exponent that falls from `start` while a contrast of losses exceeds `goal`, and rises while it does not.

    Let L be the running mean loss, T that of the samples that need a skill of the rarest share `tail` of the ranks, and
    L_0 the loss at the start. The contrast is 1 - L / max(T, floor L_0). Let the learned skills hold the mass m of the
    law, let a sample need k of them, and let a shortcut have loss S on every sample that is not known: then L = (1 -
    m^k) S and T = S. The contrast is m^k, whatever the shortcut is worth, and without accuracy, chance or k. The floor
    lets go in the end, when the tail is learned too.
    """

    start: Any
    goal: Any
    window: Any
    floor: Any
    tail: Any

    def init(self, n_skills: int, xp: Any) -> tuple[Any, ...]:
        """Exponent, (R,) sums of losses and of samples by rank, loss at the start, contrast, steps."""
        none = xp.zeros(n_skills, xp.float32)
        zero = xp.float32(0)
        return xp.asarray(self.start, xp.float32), none, none, zero, zero, zero

    def after(self, state: tuple[Any, ...], loss: Any, count: Any, xp: Any) -> tuple[Any, ...]:
        """The state after a step with these sums by rank (R,)."""
        exponent, losses, counts, first, _, steps = state
        kept = 1 - 1 / self.window
        losses, counts, steps = kept * losses + loss, kept * counts + count, steps + 1
        mean = losses.sum() / xp.maximum(counts.sum(), TINY)
        first = xp.where(steps <= self.window, mean, first)
        rare = xp.where((xp.arange(len(losses)) + 0.5) / len(losses) > 1 - self.tail, 1.0, 0.0)
        of_tail = ((rare * losses).sum() + mean) / ((rare * counts).sum() + 1)  # one sample of average loss
        found = 1 - mean / xp.maximum(xp.maximum(of_tail, self.floor * first), TINY)
        found = xp.where(steps > self.window, found, 0.0)
        moved = exponent - self.start * (found - self.goal) / (SLOWER * self.window)
        return xp.clip(moved, 0.0, self.start), losses, counts, first, found, steps
