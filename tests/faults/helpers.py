"""Real processes for the fault tests."""

import subprocess
import sys
from pathlib import Path

from lopsided.store.parts import Store
from lopsided.store.tables import connect

ROOT = Path(__file__).parents[2]

SCRIPT = """
import json, sys
from lopsided.core.spec import Spec
from lopsided.core.errors import Stopped
from lopsided.core.execution import Execution
from lopsided.work.worker import run
from lopsided.work.signals import stop_on_signals
from lopsided.store.parts import Store
specs = [Spec.parse(s) for s in json.loads(sys.argv[2])]
with stop_on_signals() as stop:
    print("ready", flush=True)
    try:
        done = run(specs, int(sys.argv[3]), Store(sys.argv[1]), lambda p: print(p.step, flush=True),
                   Execution(commit_seconds=float(sys.argv[4])), stop)
        print("trained", done.trained, flush=True)
    except Stopped:
        print("stopped", flush=True)
"""


def start(folder, specs, seeds, commit_seconds=0.2):
    """A process that runs `specs` (canonical JSON of each) into `folder`."""
    import json

    text = json.dumps([json.loads(s.canonical_json()) for s in specs])
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), text, str(seeds), str(commit_seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def finish(folder, specs, seeds, timeout=300, **more):
    """Run to the end; what was printed."""
    with start(folder, specs, seeds, **more) as process:
        out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err
    return out, err


def rows(folder):
    """Every row without wall time, the one column that may differ."""
    with connect(Store(folder)) as con:
        return con.execute("SELECT * EXCLUDE (seconds) FROM rows ORDER BY spec, seed, step, metric").fetchall()
