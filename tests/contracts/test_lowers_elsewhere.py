"""Train steps at paper scale lower for CUDA and TPU on this CPU: they would start there.

`make whole` lowers one program of every fourth recipe; `make check` and `make lowering` all programs of all.
"""

import os

import jax
import jax.numpy as jnp
import pytest
from jax import export

from lopsided.core.registry import registered
from lopsided.engines.members import program_key
from lopsided.engines.work import program_of

pytestmark = pytest.mark.slow

EVERY = bool(os.environ.get("LOPSIDED_ALL_PROGRAMS"))
RECIPES = sorted(name for name, recipe in registered("recipe").items() if "paper" in recipe.scales)


def programs(name):
    """One spec of every program that has one."""
    found = {program_key(spec): spec for spec in registered("recipe")[name].specs("paper").values()}
    return [program for spec in found.values() if (program := program_of(spec)) is not None]


@pytest.mark.parametrize("name", RECIPES if EVERY else RECIPES[::4])
def test_paper_scale_steps_lower_for_other_platforms(name):
    for program in programs(name) if EVERY else programs(name)[:1]:
        with program.precision():
            shapes = program.state_shape, program.one, jnp.int32(0), jnp.int32(1)
            found = export.export(jax.jit(program.advance), platforms=["cuda", "tpu"])(*shapes)
        assert found.platforms == ("cuda", "tpu")
        assert len(found.out_avals) == len(jax.tree.leaves(program.state_shape))
