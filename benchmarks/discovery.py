"""Seconds and memory that `lopsided skills` takes for texts of 100 words: `python -m benchmarks.discovery 1000000`."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORDS, TOPICS, VOCABULARY = 100, 30, 50_000


def write(path: Path, n: int) -> None:
    """N texts of 100 words, half of them of one of 30 topics, whose sizes follow a power law."""
    random = np.random.default_rng(0)
    words = np.array(["".join(map(chr, 97 + random.integers(0, 26, 7))) for _ in range(VOCABULARY)])
    common = np.arange(1.0, VOCABULARY + 1) ** -1.0
    common /= common.sum()
    share = 1 / np.arange(1.0, TOPICS + 1)
    own = random.permutation(VOCABULARY)[: TOPICS * 400].reshape(TOPICS, 400)
    with path.open("w") as file:
        for _ in range(0, n, 1000):
            topic = random.choice(TOPICS, 1000, p=share / share.sum())
            shared = random.choice(VOCABULARY, (1000, WORDS // 2), p=common)
            its = own[topic[:, None], random.integers(0, 400, (1000, WORDS // 2))]
            for row in words[np.hstack([shared, its])]:
                file.write(json.dumps({"text": " ".join(row)}) + "\n")


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "texts.jsonl"
        write(table, n)
        began = time.perf_counter()
        command = [sys.executable, "-m", "lopsided.cli", "skills", str(table), "--text", "text"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"{n:,} texts of {WORDS} words: {took:.0f} s, {peak:.2f} GiB; {done.stdout.splitlines()[0]}")


if __name__ == "__main__":
    main()
