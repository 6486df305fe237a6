"""The speed table of the README. Every ratio comes from alternating measurements in this one run.

make bench        (installs PyTorch, which the library itself never needs)
"""

from __future__ import annotations

import platform
from datetime import date

from rich.console import Console
from rich.table import Table

from lopsided.engines import devices

devices.setup(1 << 20)

import jax  # noqa: E402

from benchmarks import attention, data, heat_map, language, overhead, perceptron, population, transformer  # noqa: E402
from lopsided.price.peak import peaks  # noqa: E402


def main() -> None:
    cores = len(jax.devices())
    peak = max(found.rate for found in peaks() if found.precision == "float32")
    table = Table(
        title=f"{cores} x {platform.machine()} {jax.devices()[0].platform}, {date.today()}, JAX {jax.__version__}"
    )
    for column in ("work", "lopsided", "against", "ratio (lowest … highest)", "at least"):
        table.add_column(column)
    console = Console(width=150)
    parts = (
        perceptron.rows,
        transformer.rows,
        attention.rows,
        overhead.rows,
        population.rows,
        data.rows,
        language.rows,
        heat_map.rows,
    )
    for rows in parts:
        for row in rows(peak) if rows in (perceptron.rows, heat_map.rows) else rows():
            console.print(" · ".join(row))  # as soon as it is measured
            table.add_row(*row)
    console.print(table)
    console.print(f"GEMM peak of this run: {peak / 1e9:.0f} GFLOP/s in float32 on all cores, by the best library.")


if __name__ == "__main__":
    main()
