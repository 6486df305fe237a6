"""What a class computes that has no file: a notebook's, or one typed at a prompt. Its code is read from memory, with
every helper and constant that it uses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Set
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType, ModuleType
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
PLAIN = (str, bytes, int, float, complex, bool, type(None))
"""Values whose text says all of them."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class LiveCode:
    """Follows objects to all that their code uses. `texts` is what was found; `filed` are functions and classes that
    have a file, in the order in which they were met."""

    def __init__(self, has_file: Callable[[Any], Any], is_own: Callable[[str], bool]):
        """`has_file`: whether a class or function was written in a file; `is_own`: whether a module of that name is
        somebody's own, which may be edited, and no installed one."""
        self.texts: list[str] = []
        self.filed: list[Any] = []
        self._has_file, self._is_own, self._seen = has_file, is_own, set[int]()

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
        elif isinstance(value, MethodType):
            self.take(name, value.__func__)
            self.take(f"{name} self", value.__self__)
        elif isinstance(value, partial):
            self.take(name, value.func)
            self.take(f"{name} arguments", (value.args, value.keywords))
        elif wrapped := getattr(value, "__wrapped__", None):  # jax.jit, functools.cache
            self.take(name, wrapped)
        else:
            self.texts.append(f"{name}: {_constant(value)}")
            self._take_inside(name, value)

    def _take_inside(self, name: str, value: Any) -> None:
        """What the text of a value does not tell: functions and objects in containers, the code behind an object of
        somebody's own class."""
        if isinstance(value, dict | list):  # of somebody's, which may hold itself; tuples are made on the way
            if id(value) in self._seen:
                return
            self._seen.add(id(value))
        if isinstance(value, dict):
            inner = list(value.items())
        elif isinstance(value, set | frozenset):
            inner = list(enumerate(sorted(value, key=_constant)))
        elif isinstance(value, list | tuple):
            inner = list(enumerate(value))
        elif self._is_own(type(value).__module__) and id(value) not in self._seen:
            self._seen.add(id(value))
            self.take(f"{name} class", type(value))
            inner = sorted(getattr(value, "__dict__", {}).items())
        else:
            return
        for key, each in inner:
            if not isinstance(each, PLAIN):
                self.take(f"{name}[{_constant(key)}]", each)
            elif not isinstance(value, dict | list | tuple | set | frozenset):
                self.texts.append(f"{name}.{key}: {_constant(each)}")

    def _take_module(self, name: str, module: ModuleType, used: Set[str]) -> None:
        """Add a module's name, and of somebody's own module the attributes that code which names `used` can mean."""
        self.texts.append(f"{name}: module {module.__name__}")
        if not self._is_own(module.__name__):
            return
        for attribute in sorted(used & vars(module).keys() - {name}):
            value = vars(module)[attribute]
            if isinstance(value, ModuleType):
                self._take_module(f"{name}.{attribute}", value, used - {attribute})
            else:
                self.take(f"{name}.{attribute}", value)

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
        names = _used(function.__code__)
        for used in sorted(names & function.__globals__.keys()):
            value = function.__globals__[used]
            if isinstance(value, ModuleType):
                self._take_module(used, value, names)
            else:
                self.take(used, value)


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
