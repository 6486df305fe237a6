"""Answers for programs: JSON without NaN or infinity, which are no JSON."""

from __future__ import annotations

import json
import math
import sys
from typing import Any


def print_json(document: Any) -> None:
    """One JSON document on standard output, nothing else."""
    json.dump(_finite(document), sys.stdout, indent=1, allow_nan=False, default=str)
    sys.stdout.write("\n")


def _finite(value: Any) -> Any:
    """The same with null for what is not a finite number."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
