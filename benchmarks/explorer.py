"""The explorer on a folder of 10,000 parts and 10 million rows, in a headless browser.

python -m benchmarks.explorer [PARTS]        (needs Chromium)
"""

from __future__ import annotations

import hashlib
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.store import SPEC
from lopsided.core.provenance import provenance
from lopsided.core.spec import Spec
from lopsided.explore.server import Explorer
from lopsided.store.files import canonical, digest
from lopsided.store.parts import FORMAT, Store, job_name
from lopsided.store.rows import COLUMNS
from lopsided.study.manifest import Manifest, differing, write

MEMBERS = 8
"""Members of a part."""
EVALUATIONS = 25
METRICS = ("test/accuracy", "test/loss", "train/loss", "norm/ratio", "grad/norm")
SIZES, RATES = (64, 128, 256, 512, 1024), (0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.0, 3.0)


def fill(root: Path, parts: int) -> None:
    """A store of `parts` parts of MEMBERS members each, of one run whose arms differ in two settings."""
    (root / "parts").mkdir(parents=True)
    (root / "store.json").write_text(json.dumps({"format": FORMAT}))
    specs = {}
    for size in SIZES:
        for lr in RATES:
            plan, optimizer = {**SPEC["plan"], "size": size}, {**SPEC["optimizer"], "lr": lr}
            evaluation = {"every": 20, "samples": 64}
            spec = {**SPEC, "plan": plan, "optimizer": optimizer, "steps": 20 * EVALUATIONS, "evaluation": evaluation}
            text = Spec.parse(spec).canonical_json()
            specs[hashlib.sha256(text.encode()).hexdigest()[:16]] = text
    names, each = list(specs), parts // len(specs)
    columns = ", ".join(f"{column}::{kind} AS {column}" for column, kind in COLUMNS.items())
    listed = ", ".join(f"({i}, '{name}')" for i, name in enumerate(names))
    metrics = ", ".join(f"('{name}')" for name in METRICS)
    made, steps = provenance("cpu", {}), 20 * EVALUATIONS
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT {columns}, place FROM (SELECT s.spec, e.seed, 20 * t.i AS step, 320 * t.i AS samples, "
            f"64 AS distinct_samples, t.i AS seconds, false AS diverged, metric, "
            f"1 / (1 + exp((15 - t.i + 5 * random()) / 3)) AS value, NULL AS shape, NULL AS elements, "
            f"s.number * {each} + e.seed // {MEMBERS} AS place FROM (VALUES {listed}) s(number, spec), "
            f"range({each * MEMBERS}) e(seed), range(1, {EVALUATIONS + 1}) t(i), (VALUES {metrics}) m(metric))) "
            f"TO '{root}/rows' (FORMAT parquet, PARTITION_BY (place))"
        )
    for place in range(len(names) * each):
        (rows,) = (root / "rows" / f"place={place}").iterdir()
        name, first = names[place // each], place % each * MEMBERS
        members = [(name, seed) for seed in range(first, first + MEMBERS)]
        part = {
            "job": job_name(members), "start": 0, "step": steps, "final": True, "seconds": 1.0, "members": members,
            "specs": {name: specs[name]}, "provenance": made, "code": "0", "parent": "", "token": "0",
            "checksums": {"rows": digest(rows)},
        }  # fmt: skip
        folder = root / "parts" / f"{part['job']}-{steps:012d}-0"
        folder.mkdir()
        rows.rename(folder / "rows.parquet")
        document = {"part": part, "sha256": hashlib.sha256(canonical(part).encode()).hexdigest()}
        (folder / "part.json").write_text(json.dumps(document))
    shutil.rmtree(root / "rows")
    at = differing({name: json.loads(text) for name, text in specs.items()})
    arms = {
        ", ".join(f"{key} = {value}" for key, value in at[name].items()): {
            "hash": name,
            "spec": json.loads(text),
            "coordinates": at[name],
        }
        for name, text in specs.items()
    }
    write(Store(root), Manifest("bench", "laptop", each * MEMBERS, (), arms, None, []))


def timed(work: Callable[[], Any]) -> float:
    """Seconds of a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def clicks(address: str, view: Any) -> dict[str, float]:
    """Seconds from each click until the picture has changed."""
    picture = "#run-picture .js-plotly-plot"

    def changed(click: Callable[[], Any]) -> float:
        view.evaluate(
            f"() => {{ window.drawn = 0; document.querySelector('{picture}').on('plotly_afterplot', () => {{ "
            "window.drawn += 1 }) }"
        )
        began = time.perf_counter()
        click()
        view.wait_for_function("() => window.drawn > 0", polling=10)
        return time.perf_counter() - began

    view.goto(f"{address}run")
    view.wait_for_selector("#run-picture .scatterlayer .trace")
    view.wait_for_timeout(1000)
    found = {}
    for name, text in {
        "compute along the axis": "#run-axis label:nth-child(2)",
        "every member": "#run-members label:nth-child(2)",
        "times to learn": "#run-chart label:nth-child(2)",
        "heat map of all arms": "#run-chart label:nth-child(3)",
        "curves again": "#run-chart label:nth-child(1)",
    }.items():
        found[name] = changed(lambda text=text: view.click(text))
        view.wait_for_timeout(400)
    return found


def main(parts: int) -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        fill(root, parts)
        page = Explorer(root)
        rows = parts * MEMBERS * EVALUATIONS * len(METRICS)
        print(f"{parts:,} parts, {rows:,} rows")
        threading.Thread(target=page.serve, daemon=True).start()
        began = time.perf_counter()
        with sync_playwright() as browsers:
            browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            paints = []
            for _ in range(3):
                view = browser.new_context().new_page()
                paints.append(timed(lambda view=view: (view.goto(page.address), view.wait_for_selector(".square, p"))))
            print(f"first paint while the rows are read    {statistics.median(paints):6.2f} s", flush=True)
            while not page.folder.status:
                time.sleep(0.1)
            print(f"everything read after                  {time.perf_counter() - began:6.2f} s", flush=True)
            view = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            paints = [
                timed(lambda: (view.goto(page.address), view.wait_for_selector("#claims-count"))) for _ in range(3)
            ]
            print(f"first paint then                       {statistics.median(paints):6.2f} s", flush=True)
            found = [clicks(page.address, view) for _ in range(3)]
            for name in found[0]:
                print(f"{name:38s} {statistics.median(each[name] for each in found):6.2f} s", flush=True)
            browser.close()
        page.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
