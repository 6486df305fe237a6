"""The JSON Schema of decided claims: of `lopsided check --json`, and of the results files that it makes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from lopsided.claims.counts import Counts
from lopsided.stats.verdict import Claim

DERIVED = {
    "rivals_disagree": {"type": "boolean", "description": "Whether a rival setting leads to another verdict."},
    "replicates": {
        "enum": ["fully", "in direction", "not", ""],
        "description": "Whether the paper's number is measured again; empty if there is none or nothing is decided.",
    },
    "seeds_needed": {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "description": "Seeds an arm that would probably decide an open claim.",
    },
}
"""What follows from a claim's fields, and stands beside them."""


OTHER = {
    "type": "object",
    "properties": {
        "run": {"type": "string"},
        "done": {"type": "integer"},
        "members": {"type": "integer"},
        "changes": {"type": "array", "items": {"type": "string"}},
        "where": {"type": "string", "description": "Where its verdicts are; empty for an unfinished run."},
    },
    "required": ["changes", "done", "members", "run", "where"],
    "additionalProperties": False,
}
"""A run that the claims are not of."""


def claims_schema() -> dict[str, Any]:
    """The schema of a whole document: claims, their counts, and the runs that they come from."""
    claim = TypeAdapter(Claim).json_schema(mode="serialization", ref_template="#/$defs/{model}")
    inner = claim.pop("$defs", {})
    claim["properties"] |= DERIVED
    claim |= {"required": sorted(claim["properties"]), "additionalProperties": False}
    counts = TypeAdapter(Counts).json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Claims as lopsided decides them",
        "type": "object",
        "properties": {
            "claims": {"type": "array", "items": {"$ref": "#/$defs/Claim"}},
            "counts": counts,
            "runs": {"type": "object", "description": "By recipe: scale, seeds, and what made the rows."},
            "others": {
                "type": "array",
                "description": "Runs of the folder that the claims are not of: unfinished ones (`done` is less than "
                "`members`), and those that were changed by hand; left out if there are none.",
                "items": OTHER,
            },
        },
        "required": ["claims", "counts", "runs"],
        "$defs": {**inner, "Claim": claim},
    }


def require_claims(claims: Iterable[Mapping[str, Any]]) -> None:
    """Raises `ValueError` for what are no claims as `Claim.as_json` writes them."""
    known, reader = {field.name for field in fields(Claim)}, TypeAdapter(list[Claim])
    reader.validate_python([{name: value for name, value in each.items() if name in known} for each in claims])


if __name__ == "__main__":
    Path("docs/claims.schema.json").write_text(json.dumps(claims_schema(), indent=1, ensure_ascii=False) + "\n")
