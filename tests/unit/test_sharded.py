"""One member over 1, 2, 4 and 8 devices: the same rows within rounding, a share of the memory."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lopsided.core.errors import InputError
from lopsided.core.execution import Execution
from lopsided.engines.choosing import engine_for
from lopsided.store.parts import Store
from lopsided.work.worker import run

pytestmark = [pytest.mark.xdist_group("sharded"), pytest.mark.slow]


@pytest.fixture(scope="module")
def found():
    """Eight devices need a process of their own."""
    script = Path(__file__).with_name("sharded_script.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_one_worker_makes_it(request):
    """Workers know a group by the end of a test's name, which some versions of pytest do not let pytest-xdist set."""
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@sharded")


def test_losses_do_not_depend_on_the_number_of_devices(found):
    for over in ("1", "2", "4", "8"):
        np.testing.assert_allclose(found["over"][over], found["one"], rtol=2e-5)


def test_nor_on_pieces_or_on_activations_that_are_computed_again(found):
    np.testing.assert_allclose(found["pieces"], found["one"], rtol=2e-5)
    np.testing.assert_allclose(found["again"], found["one"], rtol=2e-5)


def test_held_samples_lie_over_devices_as_drawn_ones_do(found):
    one, held, drawn = found["full batch"]
    np.testing.assert_allclose(held, one, rtol=2e-5)
    np.testing.assert_allclose(drawn, one, rtol=2e-5)
    held, drawn = found["operations"]  # of one device
    assert held < 1.2 * drawn


def test_members_and_batch_share_a_mesh(found):
    np.testing.assert_allclose(found["four on two each"], found["four"], rtol=2e-5)


def test_a_device_holds_its_share(found):
    """All but small arrays are parted."""
    for over, (first, whole) in found["share"].items():
        assert first <= whole / int(over) + 0.08 * whole


def test_memory_is_that_of_the_compiled_program(found):
    for (argument, temporary), (state, working) in found["memory"].values():
        assert state / 1.3 < argument < 1.3 * state + 4096
        assert working / 3 < temporary < 3 * working


def test_a_state_goes_on_on_another_number_of_devices(found):
    np.testing.assert_allclose(found["restored"], found["one"][1:], rtol=2e-5)


def test_the_same_rows_reach_the_store(found):
    assert found["engine"] == "sharded"
    np.testing.assert_allclose(found["rows"], np.array(found["one"])[:, 0], rtol=2e-5)


def test_what_cannot_be_sharded_is_one_line(parity):
    until = {"metric": "test/accuracy", "at_least": 0.9}
    with pytest.raises(InputError, match="not for a spec with `until`"):
        engine_for(parity(until=until, evaluation={"every": 20, "samples": 64}), Execution(batch_devices=2, shard=True))


def test_that_line_comes_before_anything_is_trained(parity, tmp_path):
    fine, until = parity(), {"metric": "test/accuracy", "at_least": 0.9}
    wrong = parity(until=until, evaluation={"every": 20, "samples": 64})
    with pytest.raises(InputError, match="not for a spec with `until`"):
        run([fine, wrong], 1, Store(tmp_path), execution=Execution(batch_devices=2, shard=True))
    assert not Store(tmp_path).parts()
