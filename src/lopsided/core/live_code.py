"""What a class computes that has no file: a notebook's, or one typed at a prompt. Its code is read from memory, with
every helper and constant that it uses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

PLUMBING = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__qualname__",
    "__doc__",
    "__firstlineno__",
    "__static_attributes__",
}
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class LiveCode:
    """Follows objects to all that their code uses. `texts` is what was found; `filed` are functions and classes that
    have a file, in the order in which they were met."""

    def __init__(self, has_file: Any):
        self.texts: list[str] = []
        self.filed: list[Any] = []
        self._has_file, self._seen = has_file, set[int]()

    def digest(self) -> str:
        """64 hexadecimal digits of `texts`."""
        return hashlib.sha256("\n".join(self.texts).encode()).hexdigest()

    def take(self, name: str, value: Any) -> None:
        """Add an object under the name by which code knows it."""
        if isinstance(value, ModuleType):
            self.texts.append(f"{name}: module {value.__name__}")
        elif isinstance(value, FunctionType | type) and self._has_file(value):
            if id(value) not in self._seen:
                self._seen.add(id(value))
                self.filed.append(value)
        elif isinstance(value, FunctionType):
            self._take_function(name, value)
        elif isinstance(value, type):
            self._take_class(name, value)
        elif wrapped := getattr(value, "__wrapped__", None):  # jax.jit, functools.cache
            self.take(name, wrapped)
        else:
            self.texts.append(f"{name}: {_constant(value)}")

    def _take_class(self, name: str, cls: type) -> None:
        if id(cls) in self._seen or cls is object:
            return
        self._seen.add(id(cls))
        for base in cls.__bases__:
            self.take(f"{name} base", base)
        # By their text: under `from __future__ import annotations` they are nothing else.
        annotated = {key: str(value) for key, value in vars(cls).get("__annotations__", {}).items()}
        self.texts.append(f"{name}: class {sorted(annotated.items())}")
        fields = getattr(cls, "model_fields", {})
        for key, field in sorted(fields.items()):
            self.texts.append(f"{name}.{key}: {_constant(field.default)} {_constant(field.metadata)}")
        for key, member in _members(cls):
            self.take(f"{name}.{key}", member)

    def _take_function(self, name: str, function: FunctionType) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self.texts.append(f"{name}: {_code(function.__code__)}")
        self.take(f"{name} defaults", (function.__defaults__, function.__kwdefaults__))
        for cell, value in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if cell != "__class__":  # which `super()` adds: the class that is being read
                self.take(f"{name} {cell}", value.cell_contents)
        for used in sorted(_used(function.__code__)):
            if used in function.__globals__:
                self.take(used, function.__globals__[used])


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """A class's own methods, the functions behind its properties, and its constants, by name."""
    for key, member in sorted(vars(cls).items()):
        if isinstance(member, property):
            member = member.fget
        elif isinstance(member, cached_property):
            member = member.func
        elif isinstance(member, classmethod | staticmethod):
            member = member.__func__
        # What pydantic and abc add is no code of the class, and changes with their versions.
        made = key.startswith(
            ("__pydantic", "__abstract", "_abc", "model_", "__private", "__class_vars", "__signature")
        )
        if key not in PLUMBING and key != "__annotations__" and not made:
            yield key, member


def _used(code: CodeType) -> set[str]:
    """Names that code looks up, its inner functions' included."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_used, inner))


def _code(code: CodeType) -> str:
    """A function's bytecode, names and constants: no file name and no line numbers."""
    constants = [_code(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants[_documented(code) :]}"


def _documented(code: CodeType) -> int:
    """1 if the first constant is the docstring, which computes nothing. (A function without one has None there.)"""
    return 1 if code.co_consts and isinstance(code.co_consts[0], str | None) and code.co_name != "<lambda>" else 0


def _constant(value: Any) -> str:
    """A value as text that is the same in every process: sets in a fixed order, arrays by their bytes, no addresses."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_constant, value)))}}}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(_constant, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_constant(k)}: {_constant(v)}' for k, v in value.items())}}}"
    if hasattr(value, "__array__") and not isinstance(value, str | bytes):
        array = np.asarray(value)
        if array.dtype != object:
            return f"array {array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    return ADDRESS.sub("", repr(value))
