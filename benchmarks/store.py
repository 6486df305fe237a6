"""Commands on a folder of many parts. Every part is a small sound one, written as a run writes it.

python -m benchmarks.store [PARTS]
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from lopsided.core.provenance import provenance
from lopsided.core.spec import Spec
from lopsided.store.files import canonical, digest
from lopsided.store.parts import FORMAT, job_name
from lopsided.store.rows import COLUMNS

SPEC = {
    "task": {"name": "sparse-parity", "d": 8, "k": 2},
    "model": {"name": "mlp", "width": 16},
    "plan": {"name": "fixed", "size": 64, "batch": 16},
    "optimizer": {"name": "sgd", "lr": 0.5},
    "loss": "logistic",
    "steps": 60,
    "evaluation": {"every": 20, "samples": 64},
}


def fill(root: Path, parts: int) -> None:
    """A store of `parts` parts of one member each, without the syncs that make a real one slow to write."""
    text = Spec.parse(SPEC).canonical_json()
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    (root / "parts").mkdir(parents=True)
    (root / "store.json").write_text(json.dumps({"format": FORMAT}))
    with duckdb.connect() as con:
        columns = ", ".join(f"{column}::{kind} AS {column}" for column, kind in COLUMNS.items())
        con.execute(
            f"COPY (SELECT {columns}, seed AS place FROM (SELECT '{name}' AS spec, seed, step, 16 * step AS samples, "
            "64 AS distinct_samples, 1 AS seconds, false AS diverged, metric, random() AS value, NULL AS shape, "
            f"NULL AS elements FROM range({parts}) s(seed), (VALUES (20), (40), (60)) t(step), "
            "(VALUES ('test/accuracy'), ('test/loss'), ('train/loss')) m(metric)) ORDER BY seed) "
            f"TO '{root}/rows' (FORMAT parquet, PARTITION_BY (place))"
        )
    made = provenance("cpu", {})
    for seed in range(parts):
        (rows,) = (root / "rows" / f"place={seed}").iterdir()
        members = [(name, seed)]
        part = {
            "job": job_name(members), "start": 0, "step": 60, "final": True, "seconds": 1.0, "members": members,
            "specs": {name: text}, "provenance": made, "code": "0", "parent": "", "token": "0",
            "checksums": {"rows": digest(rows)},
        }  # fmt: skip
        folder = root / "parts" / f"{part['job']}-{60:012d}-0"
        folder.mkdir()
        rows.rename(folder / "rows.parquet")
        document = {"part": part, "sha256": hashlib.sha256(canonical(part).encode()).hexdigest()}
        (folder / "part.json").write_text(json.dumps(document))
    shutil.rmtree(root / "rows")


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
        spec = root.parent / "mine.json"
        spec.write_text(json.dumps(SPEC))
        nothing = ("run", str(spec), "--seeds", str(parts), "--out", str(root))
        commands |= {"run with nothing to do": nothing, "report": ("report", str(root))}
        for name, command in commands.items():
            took = min(timed(lopsided, *command)[0] for _ in range(3))
            print(f"{name:25s} {took:6.1f} s", flush=True)
        print(f"compact                   {timed(lopsided, 'compact', str(root))[0]:6.1f} s")
        for name, command in commands.items():
            took = min(timed(lopsided, *command)[0] for _ in range(3))
            print(f"{name + ', then':25s} {took:6.1f} s", flush=True)
        print(f"largest process           {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:6.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
