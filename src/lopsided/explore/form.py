"""A form for a spec, from its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.core.registry import PARTS

PART_FIELDS = tuple(kind for kind in PARTS if kind != "probe")
"""Fields of a spec that hold one part each."""
EXAMPLE: dict[str, Any] = {
    "task": {"name": "sparse-parity", "d": 20, "k": 3},
    "model": {"name": "mlp", "width": 64},
    "plan": {"name": "fixed", "size": 1024, "batch": 64},
    "optimizer": {"name": "sgd", "lr": 0.5},
    "loss": "logistic",
    "steps": 2000,
    "evaluation": {"every": 50, "samples": 512},
}
"""A spec that takes a few seconds."""


class Field(NamedTuple):
    """One input."""

    path: str
    """Dotted, for example `task.d`."""
    kind: Literal["integer", "number", "boolean", "choice", "text", "json"]
    default: Any
    choices: Sequence[Any] = ()


@cache
def _schema() -> dict[str, Any]:
    from lopsided.core.spec import Spec

    return Spec.model_json_schema()


def names(kind: str) -> list[str]:
    """The parts of a kind."""
    return sorted(_shapes(kind))


def unknown_parts(spec: Mapping[str, Any]) -> str:
    """Which parts of a spec this process does not know, in words; nothing if it knows all."""
    named = {kind: (spec.get(kind) or {}).get("name") for kind in PART_FIELDS}
    return ", ".join(f"{kind} {name!r}" for kind, name in named.items() if name and name not in _shapes(kind))


def _shapes(kind: str) -> dict[str, Any]:
    shapes = [_resolved(shape) for shape in _schema()["properties"][kind]["anyOf"][0]["oneOf"]]
    return {shape["properties"]["name"]["const"]: shape for shape in shapes}


def _resolved(shape: Mapping[str, Any]) -> Mapping[str, Any]:
    name = shape.get("$ref", "").rpartition("/")[2]
    return {**_schema()["$defs"][name], **shape} if name else shape


def about(kind: str, name: str) -> str:
    """The first paragraph of a part's description."""
    return _shapes(kind)[name].get("description", "").split("\n\n")[0].replace("\n", " ")


def part_fields(kind: str, name: str) -> list[Field]:
    """The inputs of one part."""
    shape = _shapes(kind)[name]
    needed = set(shape.get("required", ()))
    return [
        _field(f"{kind}.{key}", value, key in needed) for key, value in shape["properties"].items() if key != "name"
    ]


def other_fields() -> list[Field]:
    """The inputs of everything that is no part."""
    properties, needed = _schema()["properties"], set(_schema()["required"])
    return [_field(key, value, key in needed) for key, value in properties.items() if key not in PART_FIELDS]


def _field(path: str, said: Mapping[str, Any], needed: bool) -> Field:
    said, default = _resolved(said), None if needed else said.get("default")
    if "enum" in said:
        return Field(path, "choice", default, choices=said["enum"])
    kind = said.get("type")
    if kind in ("integer", "number"):
        return Field(path, kind, default)
    if kind == "boolean":
        return Field(path, "boolean", default)
    if kind == "string":
        return Field(path, "text", default)
    return Field(path, "json", default)


def shown(field: Field, spec: Mapping[str, Any]) -> Any:
    """The value of an input for a spec as JSON: its own, or the default."""
    value: Any = spec
    for key in field.path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            value = field.default
            break
        value = value[key]
    if value is None and field.default is None:
        return ""  # an empty input is left to its default
    return json.dumps(value) if field.kind == "json" else value


def spec_of(parts: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    """The spec as JSON from the names of the parts and the inputs by path. Empty inputs are left to their defaults.
    Raises `InputError` for text that is no JSON."""
    found: dict[str, Any] = {kind: {"name": name} for kind, name in parts.items()}
    kinds = {field.path: field for kind, name in parts.items() for field in part_fields(kind, name)}
    kinds |= {field.path: field for field in other_fields()}
    for path, value in values.items():
        field = kinds.get(path)
        if field is None or value is None or value == "":
            continue
        if field.kind == "json":
            try:
                value = parsed(value)
            except ValueError:
                raise InputError(f"{path}: {value!r} is no JSON; valid is for example {_example(field)}") from None
        place = found
        *outer, last = path.split(".")
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = value
    return found


def _example(field: Field) -> str:
    return json.dumps(EXAMPLE.get(field.path, field.default))
