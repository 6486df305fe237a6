"""Changes by hand: `--set key=value` for every arm, refused where the recipe compares what it would set, `--set
key*=2` for what every arm that has it has, and `--set "arm: key=value"` for one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lopsided.core.errors import InputError, unknown
from lopsided.core.json_text import parsed
from lopsided.core.spec import Spec
from lopsided.study.changes import AskedChange, change_of

ROUNDED = 0.05
"""How far a whole number that is multiplied may be from the product: two thirds of 256 samples are 171, but a hundredth
of a width of 32 would be 1, three times as much as was asked for."""
LARGEST_FACTOR = 1e100
"""No setting is multiplied by more; what a float or an array could hold ends soon after."""
DEEPEST = 20
"""Brackets inside one another that a value may have."""


def changed(recipe: str, arms: Mapping[str, Spec], overrides: Sequence[str]) -> tuple[dict[str, Spec], tuple[str, ...]]:
    """The arms with the changes, and the changes by which the run is named.

    0.02, 0.020 and 2e-2 are one change, one that changes nothing is none, and their order is kept only where it
    matters. Raises `InputError` for a change that the recipe cannot stand.
    """
    # What is said of one arm holds beside what is said of all, whichever comes first.
    said = sorted(map(plainly, overrides), key=lambda each: bool(change_of(each).arm))
    after = overridden(recipe, arms, said)

    def same(others: Sequence[str]) -> bool:
        try:
            return overridden(recipe, arms, others) == after
        except InputError:  # one of them needs another one before it
            return False

    for i in reversed(range(len(said))):
        fewer = said[:i] + said[i + 1 :]
        said = fewer if same(fewer) else said
    in_order = sorted(said, key=lambda each: (bool(change_of(each).arm), each))
    return after, tuple(in_order if same(in_order) else said)


def overridden(recipe: str, arms: Mapping[str, Spec], overrides: Sequence[str]) -> dict[str, Spec]:
    """The arms with the changes; raises `InputError` for a change that the recipe cannot stand."""
    if not overrides:
        return dict(arms)
    changes = list(map(change_of, overrides))
    for override, change in zip(overrides, changes, strict=True):
        _require_arm(override, change, arms)
    changed = {name: _applied(spec, overrides, name) for name, spec in arms.items()}
    for override, change in zip(overrides, changes, strict=True):
        if change.multiplies and all(apply(spec, [override], name) == spec for name, spec in arms.items()):
            _require_field(arms, change)
            raise InputError(f"--set {override}: no arm has a number there that it would change")
    _keep_apart(recipe, arms, changes)
    _still_different(arms, changed, overrides)
    return changed


def _applied(spec: Spec, overrides: Sequence[str], arm: str) -> Spec:
    """The spec of an arm with the changes. Raises `InputError` that names the arm."""
    try:
        return apply(spec, overrides, arm)
    except InputError as error:
        if repr(arm) in str(error):
            raise
        raise InputError(f"{error} (arm {arm!r})") from None


def _require_arm(override: str, change: AskedChange, arms: Mapping[str, Spec]) -> None:
    """Raise `InputError` where a change names no arm that there is."""
    if change.arm and change.arm not in arms:
        raise unknown("arm", change.arm, arms)
    if override.lstrip().startswith(":"):
        raise InputError(f"--set {override!r}: names no arm before the colon")
    name, colon, field = change.field.partition(":")
    if colon:
        sign = "*=" if change.multiplies else "="
        raise InputError(
            f'--set {override!r}: a space follows an arm\'s colon: --set "{name}: {field}{sign}{change.text}"'
        )
    if change.field != change.field.strip():
        raise InputError(f"--set {override!r}: no spaces around the last equality sign")


def apply(spec: Spec, overrides: Sequence[str], arm: str = "") -> Spec:
    """One spec with the changes; those of another arm than `arm` are left out."""
    data = spec.model_dump(mode="json")
    for override in overrides:
        change = change_of(override)
        if change.arm not in ("", arm):
            continue
        if not change.field:
            raise InputError(f"--set {override!r}: valid is key=value, for example optimizer.lr=0.01")
        if change.multiplies:
            _multiply(data, change.field, change.text)
            continue
        value = value_of(change.text)
        place, last = _place(data, change.field, arm)
        if isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
    return Spec.parse(data)


def _place(data: Any, path: str, arm: str) -> tuple[Any, str]:
    """The object that a path leads into, and its last word. Raises `InputError`, with the nearest name, for a field
    that is not there."""
    *parents, last = path.split(".")
    place = data
    for parent in parents:
        place = _entry(place, parent, path, arm)
    _entry(place, last, path, arm)
    return place, last


def _require_field(arms: Mapping[str, Spec], change: AskedChange) -> None:
    """Raise `InputError`, with the nearest name, if none of the arms has the field."""
    wrong: InputError | None = None
    for name, spec in arms.items():
        try:
            _place(spec.model_dump(mode="json"), change.field, change.arm and name)
            return
        except InputError as error:
            wrong = error
    if wrong is not None:
        raise wrong


def _multiply(data: Any, path: str, text: str) -> None:
    """Multiply a number, if it is there; a whole number stays one, of at least 1."""
    factor = value_of(text)
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor <= LARGEST_FACTOR:
        raise InputError(f"--set {path}*={text}: valid is a number above 0, at most {LARGEST_FACTOR:g}")
    *parents, last = path.split(".")
    place = data
    for parent in parents:
        place = place.get(parent) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        return
    number = place.get(last)
    if isinstance(number, float):
        place[last] = number * factor
    elif isinstance(number, int) and not isinstance(number, bool) and number:  # no times 0 steps are more
        place[last] = whole = max(round(number * factor), 1)
        if abs(whole / (number * factor) - 1) > ROUNDED:
            raise InputError(
                f"--set {path}*={text}: {number} would be {number * factor:.3g}; valid is a factor that gives nearly a "
                f"whole number, or {path}={whole}"
            )


def require_other_names(recipe: str, coordinates: Collection[str], overrides: Sequence[str]) -> None:
    """Raise `InputError` for a change like `lr*=2` of a setting that names the recipe's arms: the arm `lr = 1` would
    keep its name and be trained at 2."""
    for override in overrides:
        change = change_of(override)
        if change.multiplies and change.word in coordinates:
            raise InputError(f"--set {override}: arms of {recipe!r} are named by it, and would keep their names")


def plainly(override: str) -> str:
    """A change by hand with its number as JSON writes it; a text stays as it is."""
    key, equals, text = override.rpartition("=")
    try:
        value = value_of(text)
    except InputError:
        return override  # refused where it is carried out, with its arm
    plain = isinstance(value, bool | int | float) or value is None
    return f"{key}{equals}{json.dumps(value)}" if equals and plain else override


SHORT = re.compile(r"(-?)(\.\d+(?:[eE][-+]?\d+)?)")


def value_of(text: str) -> Any:
    """A JSON value, or the text itself where it is none."""
    plain = SHORT.fullmatch(text)  # .5 is a number to everybody but JSON
    try:
        value = parsed(f"{plain[1]}0{plain[2]}" if plain else text)
    except json.JSONDecodeError:
        return text
    except ValueError:  # a number of thousands of digits, thousands of brackets
        raise InputError(f"--set: {text[:40]!r}... is too long for a number or too deeply nested") from None
    if _depth(value) > DEEPEST:
        raise InputError(f"--set: {text[:40]!r}...: at most {DEEPEST} brackets inside one another")
    return value


def _depth(value: Any) -> int:
    """How deeply lists and dictionaries are nested; without recursion, for any depth."""
    depth, layer = 0, [value]
    while layer := [
        x for v in layer for x in (v.values() if isinstance(v, dict) else v if isinstance(v, list) else ())
    ]:
        depth += 1
    return depth


def _keep_apart(recipe: str, arms: Mapping[str, Spec], changes: Sequence[AskedChange]) -> None:
    """Refuse to set what a recipe compares: its claims name arms by those settings of task and model. What multiplies
    a setting leaves arms as far apart as they were."""
    specs = [spec.model_dump(mode="json") for spec in arms.values()]
    for change in changes:
        part, _, key = change.field.partition(".")
        if change.arm or change.multiplies or part not in ("task", "model"):
            continue
        if len({json.dumps(spec[part].get(key)) for spec in specs}) > 1:
            raise InputError(f"--set {part}.{key}: recipe {recipe!r} compares arms that differ in it")


def _still_different(before: Mapping[str, Spec], after: Mapping[str, Spec], overrides: Sequence[str]) -> None:
    """Refuse changes that make arms equal, or take away the rule that says when a member has learned."""
    distinct = [len({spec.content_hash() for spec in arms.values()}) for arms in (before, after)]
    if distinct[1] < distinct[0]:
        raise InputError(f"--set {' '.join(overrides)}: the recipe compares arms that differ in it; now they would not")
    if any(a.until is not None and b.until is None for a, b in zip(before.values(), after.values(), strict=True)):
        raise InputError("--set until: the recipe says by it which members have learned")


def _entry(place: Any, key: str, path: str, arm: str) -> Any:
    if isinstance(place, dict) and key in place:
        return place[key]
    if isinstance(place, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(place):
        return place[int(key)]
    valid = place if isinstance(place, dict) else map(str, range(len(place))) if isinstance(place, list) else ()
    of = f" of arm {arm!r}" if arm else ""
    one = f' For one arm: --set "ARM: {path}=…".' if of and "." in path else ""
    inner = (
        [f"{name}.{key}" for name, part in place.items() if isinstance(part, dict) and key in part]
        if (path == key and isinstance(place, dict))
        else []
    )
    if inner:
        raise InputError(f"--set {path}: no field of a spec. Did you mean {' or '.join(inner)}?")
    raise InputError(f"--set {path}: {unknown(f'key{of}', key, valid)}{one}")
