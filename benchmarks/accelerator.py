"""What to do on the day that a GPU or TPU is there: `make accelerator`, in under 25 minutes, and again after a stop.

python -m benchmarks.accelerator FOLDER [--minutes 25] [--quick]

Checks that a small run's rows are those of a CPU within `BOUND`, measures what an ensemble gains over a loop, then
trains headline recipes at the papers' own settings until the time is over. All that is found lies in FOLDER:
`report.json`, a file of rows for each recipe that ended (`rows/NAME.parquet`, as in results/), and the store, in which
everything goes on the next time. Needs no network; with JAX 0.10 to 0.12. `--quick` is the same with everything small,
for a try on a CPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

BOUND = 2e-3
"""Of losses up to 20 steps, relative: room for sums in another order. No accelerator has been tried yet."""
MEMBERS, QUICK_MEMBERS = (1, 16, 256, 4096), (1, 4)
HEADLINES = ("state-tracking", "small-vs-large", "emergence", "multi-hop-qa")
"""In order of what they would decide; S5 with four hops first."""
PARITY = {
    "task": {"name": "sparse-parity", "d": 20, "k": 6},
    "model": {"name": "mlp", "width": 64},
    "plan": {"name": "fixed", "size": 4096, "batch": 128},
    "optimizer": {"name": "sgd", "lr": 1.0},
    "loss": "logistic",
    "steps": 20,
    "evaluation": {"every": 5, "samples": 1024},
}
TRACKING = {
    "task": {"name": "state-tracking", "group": "S4", "hops": 4},
    "skills": {"name": "power-law", "alpha": 1.5},
    "model": {"name": "transformer", "layers": 2, "width": 64, "heads": 4},
    "plan": {"name": "online", "batch": 256},
    "optimizer": {"name": "adamw", "lr": 1e-3, "schedule": "cosine", "warmup": 10},
    "loss": "cross-entropy",
    "steps": 20,
    "evaluation": {"every": 5, "samples": 1024},
}
PROGRAMS = {"perceptron": PARITY, "transformer": TRACKING}


def losses(folder: Path) -> dict[str, Any]:
    """Test losses of two seeds of both programs, on the platform that JAX finds; and which that is."""
    import jax

    import lopsided as lop

    specs = {name: lop.Spec.parse(fields) for name, fields in PROGRAMS.items()}
    found = lop.run(specs, seeds=2, out=folder, progress=False)
    return {
        "device": f"{len(jax.devices())} x {jax.devices()[0].device_kind}",
        "losses": {name: found[name].metric("test/loss").tolist() for name in specs},
    }


def speeds(counts: tuple[int, ...]) -> dict[str, list[dict[str, float]]]:
    """Member-steps a second of ensembles, and over one member's: what a loop over members would lose."""
    from benchmarks.measure import rate
    from lopsided.core.engine import Member
    from lopsided.core.spec import Spec
    from lopsided.engines.ensemble import Ensemble

    found: dict[str, list[dict[str, float]]] = {}
    for name, fields in PROGRAMS.items():
        rows: list[dict[str, float]] = []
        spec = Spec.parse({**fields, "steps": 10**6})
        for members in counts:
            ensemble = Ensemble([Member(spec, seed) for seed in range(members)])
            steps = 20

            def work(ensemble: Ensemble = ensemble, steps: int = steps) -> None:
                ensemble.advance(ensemble.step + steps)

            work()  # compiles
            its = rate(work, members * steps)
            rows.append({"members": members, "rate": its, "over_one": its / rows[0]["rate"] if rows else 1.0})
        found[name] = rows
    return found


def _part(name: str, *arguments: str, cpu: bool = False) -> Any:
    """What another process of this program prints: each part has a device of its own while it runs."""
    environment = {**os.environ, **({"JAX_PLATFORMS": "cpu"} if cpu else {})}
    command = [sys.executable, "-m", "benchmarks.accelerator", "--part", name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def compared(folder: Path) -> dict[str, Any]:
    """Losses here and on the CPU."""
    import numpy as np

    here, there = _part("losses", str(folder / "here")), _part("losses", str(folder / "cpu"), cpu=True)
    worst = {
        name: float(np.max(np.abs(np.array(here["losses"][name]) / np.array(there["losses"][name]) - 1)))
        for name in PROGRAMS
    }
    return {"device": here["device"], "worst": worst, "bound": BOUND, "equal": max(worst.values()) <= BOUND}


def headlines(folder: Path, until: float, quick: bool) -> dict[str, str]:
    """Each recipe has half of the time that is left, the last one all; what was not finished goes on next time."""
    from lopsided.store.parts import Store
    from lopsided.study.publishing import publish
    from lopsided.study.targets import find

    said = {}
    for i, name in enumerate(HEADLINES[:1] if quick else HEADLINES):
        left = (until - time.time()) / (1 if i == len(HEADLINES) - 1 else 2)
        if left < 10:
            said[name] = "not begun: no time"
            continue
        scale = "smoke" if quick else "paper"
        command = [sys.executable, "-m", "lopsided.cli", "run", name, "--scale", scale, "--out", str(folder / "store")]
        with (folder / f"{name}.log").open("a") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
            try:
                code = process.wait(timeout=left)
            except subprocess.TimeoutExpired:
                process.terminate()  # it commits, and ends
                process.wait(timeout=120)
                code = None
        if code == 0 and not quick:
            publish(find(name), Store(folder / "store"), folder / "rows")
        said[name] = {0: "ended", None: "stopped; goes on next time"}.get(code, f"failed: {name}.log")
    return said


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[0] == "--part":
        part, *rest = arguments[1:]
        print(json.dumps(losses(Path(rest[0])) if part == "losses" else speeds(tuple(map(int, rest)))))
        return
    folder, quick = Path(arguments[0]), "--quick" in arguments
    minutes = float(arguments[arguments.index("--minutes") + 1]) if "--minutes" in arguments else 25.0
    until = time.time() + 60 * minutes
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "report.json"
    report = json.loads(file.read_text()) if file.exists() else {"began": datetime.now().isoformat(timespec="minutes")}
    counts = QUICK_MEMBERS if quick else MEMBERS
    steps = {
        "doctor": lambda: subprocess.run(
            [sys.executable, "-m", "lopsided.cli", "doctor"], capture_output=True, text=True, check=False
        ).stdout.splitlines(),
        "equal": lambda: compared(folder),
        "speed": lambda: _part("speed", *map(str, counts)),
    }
    for name, step in steps.items():
        if name not in report:  # done before
            report[name] = step()
            file.write_text(json.dumps(report, indent=1))
            print(name, json.dumps(report[name])[:300], flush=True)
    report["recipes"] = headlines(folder, until, quick)
    file.write_text(json.dumps(report, indent=1))
    print("recipes", report["recipes"], f"\nAll of it: {file}")


if __name__ == "__main__":
    main()
