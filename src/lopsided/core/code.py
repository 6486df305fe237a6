"""Which version of the code computes: a digest of what a spec's rows depend on, and of nothing else.

A comment, a docstring, a file that moves or the code of a part that the spec does not name changes nothing; a changed
constant does, wherever the parts' code reaches it: in this package, in somebody's own file and the files that it
imports, in a notebook.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lopsided.core import own_files, registry
from lopsided.core.config import Config, Part
from lopsided.core.live_code import PLAIN, LiveCode
from lopsided.core.source import Place, Sources
from lopsided.core.spec import Spec

COMPUTES = (
    "core",
    "engines",
    "models",
    "numerics",
    "optim",
    "plans",
    "probes",
    "shape",
    "skills",
    "tasks",
    "text",
    "theory",
)
"""Packages that are followed. What lies outside them shows, stores and judges rows; it makes none."""
PLUMBING = frozenset(
    f"lopsided.core.{name}"
    for name in ("code", "errors", "json_text", "own_files", "progress", "provenance", "registry", "telling")
)
"""Modules that find parts by name, refuse, and tell: no number comes from them."""
VERSION = "ast-1"
"""Begins every digest, so that rows of another rule are known as such (`store.tables`)."""
# As files are found: an environment may be reached through a link.
_LIBRARIES = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def code_digest(spec: Spec) -> str:
    """`ast-1:` and 16 hexadecimal digits, of all that computes this spec's rows."""
    return _of(_computes(spec))


def code_digests(specs: Iterable[Spec]) -> dict[str, str]:
    """`code_digest` of each spec, by content hash; code that several specs share is read once."""
    classes = {spec.content_hash(): _computes(spec) for spec in specs}
    digests = {each: _of(each) for each in set(classes.values())}
    return {name: digests[each] for name, each in classes.items()}


def _computes(spec: Spec) -> frozenset[type]:
    """The classes that compute a spec's rows."""
    engine = registry.engine_of(spec)
    found: set[type] = {type(each) for each in _configs(spec)} | {engine}
    # An engine of theory takes its rows from the task's prediction, which no field of a spec names.
    if not engine.trains and (prediction := registry.registered("prediction").get(spec.task.name)):
        found.add(prediction)
    return frozenset(found)


def parts_digest(*parts: Part) -> str:
    """`ast-1:` and 16 hexadecimal digits, of all that these parts compute."""
    return _of(frozenset(type(each) for part in parts for each in _configs(part)))


def function_digest(function: Any) -> str:
    """`ast-1:` and 16 hexadecimal digits, of a function (or a method, a partial, an object that is called) and of all
    that its code reaches in files that are no library's, with the plain values that it was made with."""
    live = LiveCode(own_files.file_of, _is_own)
    live.take("function", function)
    # A file's definitions are read by their outermost name, so two inner functions of one have to be told apart here.
    made = inspect.getclosurevars(function).nonlocals if inspect.isfunction(function) else {}
    plain = {name: value for name, value in made.items() if isinstance(value, PLAIN)}
    return _said([*_followed(live), getattr(function, "__qualname__", ""), repr(sorted(plain.items()))])


def own_digest(*parts: Part) -> str:
    """`parts_digest` of those parts that live outside this package; empty where none does. Their code may change while
    a process runs, that of this package may not: `look_again` says when."""
    own = [part for part in parts if not _inside(type(part))]
    if not own:
        return ""
    classes = frozenset(type(each) for part in own for each in _configs(part))
    if classes not in _OWN:
        _OWN[classes] = _of(classes)
    return _OWN[classes]


# A digest of somebody's own code takes 15 ms, and a run asks for the program of every spec at every report.
_OWN: dict[frozenset[type], str] = {}


def look_again() -> None:
    """Forget what `own_digest` found: a run begins, before which files and notebooks may have changed."""
    _OWN.clear()


def outside(spec: Spec) -> list[str]:
    """Names of the files of parts that live outside this package; of a class without a file, its own."""
    parts = [spec.task, spec.skills, spec.model, spec.plan, spec.optimizer, *spec.probes]
    classes = {type(part) for part in parts if not _inside(type(part))}
    return sorted({Path(file).name if (file := own_files.file_of(cls)) else cls.__qualname__ for cls in classes})


def _configs(value: Any) -> Iterator[Config]:
    """A configuration and all that it is made of."""
    if isinstance(value, Config):
        yield value
        value = [getattr(value, name) for name in type(value).model_fields]
    if isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from _configs(each)


def _of(classes: frozenset[type]) -> str:
    return _of_package(classes) if all(map(_inside, classes)) else _of_any(classes)


@cache
def _of_package(classes: frozenset[type]) -> str:
    return _said([_package().digest(map(_place, classes))])


def _of_any(classes: Iterable[type]) -> str:
    """Digest of classes of which some live outside this package. No part of it is kept from one call to the next: files
    and notebooks change while a process runs."""
    live = LiveCode(own_files.file_of, _is_own)
    for cls in sorted(classes, key=lambda each: each.__qualname__):
        live.take("part", cls)
    return _said(_followed(live))


def _followed(live: LiveCode) -> list[str]:
    """Digests of what was met in files, and of what was read from memory."""
    sources = _package().with_own(_read_own)
    return [sources.digest(map(_place, live.filed)), live.digest()]


def _said(digests: Sequence[str]) -> str:
    return f"{VERSION}:{hashlib.sha256(' '.join(digests).encode()).hexdigest()[:16]}"


def _place(thing: Any) -> Place:
    return Place(thing.__module__, thing.__qualname__.partition(".")[0])


def _inside(cls: type) -> bool:
    return cls.__module__.startswith("lopsided.")


@cache
def _package() -> Sources:
    return Sources(_read_package, _is_package, _resolve, _tables)


def _read_package(name: str) -> str | None:
    first, _, rest = name.partition(".")
    if first != "lopsided" or rest.partition(".")[0] not in COMPUTES or name in PLUMBING:
        return None
    root = Path(__file__).resolve().parent.parent.joinpath(*rest.split("."))
    file = root / "__init__.py" if root.is_dir() else root.with_suffix(".py")
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _read_own(name: str) -> str | None:
    """The source of a module that is neither lopsided's nor of the standard library nor of an installed package, as it
    was when this process imported it."""
    file = _own_file(name)
    return None if file is None else own_files.text_of(file, name)


def _own_file(name: str) -> Path | None:
    """The file of a module that is neither lopsided's nor of the standard library nor of an installed package."""
    if name.partition(".")[0] == "lopsided":
        return None
    file = _origin(name)
    # Installed packages change by version, not by editing, and following them would end in C.
    if file is None or file.suffix != ".py" or _INSTALLED.intersection(file.parts):
        return None
    return None if any(file.is_relative_to(folder) for folder in _LIBRARIES) else file


def _is_own(name: str) -> bool:
    """Whether a module may be edited: one that has no file, as a notebook's, or a file of somebody's own."""
    if name in sys.builtin_module_names or name.partition(".")[0] == "lopsided":
        return False
    return _own_file(name) is not None or getattr(sys.modules.get(name), "__file__", None) is None


def _origin(name: str) -> Path | None:
    # What was imported is what computes, wherever a search would find that name by now.
    module = sys.modules.get(name)
    if module is not None:
        file = getattr(module, "__file__", None)
        return Path(file).resolve() if file else None
    try:
        found = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(found.origin).resolve() if found and found.origin and found.has_location else None


def _is_package(name: str) -> bool:
    return hasattr(sys.modules.get(name), "__path__")


def _resolve(dotted: str) -> Place | None:
    """Where `lopsided.part.Task` is defined, and other names that lead through this package's upper parts."""
    first, *rest = dotted.split(".")
    # Only what is imported by now: to ask for a digest must not run code.
    thing: Any = sys.modules.get(first) if first == "lopsided" else None
    for name in rest:
        thing = getattr(thing, name, None)
    return _place(thing) if inspect.isclass(thing) or inspect.isfunction(thing) else None


@cache
def _tables(package: str) -> str:
    """Digest of a package's files that are no Python."""
    root = Path(__file__).resolve().parent.parent.joinpath(*package.split(".")[1:])
    files = sorted(file for file in root.glob("*") if file.is_file() and file.suffix != ".py")
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()
