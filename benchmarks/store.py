"""Commands on a folder of many parts. Every part is a small sound one, written as a run writes it.

python -m benchmarks.store [PARTS]
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lopsided.core.provenance import provenance
from lopsided.core.spec import Spec
from lopsided.runs.recipe_run import prepare
from lopsided.store.files import canonical, digest
from lopsided.store.parts import FORMAT, job_name
from lopsided.store.rows import no_rows, write_rows


def fill(root: Path, parts: int) -> None:
    """A store of `parts` parts of one member each, without the syncs that make a real one slow to write."""
    spec: Spec = next(iter(prepare("set-size", "smoke", None, []).arms.values()))
    text = spec.canonical_json()
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    rows = no_rows() | {
        "spec": np.array([name], object),
        "seed": np.array([0], np.uint64),
        "step": np.array([60]),
        "samples": np.array([60]),
        "distinct_samples": np.array([16.0]),
        "seconds": np.array([1.0]),
        "diverged": np.array([False]),
        "metric": np.array(["test/accuracy"], object),
        "value": np.array([0.5]),
        "shape": np.array([None], object),
        "elements": np.array([None], object),
    }
    (root / "parts").mkdir(parents=True)
    (root / "runs").mkdir()
    (root / "store.json").write_text(json.dumps({"format": FORMAT}))
    write_rows(root / "rows.parquet", rows)
    data, checksum = (root / "rows.parquet").read_bytes(), digest(root / "rows.parquet")
    made = provenance("cpu", {})
    for seed in range(parts):
        members = [(name, seed)]
        part = {
            "job": job_name(members), "start": 0, "step": 60, "final": True, "seconds": 1.0, "members": members,
            "specs": {name: text}, "provenance": made, "code": "0", "parent": "", "token": "0",
            "checksums": {"rows": checksum},
        }  # fmt: skip
        folder = root / "parts" / f"{part['job']}-{60:012d}-0"
        folder.mkdir()
        (folder / "rows.parquet").write_bytes(data)
        document = {"part": part, "sha256": hashlib.sha256(canonical(part).encode()).hexdigest()}
        (folder / "part.json").write_text(json.dumps(document))


def timed(*command: str) -> tuple[float, float]:
    """Seconds and MiB of a command, as a whole process."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main(parts: int) -> None:
    lopsided = str(Path(sys.executable).parent / "lopsided")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        root = Path(folder) / "store"
        fill(root, parts)
        print(f"{parts} parts, one member each")
        first, _ = timed(lopsided, "status", str(root))
        print(f"status, nothing indexed   {first:6.1f} s")
        commands = {
            "status": ("status", str(root)),
            "check of one recipe": ("check", "set-size", "--out", str(root)),
            "query": ("query", "SELECT count(*) FROM members", "--out", str(root)),
            "query of all rows": ("query", "SELECT avg(value) FROM rows", "--out", str(root)),
        }
        for name, command in commands.items():
            took = min(timed(lopsided, *command)[0] for _ in range(3))
            print(f"{name:25s} {took:6.1f} s")
        print(f"largest process           {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:6.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
