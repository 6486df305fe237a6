"""Flags that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

OUT = Path("lopsided-runs")
Out = Annotated[Path, Parameter(name="--out", help="Folder of the store.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON document on stdout, nothing else.")]
