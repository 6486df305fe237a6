"""Folder-scan registry: adding a task, model, plan, engine, probe, prediction, optimizer or recipe is adding one file.

Every public module of a kind's folder is imported (an import error is an error) and contributes its concrete
subclasses of the kind's base that carry a `name`. Nothing has to be listed anywhere. Classes that live outside this
package are added with `register`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from lopsided.core.errors import InputError, unknown

if TYPE_CHECKING:
    from lopsided.core.engine import Engine
    from lopsided.core.spec import Spec

KINDS = {
    "task": ("lopsided.tasks", "Task"),
    "skills": ("lopsided.skills", "Skills"),
    "model": ("lopsided.models", "Model"),
    "plan": ("lopsided.plans", "Plan"),
    "optimizer": ("lopsided.optim", "Optimizer"),
    "probe": ("lopsided.probes", "Probe"),
    "engine": ("lopsided.engines", "Engine"),
    "prediction": ("lopsided.theory", "Prediction"),
    "recipe": ("lopsided.recipes", "Recipe"),
}
PARTS = ("task", "skills", "model", "plan", "optimizer", "probe")
"""The kinds that a spec is made of."""
Cls = TypeVar("Cls", bound=type)
_OUTSIDE: dict[str, dict[str, type]] = {kind: {} for kind in KINDS}


def name_of(cls: type) -> str:
    """The name a user writes: the default of the class's `name` field, or its `name` attribute."""
    fields = getattr(cls, "model_fields", {})
    return fields["name"].default if "name" in fields else cls.__dict__["name"]


def register(cls: Cls) -> Cls:
    """Make a class from outside this package known under its name; use it as a decorator.

    Raises `InputError` if the class is of no known kind, is abstract, or takes a name that another class has.
    """
    kind = next((k for k, (_, base) in KINDS.items() if _has_base(cls, base)), None)
    if kind is None:
        bases = ", ".join(base for _, base in KINDS.values())
        raise InputError(f"register: {cls.__name__} has none of the bases {bases}")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
        raise InputError(f"register: {cls.__name__} lacks {missing}")
    name = name_of(cls)
    known = registered(kind).get(name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InputError(f"register: a {kind} named {name!r} exists: {known.__module__}.{known.__qualname__}")
    _OUTSIDE[kind][name] = cls
    return cls


def registered(kind: str) -> dict[str, type]:
    """All concrete classes of a kind, by name, sorted."""
    return dict(sorted((_inside(kind) | _OUTSIDE.get(kind, {})).items()))


@cache
def _inside(kind: str) -> dict[str, type]:
    """Those of this package. Two classes with one name are an error."""
    package_name, base_name = KINDS[kind]
    package = importlib.import_module(package_name)
    found: dict[str, type] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package_name}.{info.name}")
        for cls in vars(module).values():
            if not (inspect.isclass(cls) and cls.__module__ == module.__name__ and not inspect.isabstract(cls)):
                continue
            if cls.__name__.startswith("_") or not _has_base(cls, base_name):
                continue
            name = name_of(cls)
            if name in found:
                raise RuntimeError(f"two {kind}s are named {name!r}: {found[name]} and {cls}")
            found[name] = cls
    return found


def _has_base(cls: type, base_name: str) -> bool:
    return any(base.__name__ == base_name and base.__module__.startswith("lopsided.core") for base in cls.__mro__[1:])


def lookup(kind: str, name: object) -> type:
    """The class of that name, or an `InputError` with the nearest name."""
    found = registered(kind)
    if not isinstance(name, str) or name not in found:
        raise unknown(kind, name, found)
    return found[name]


def build(kind: str, data: Any) -> Any:
    """`{"name": ..., field: ...}` (or a bare name, or an object already built) as the registered class."""
    if isinstance(data, str):
        data = {"name": data}
    if not isinstance(data, dict):
        return data
    if "name" not in data:
        raise InputError(f"{kind} needs a name. Valid: {', '.join(registered(kind))}.")
    cls: Any = lookup(kind, data["name"])
    return cls.parse(data)


def engine_of(spec: Spec) -> type[Engine]:
    """The engine that runs a spec."""
    engines: list[Any] = list(registered("engine").values())
    for engine in engines:
        if engine.accepts(spec):
            return engine
    raise InputError(f"plan {spec.plan.name!r}: no engine runs it; there are {', '.join(registered('engine'))}")
