"""Where the time of runs went, in words. Apart from other words: it reads the store, which takes the laboratory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lopsided.report.text import duration
from lopsided.store.status import TIMES


def took(times: Mapping[str, Any]) -> str:
    """Where the time of parts went: `40 s: compile 31 %, steps 69 %; 92 GFLOP/s`. Nothing for parts that do not say."""
    seconds = {kind: times[kind] for kind in TIMES}
    total, rate = sum(seconds.values()), times["rate"]
    if not total:
        return ""
    shares = ", ".join(f"{kind} {value / total:.0%}" for kind, value in seconds.items() if value >= 0.005 * total)
    return f"{duration(total)}: {shares}" + (f"; {rate / 1e9:,.3g} GFLOP/s" if rate else "")
