"""Each private name of JAX that is used, so that a version that moved it fails here and says which."""

import subprocess
import sys
from pathlib import Path

from lopsided.engines import private_jax

SOURCES = Path(__file__).parents[2] / "src"


def test_whether_devices_have_started_is_known():
    code = (
        "from lopsided.engines.private_jax import backends_started; import jax; a = backends_started(); "
        "jax.devices(); print(a, backends_started())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False True"


def test_clusters_can_be_asked():
    kinds = private_jax.clusters()
    assert len(kinds) > 3
    for kind in kinds:
        assert isinstance(kind.opt_in_only_method, bool)
        assert callable(kind.is_env_present)
        assert callable(kind.get_process_count)
        assert callable(kind.get_process_id)


def test_a_process_of_its_own_is_the_first_of_one():
    state = private_jax.distributed()
    assert state.client is None
    assert state.process_id == 0
    assert isinstance(state.num_processes, int)


def test_nothing_private_is_used_elsewhere():
    for file in SOURCES.rglob("*.py"):
        assert file.name == "private_jax.py" or "jax._src" not in file.read_text(), file
