"""A field that holds one of several classes: how it is read, and what the JSON schema says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from lopsided.core import registry

_INSIDE: ContextVar[frozenset[str]] = ContextVar("inside", default=frozenset())
"""Kinds whose schema is being written."""


class OneOf:
    """Put it into `Annotated`. `build` reads an object, its JSON, or (of a kind) its bare name; the JSON schema lists
    `classes()`, those of a kind told apart by their `name`."""

    def __init__(
        self, build: Callable[[Any], Any], classes: Callable[[], Mapping[str, Any]], named: bool, kind: str = ""
    ):
        """`kind`: classes of it may have fields of it, as the product of two laws has."""
        self.build, self.classes, self.named, self.kind = build, classes, named, kind

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.build, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if self.kind and self.kind in _INSIDE.get():  # a law inside a law: by its name alone, or there would be no end
            names = {"enum": list(self.classes())}
            return {"anyOf": [{"type": "object", "required": ["name"], "properties": {"name": names}}, names]}
        token = _INSIDE.set(_INSIDE.get() | {self.kind})
        try:
            shapes = {name: handler(cls.__pydantic_core_schema__) for name, cls in self.classes().items()}
        finally:
            _INSIDE.reset(token)
        if not self.named:
            return {"anyOf": list(shapes.values())}
        named = [{**shape, "required": sorted({"name", *shape.get("required", ())})} for shape in shapes.values()]
        return {"anyOf": [{"oneOf": named, "discriminator": {"propertyName": "name"}}, {"enum": list(shapes)}]}


def part_of(kind: str) -> OneOf:
    """Any registered class of a kind."""
    return OneOf(lambda data: registry.build(kind, data), lambda: registry.registered(kind), named=True, kind=kind)
