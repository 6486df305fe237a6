"""Folder-scan registry: adding a task, model, plan, probe, optimizer or recipe is adding one file.

Every public module of a kind's folder is imported (an import error is an error) and contributes its concrete
subclasses of the kind's base that carry a `name`. Nothing has to be listed anywhere.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any

from lopsided.core.errors import InputError, unknown

KINDS = {
    "task": ("lopsided.tasks", "Task"),
    "skills": ("lopsided.skills", "Skills"),
    "model": ("lopsided.models", "Model"),
    "plan": ("lopsided.plans", "Plan"),
    "optimizer": ("lopsided.optim", "Optimizer"),
    "probe": ("lopsided.probes", "Probe"),
    "recipe": ("lopsided.recipes", "Recipe"),
}


def name_of(cls: type) -> str:
    """The name a user writes: the default of the class's `name` field, or its `name` attribute."""
    fields = getattr(cls, "model_fields", {})
    return fields["name"].default if "name" in fields else cls.name  # type: ignore[attr-defined]


@cache
def registered(kind: str) -> dict[str, type]:
    """All concrete classes of a kind, by name, sorted. Two classes with one name are an error."""
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
            if not any(base.__name__ == base_name for base in cls.__mro__[1:]):
                continue
            name = name_of(cls)
            if name in found:
                raise RuntimeError(f"two {kind}s are named {name!r}: {found[name]} and {cls}")
            found[name] = cls
    return dict(sorted(found.items()))


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
    return lookup(kind, data["name"]).parse(data)  # type: ignore[attr-defined]
