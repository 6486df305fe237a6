"""Rows of somebody's own tasks, models or probes that were made before their files changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from lopsided.core.code import code_digest, outside
from lopsided.core.spec import Spec
from lopsided.store.parts import Store


def warn_of_older_rows(specs: Iterable[Spec], store: Store) -> None:
    """Say on stderr how many trained members of these specs were made by another version of the code than the present
    one. Only specs with parts from outside this package count: whoever changes a task of their own expects new numbers.
    """
    own = {spec.content_hash(): spec for spec in specs if outside(spec)}
    if not own:
        return
    survey = store.survey()
    code = {part.job: part.code for part in survey.good if part.final}
    now = {name: code_digest(spec) for name, spec in own.items()}
    older = [name for (name, _), job in survey.complete.items() if name in own and code[job] != now[name]]
    if older:
        files = sorted({file for name in set(older) for file in outside(own[name])})
        what = (
            f"{len(older)} members in {str(store.root)!r} were trained before {' or '.join(files)} or lopsided itself"
        )
        left = "changed; their rows stay as they are. To train them anew, take another folder (--out)"
        print(f"lopsided: {what} {left}", file=sys.stderr)
