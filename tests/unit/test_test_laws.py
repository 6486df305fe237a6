"""The probe that tests on other laws of skills."""

import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.probe import ProbeContext
from lopsided.probes.test_laws import TestLaws


def evaluate(law, name, samples):
    return {"accuracy": law[0], "loss": law.sum()}


def test_each_law_is_tested_on():
    """The accuracy of a network that knows rank 1 alone is the share of rank 1."""
    nothing = ProbeContext(*[None] * len(ProbeContext._fields))
    context = nothing._replace(n_ranks=4, evaluate=evaluate)
    found = TestLaws(exponents=(0, 1)).measure(context)
    assert set(found) == {"law0/accuracy", "law0/loss", "law1/accuracy", "law1/loss"}
    assert float(found["law0/accuracy"]) == pytest.approx(1 / 4)
    assert float(found["law1/accuracy"]) == pytest.approx(1 / np.sum(1 / np.arange(1, 5)))
    assert float(jnp.asarray(found["law1/loss"])) == pytest.approx(1)
