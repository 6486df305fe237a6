"""What is saved of an ensemble's state comes back bit for bit."""

import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.engines import checkpoints
from lopsided.engines.members import State

DTYPES = (np.float32, np.float64, np.int32, np.uint32, np.bool_, jnp.bfloat16)


def state_of(dtype):
    """A state with nested and empty parts, numbers, and a leaf that is not contiguous."""
    values = np.arange(12).reshape(3, 4).astype(dtype)
    return State({"layers": [values.T, values[:, ::2]]}, (values[0, 1], np.zeros((0, 3), dtype)), np.int32(-1),
                 np.float32(0.5), np.int32(7))  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_shape_and_structure_comes_back(dtype, tmp_path):
    state = state_of(dtype)
    checkpoints.save(tmp_path / "state", state)
    found = checkpoints.restore(tmp_path / "state", state)
    assert isinstance(found, State)
    for before, after in zip(leaves(state), leaves(found), strict=True):
        assert (after.dtype, after.shape) == (np.asarray(before).dtype, np.shape(before))
        assert np.asarray(after).tobytes() == np.asarray(before).tobytes()


def test_more_than_ten_leaves_keep_their_order(tmp_path):
    state = [np.full(2, i) for i in range(123)]
    checkpoints.save(tmp_path / "state", state)
    assert [int(x[0]) for x in checkpoints.restore(tmp_path / "state", state)] == list(range(123))


def test_numbers_that_grew_wider_come_back_as_those_of_the_state(tmp_path):
    """A pool counts its steps in 64 bits after the first round, and begins with 32."""
    checkpoints.save(tmp_path / "state", [np.array([50, 0, 150], np.int64)])
    (found,) = checkpoints.restore(tmp_path / "state", [np.zeros(3, np.int32)])
    assert (found.dtype, found.tolist()) == (np.int32, [50, 0, 150])


def test_what_cannot_be_written_is_an_os_error(tmp_path):
    (tmp_path / "state").mkdir()
    with pytest.raises(OSError, match="exists"):
        checkpoints.save(tmp_path / "state", state_of(np.float32))
    with pytest.raises(OSError, match="No such file"):
        checkpoints.save(tmp_path / "nowhere" / "state", state_of(np.float32))


def leaves(tree):
    import jax

    return jax.tree.leaves(tree)
