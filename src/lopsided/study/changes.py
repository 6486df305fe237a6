"""Changes by hand, as `--set` takes them: `task.group=D5`, `plan.batch*=2`, `power law: skills.alpha=1`."""

from __future__ import annotations

import re
from typing import NamedTuple

CHANGE = re.compile(r"[A-Za-z_][\w.]*\*?=")


class AskedChange(NamedTuple):
    """One change, read but not yet carried out."""

    arm: str
    """Whose it is; empty for every arm."""
    field: str
    """Path of the setting in a spec; empty for what is no change."""
    multiplies: bool
    """Whether the setting is multiplied by the value, in arms that have it, and not replaced."""
    text: str
    """The value as it was written."""

    @property
    def word(self) -> str:
        """The field's last word: `lr` of `optimizer.lr`."""
        return self.field.rpartition(".")[2]

    def named(self, field: str) -> str:
        """The change as `--set` takes it, with `field` as the name of what is changed."""
        arm = f"{self.arm}: " if self.arm else ""
        return f"{arm}{field}{'*' if self.multiplies else ''}={self.text}"


def change_of(override: str) -> AskedChange:
    """Read a change as `--set` takes it: `[ARM: ]FIELD[*]=VALUE`. (Names of arms hold colons and equality signs, too:
    `N = 32, lr = 0.5`, or `a=b, c: d=1`. No value has a change in it, so that the last one is meant.)"""
    arm, colon, setting = override.rpartition(": ")
    if not colon or not CHANGE.match(setting):
        arm, setting = "", override
    key, equals, text = setting.partition("=")
    return AskedChange(arm, key.removesuffix("*") if equals else "", key.endswith("*"), text)
