"""Strict, frozen configurations with one canonical JSON, a content hash, and *traced* fields.

A **traced** field is only a number to the compiled program: a learning rate, an exponent, a data-set size. Members of
one ensemble may differ in their traced fields; whatever else differs (a width, a batch size, a task) changes the
program and splits the ensemble. `Config.static_key()` is what must be equal, `Config.traced_values()` is what may
differ, and `config.with_traced(values)` is the same configuration with these values, which may be JAX tracers: its
methods work on them exactly as on Python numbers.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from lopsided.core import own_files
from lopsided.core.errors import InputError, unknown


class _TracedMark:
    """Marks a field as traced (see the module's docstring)."""


TRACED = _TracedMark()
"""Put it on the outside: `Annotated[Size | None, TRACED]`; inside a union it would not be seen."""
TracedFloat = Annotated[float, TRACED]
TracedInt = Annotated[int, TRACED]
DIGITS = 12
"""Significant digits of every number in a configuration. A computed setting, d ** -0.5, has another last digit on
another processor; it would be another setting there, and rows of one machine would not be found on the next."""
Rate = Annotated[float, TRACED, Field(gt=0, le=1e6)]
"""A positive traced number, for example a learning rate."""


class Config(BaseModel):
    """Base of everything that a user can configure: frozen, unknown keys and non-finite numbers refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        strict=False,
        ignored_types=(property,),
        arbitrary_types_allowed=False,
    )

    later: ClassVar[frozenset[str]] = frozenset()
    """Fields that came after the first version. At their defaults they are left out of the canonical JSON, so that a
    new setting changes no hash and no stored run is lost."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises `InputError`: what names stored rows does not change."""
        if name in type(self).model_fields:
            kind = type(self).__name__
            raise InputError(f"{name}: a {kind} does not change; take another one: .replace({name}={value!r})")
        super().__setattr__(name, value)

    @field_validator("*", mode="before")
    @classmethod
    def _numbers_only(cls, value: Any, info: ValidationInfo) -> Any:
        """A text, or true, is no number, whatever it says: `"500"` for steps is a slip that JSON makes easy."""
        if isinstance(value, str | bool) and _is_number(cls.model_fields[info.field_name or ""].annotation):
            raise InputError(f"{value!r} is a {'text' if isinstance(value, str) else 'truth value'}, no number")
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _to_digits(cls, value: Any) -> Any:
        return _rounded(value)

    @classmethod
    def parse(cls, data: object) -> Self:
        """Validate `data`; every refusal is an `InputError` that names field, value and what is valid."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise _one_line(cls.__name__, error) from None

    def __init__(self, **data: Any):
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise _one_line(type(self).__name__, error) from None

    def replace(self, changes: dict[str, Any] | None = None, **fields: Any) -> Self:
        """This configuration with other values, validated. `changes` names inner fields by path:
        `spec.replace({"optimizer.lr": 0.1}, steps=500)`. Raises `InputError` for an unknown field or a bad value."""
        data = {name: getattr(self, name) for name in type(self).model_fields}
        inner: dict[str, dict[str, Any]] = {}
        for path, value in (changes or {}).items():
            first, _, rest = path.partition(".")
            if rest:
                inner.setdefault(first, {})[rest] = value
            else:
                fields = {**fields, first: value}
        for name, below in inner.items():
            part = data.get(name)
            if not isinstance(part, Config):
                parts = [field for field, value in data.items() if isinstance(value, Config)]
                raise InputError(f"replace: {unknown('part', name, parts)}")
            data[name] = part.replace(below)
        return type(self)(**{**data, **fields})

    def canonical_json(self) -> str:
        """One JSON text per meaning: sorted keys, no spaces, defaults written out (see `later`), `-0.0` as `0.0`."""
        data = _without_later(self, self.model_dump(mode="json"))
        return json.dumps(_positive_zero(data), sort_keys=True, separators=(",", ":"), allow_nan=False)

    def content_hash(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()[:16]

    def traced_values(self) -> dict[str, Any]:
        """The numbers that may differ between members of one ensemble, as a nested dict."""
        found: dict[str, Any] = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if _is_traced(field.metadata) and value is not None:
                found[name] = value
            elif isinstance(value, Config) and (nested := value.traced_values()):
                found[name] = nested
            elif isinstance(value, tuple) and (
                many := {
                    str(i): d
                    for i, item in enumerate(value)
                    if isinstance(item, Config) and (d := item.traced_values())
                }
            ):
                found[name] = many
        return found

    def static_key(self) -> str:
        """Canonical JSON with every traced field blanked: equal keys can share one compiled program."""

        def blank(value: Any, traced: dict[str, Any]) -> Any:
            if isinstance(value, list):
                return [blank(v, traced.get(str(i), {})) for i, v in enumerate(value)]
            if not isinstance(value, dict):
                return value
            return {
                k: (blank(v, traced[k]) if isinstance(traced[k], dict) else "traced") if k in traced else v
                for k, v in value.items()
            }

        return json.dumps(blank(self.model_dump(mode="json"), self.traced_values()), sort_keys=True)

    def with_traced(self, values: dict[str, Any]) -> Self:
        """This configuration with `values` (JAX tracers allowed) in its traced fields; not validated."""
        update: dict[str, Any] = {}
        for name, value in values.items():
            own = getattr(self, name)
            if isinstance(own, Config):
                update[name] = own.with_traced(value)
            elif isinstance(own, tuple) and isinstance(value, dict):
                update[name] = tuple(
                    item.with_traced(value[str(i)]) if str(i) in value else item for i, item in enumerate(own)
                )
            else:
                update[name] = value
        found = self.model_copy(update=update)
        for name in set(vars(found)) - set(type(self).model_fields):  # cached properties belong to the old values
            del vars(found)[name]
        return found


class Part(Config):
    """A part of a spec that is chosen by name; each concrete class has `name: Literal["..."] = "..."`."""

    name: str

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Keep the file of a part from outside this package as it is now, while it is imported (`core.code`)."""
        super().__pydantic_init_subclass__(**kwargs)
        if not cls.__module__.startswith("lopsided."):
            own_files.remember(cls.__module__)


def _is_number(annotation: Any) -> bool:
    """Whether a field takes numbers and nothing else (or None)."""
    choice = [each for each in (get_args(annotation) or (annotation,)) if each is not type(None)]
    plain = [get_args(each)[0] if get_origin(each) is Annotated else each for each in choice]
    return bool(plain) and all(each in (int, float) for each in plain)


def _is_traced(metadata: list[Any]) -> bool:
    return any(isinstance(m, _TracedMark) for m in metadata)


def _without_later(config: Any, data: Any) -> Any:
    """`data`, the JSON form of `config`, without later fields that have their defaults."""
    if isinstance(config, tuple):
        return [_without_later(item, d) for item, d in zip(config, data, strict=True)]
    if not isinstance(config, Config):
        return data
    fields = type(config).model_fields
    kept = [n for n in data if not (n in config.later and getattr(config, n) == fields[n].get_default())]
    return {name: _without_later(getattr(config, name), data[name]) for name in kept}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, tuple):
        return tuple(_rounded(item) for item in value)
    return value


def _positive_zero(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _positive_zero(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_positive_zero(v) for v in value]
    return 0.0 if isinstance(value, float) and value == 0 else value


def _one_line(owner: str, error: ValidationError) -> InputError:
    """The first thing wrong, in one line."""
    first = error.errors()[0]
    inner = first.get("ctx", {}).get("error")
    where = ".".join(str(part) for part in first["loc"])
    if isinstance(inner, InputError):
        return InputError(f"{where}: {inner}" if where else str(inner))
    if first["type"] == "extra_forbidden":
        return InputError(f"{owner}: {unknown('key', where, _fields_of(error.title, owner))}")
    if first["type"] == "missing":
        missing = [".".join(map(str, each["loc"])) for each in error.errors() if each["type"] == "missing"]
        return InputError(f"{owner}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    value = repr(first.get("input"))
    value = value if len(value) <= 80 else value[:77] + "..."
    return InputError(f"{owner}.{where or '?'} = {value}: {first['msg'].removeprefix('Value error, ')}")


def _fields_of(title: str, owner: str) -> list[str]:
    def walk(cls: type) -> list[type]:
        return [cls, *(s for sub in cls.__subclasses__() for s in walk(sub))]

    return next((list(c.model_fields) for c in walk(Config) if c.__name__ in (title, owner)), [])
