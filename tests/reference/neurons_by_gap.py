"""Whether SGD's neurons are the flow's, by how close rivals come: `python -m tests.reference.neurons_by_gap`.

From the published rows of `online-sgd`: of the directions whose gap to the nearest rival at the start (lemma 3.1, the
smallest of the three) is below or above a tenth, the share that the same neuron learns as under gradient flow.
"""

from pathlib import Path

import jax
import numpy as np

from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.engines.idealised import latent_of
from lopsided.numerics.hermite import exponent_of
from lopsided.recipes._strength import by_direction, learned_at
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.targets import find
from lopsided.theory.greedy_selection import gaps, greedy_selection, selection_matrix

NAME = "online-sgd"
ROWS = Path(__file__).parents[2] / "results"
WIDE = 0.1
"""Chosen when shares in six bins of gaps had been seen: it describes, and tests nothing."""


def smallest_gaps(spec: Spec, seed: int) -> np.ndarray:
    """(P,) smallest gap of each direction at the start of a member."""
    _, directions, link = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs).ridges()
    with jax.enable_x64(True):
        weights = np.asarray(latent_of(spec.task, stream(seed, "world")).weights, np.float64)
    overlaps = np.asarray(directions, np.float64)[:, : len(weights)]
    matrix = selection_matrix(weights, overlaps, exponent_of(link))
    chosen = greedy_selection(matrix)
    found = np.full(len(weights), np.nan)
    found[chosen.direction] = np.min(gaps(matrix, chosen), axis=0)
    return found


def main() -> None:
    """Print a line for each step size."""
    with published(ROWS, [NAME]) as stores:
        run = claims_of(find(NAME), recorded(stores[NAME]), stores[NAME]).run
        assert run is not None
        results = run.results(stores[NAME])
        flow, descents = results.arm(by="gradient flow"), results.where(by="SGD")
        gap = np.stack([smallest_gaps(flow.spec, seed) for seed in flow.seeds])
        for each in descents:
            same = by_direction(each, "neuron")[:, :, -1] == by_direction(flow, "neuron")[:, :, -1]
            same &= np.isfinite(learned_at(each))
            narrow, wide = gap < WIDE, gap >= WIDE
            print(
                f"{each.name}: {same[narrow].mean():.2f} of {narrow.sum()} with a narrower gap than {WIDE}, "
                f"{same[wide].mean():.2f} of {wide.sum()} others"
            )


if __name__ == "__main__":
    main()
