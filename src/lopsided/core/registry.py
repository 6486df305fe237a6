"""Folder-scan registry: adding a task, model, plan, engine, probe, prediction, optimizer or recipe is adding one file.

Every public module of a kind's folder is imported (an import error is an error) and contributes its concrete
subclasses of the kind's base that carry a `name`; a recipe's module contributes its `recipe`. Nothing has to be listed
anywhere. Parts that live outside this package are added with `register`, or by an installed package that names them in
an entry point group: `lopsided.tasks`, `lopsided.models`, ..., `lopsided.recipes`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from lopsided.core.errors import InputError, unknown
from lopsided.core.telling import tell

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
Part = TypeVar("Part")
_OUTSIDE: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


def name_of(part: Any) -> str:
    """The name a user writes: the default of the class's `name` field, its `name` attribute, or a recipe's name."""
    if not inspect.isclass(part):
        return part.name
    fields = getattr(part, "model_fields", {})
    return fields["name"].default if "name" in fields else part.__dict__["name"]


def register(part: Part) -> Part:
    """Make a class (or a `Recipe`) from outside this package known under its name; use it as a decorator.

    Raises `InputError` if it is of no known kind, is abstract, or takes a name that another part has.
    """
    kind = _kind_of(part)
    name, known = name_of(part), registered(kind).get(name_of(part))
    if known is not None and _where(known) != _where(part):
        raise InputError(f"register: a {kind} named {name!r} exists: {_where(known)}")
    _OUTSIDE[kind][name] = part
    return part


def _kind_of(part: Any) -> str:
    if _is_recipe(part):
        return "recipe"
    if not inspect.isclass(part):
        raise InputError(f"register: {part!r} is neither a class nor a Recipe")
    kind = next((k for k, (_, base) in KINDS.items() if _has_base(part, base)), None)
    if kind is None:
        bases = ", ".join(base for _, base in KINDS.values())
        raise InputError(f"register: {part.__name__} has none of the bases {bases}")
    if inspect.isabstract(part):
        missing = ", ".join(sorted(getattr(part, "__abstractmethods__", ())))
        raise InputError(f"register: {part.__name__} lacks {missing}")
    return kind


def _is_recipe(part: Any) -> bool:
    """Whether this is a `lopsided.claims.recipe.Recipe`, which is made of parts and so lies above this module."""
    return type(part).__name__ == "Recipe" and type(part).__module__ == "lopsided.claims.recipe"


def _where(part: Any) -> str:
    return f"recipe {part.name}" if _is_recipe(part) else f"{part.__module__}.{part.__qualname__}"


def registered(kind: str) -> dict[str, Any]:
    """All concrete classes of a kind (all `Recipe`s) by name, sorted."""
    return dict(sorted((_inside(kind) | _installed(kind) | _OUTSIDE.get(kind, {})).items()))


@cache
def _inside(kind: str) -> dict[str, Any]:
    """Parts of this package by name. Two with one name are an error."""
    package_name, base_name = KINDS[kind]
    package = importlib.import_module(package_name)
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package_name}.{info.name}")
        parts = [module.recipe] if kind == "recipe" else _classes(module, base_name)
        for part in parts:
            name = name_of(part)
            if name in found:
                raise RuntimeError(f"two {kind}s are named {name!r}: {found[name]} and {part}")
            found[name] = part
    return found


def _classes(module: Any, base_name: str) -> list[type]:
    """The concrete public classes of that base that a module defines."""
    return [
        cls
        for cls in vars(module).values()
        if inspect.isclass(cls)
        and cls.__module__ == module.__name__
        and not inspect.isabstract(cls)
        and not cls.__name__.startswith("_")
        and _has_base(cls, base_name)
    ]


@cache
def _installed(kind: str) -> dict[str, Any]:
    """Parts that installed packages name in an entry point group. One that cannot be loaded is named and left out."""
    found: dict[str, Any] = {}
    for point in entry_points(group=KINDS[kind][0]):
        try:
            part = point.load()
            if _kind_of(part) != kind:
                raise InputError(f"is a {_kind_of(part)}")
            if name_of(part) in _inside(kind):
                raise InputError(f"a {kind} of that name is lopsided's own")
            found[name_of(part)] = part
        except Exception as error:  # somebody else's package must not stop everything
            tell(f"{point.group}: {point.value}: left out ({error})")
    return found


def _has_base(cls: type, base_name: str) -> bool:
    return any(base.__name__ == base_name and base.__module__.startswith("lopsided.core") for base in cls.__mro__[1:])


def lookup(kind: str, name: object) -> Any:
    """The class (or `Recipe`) of that name, or an `InputError` with the nearest name."""
    if kind == "recipe" and isinstance(name, str) and name not in _OUTSIDE[kind] and (found := _recipe(name)):
        return found
    found = registered(kind)
    if not isinstance(name, str) or name not in found:
        raise unknown(kind, name, found)
    return found[name]


def _recipe(name: str) -> Any:
    """This package's recipe of that name, from its own module: the others are not imported for it."""
    module = f"{KINDS['recipe'][0]}.{name.replace('-', '_')}"
    if not name.replace("-", "_").isidentifier() or name.startswith("_") or find_spec(module) is None:
        return None
    found = importlib.import_module(module).recipe
    return found if found.name == name else None


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
