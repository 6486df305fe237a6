"""Writes all published rows into one file for a release, the same bytes for the same rows: `make rows`."""

import tarfile
from functools import partial
from pathlib import Path

from repack import of_nobody

ROOT = Path(__file__).parents[1]
OUT = ROOT / "dist/lopsided-rows.tar"
WHEN = 1_700_000_000
"""Time of every file in it, in seconds since 1970: any will do that is always the same."""


def main(out: Path = OUT) -> None:
    """Write README.md, which has schema and licence, SHA256SUMS and every Parquet file."""
    out.parent.mkdir(exist_ok=True)
    about = [ROOT / "results/README.md", ROOT / "results/SHA256SUMS"]
    files = [*about, *sorted((ROOT / "results").rglob("*.parquet"))]
    with tarfile.open(out, "w") as tar:
        for file in files:
            name = f"lopsided-rows/{file.relative_to(ROOT / 'results')}"
            tar.add(file, name, filter=partial(of_nobody, when=WHEN))
    print(f"{out}: {len(files)} files, {out.stat().st_size / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
