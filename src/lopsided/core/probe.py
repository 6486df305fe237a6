"""What a probe is, and what it is handed. (Shapes: legend in `core.shapes`.)"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import Array, Float

from lopsided.core.batch import Batch
from lopsided.core.config import Part
from lopsided.core.model import Model
from lopsided.core.task import Task


class ProbeContext(NamedTuple):
    """What a probe is handed: the trained function and how to evaluate it, never a trainer."""

    params: Any
    initial: Any
    evaluate: Callable[[Array | None, str, int], dict[str, Array]]
    """(probabilities of the ranks, name of the stream, samples) -> mean loss and accuracy on samples of that law."""
    n_ranks: int
    latent: Any
    population: Callable[[], Array] | None
    """The exact expected loss now; None if the task has no formula for it."""
    on_training_set: Callable[[int], dict[str, Array]] | None = None
    """samples -> mean loss and accuracy on the first training samples, true labels; None if the plan draws none."""
    task: Task | None = None
    samples: Callable[[Array | None, str, int], Batch] | None = None
    """(probabilities of the ranks, name of the stream, samples) -> the test samples themselves."""
    gradient: Callable[[Array, Array, str, int], Any] | None = None
    """(probabilities of the ranks for one skill of each sample, those for its others, name of the stream, samples) ->
    gradient of the mean loss; None if the plan draws no samples."""


class Trained(NamedTuple):
    """What a probe is handed when training is over."""

    checkpoints: Float[Array, "C P"]
    """All parameters in a row, at the start and after equal stretches of training."""
    unflatten: Callable[[Float[Array, " P"]], Any]
    loss: Callable[[Any, int], Array]
    """(parameters, samples) -> mean loss on fresh samples of the training distribution, the same ones every time."""


class Probe(Part):
    """Measures something about one member between stretches of training: jittable, called under `vmap`. A metric is a
    number or an array; an array is stored as one row with its shape."""

    def check(self, task: Task, model: Model) -> None:
        """Raise `InputError` if the probe cannot measure this model on this task."""
        return

    @abstractmethod
    def measure(self, context: ProbeContext) -> dict[str, Array]:
        """Numbers and arrays by metric name, at every evaluation."""

    @property
    def n_checkpoints(self) -> int:
        """Number of equal stretches of training after each of which the parameters are kept for `conclude`; 0: none."""
        return 0

    def conclude(self, trained: Trained) -> dict[str, Array]:
        """Numbers and arrays by metric name, once, at the last evaluation; only called if `n_checkpoints` is not 0."""
        return {}
