"""Makes a store of published rows, in which a run goes on: `python packaging/unpack.py FOLDER NAME ...`.

    python packaging/unpack.py runs parameter-ablation
    lopsided run parameter-ablation --until-decided --looks 8 16 32 --out runs

Members that are published are not trained again, where the code that trains them is the same. Only for recipes whose
members leave when they have learned: a file has those metrics alone that claims read, and where members stay to the end
every one has to have all that are measured.
"""

import sys
from pathlib import Path

from lopsided.core.registry import registered
from lopsided.study.publishing import unpack

ROWS = Path(__file__).parents[1] / "results"


def main(folder: Path, names: list[str]) -> None:
    """Copy the rows of these recipes into the store in a folder."""
    for name in names:
        if any(spec.until is None for spec in registered("recipe")[name].specs("laptop").values()):
            sys.exit(f"{name}: members stay to the end, and published rows have not all that they measure")
        unpack(ROWS / f"{name}.parquet", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
