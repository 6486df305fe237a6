"""Writes all published rows into one file for a release, the same bytes for the same rows.

python packaging/rows.py
"""

import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "dist/lopsided-rows.tar"


def of_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member without owner and time of this machine."""
    member.uid = member.gid = 0
    member.mtime, member.uname, member.gname, member.mode = 1_700_000_000, "", "", 0o644
    return member


def main() -> None:
    """Write README.md, which has schema and licence, and every Parquet file."""
    OUT.parent.mkdir(exist_ok=True)
    files = [ROOT / "results/README.md", *sorted((ROOT / "results").rglob("*.parquet"))]
    with tarfile.open(OUT, "w") as tar:
        for file in files:
            tar.add(file, f"lopsided-rows/{file.relative_to(ROOT / 'results')}", filter=of_nobody)
    print(f"{OUT.relative_to(ROOT)}: {len(files)} files, {OUT.stat().st_size / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
