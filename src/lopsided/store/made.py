"""What a part says of how its rows were made, checked where a part is first read."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Made(BaseModel):
    """Provenance (`lopsided.core.provenance`): readers sort, add up and print these fields, which any writer of the
    folder may have put there. Parts of earlier days lack some."""

    model_config = ConfigDict(strict=True, extra="allow")

    finished: str
    device: str
    software: dict[str, str]
    machine: str = ""
    command: str = ""
    execution: dict[str, Any] = {}
    seconds: dict[str, Finite] = {}
    operations: Finite | None = None


class _Merged(BaseModel):
    """Provenance of a part that others were merged into."""

    model_config = ConfigDict(strict=True, extra="forbid")

    merged: list[Made]


_READER: TypeAdapter[Made | _Merged] = TypeAdapter(Made | _Merged)


def require_made(found: Any) -> None:
    """Raises `ValueError` for what is no provenance."""
    _READER.validate_python(found)
