"""Rows of somebody's own tasks, models or probes that were made before their files changed."""

from __future__ import annotations

from collections.abc import Iterable

from lopsided.core.code import code_digest, outside
from lopsided.core.spec import Spec
from lopsided.store.parts import Store


def made_before(specs: Iterable[Spec], store: Store) -> str:
    """A sentence that says how many complete members of these specs other code made than there is now; empty if none.
    Only specs with parts outside this package count: who changes a task of their own expects other numbers."""
    own = {spec.content_hash(): spec for spec in specs if outside(spec)}
    if not own:
        return ""
    code = {part.job: part.code for part in store.parts() if part.final}
    now = {name: code_digest(spec) for name, spec in own.items()}
    older = [name for (name, _), job in store.complete().items() if name in own and code.get(job) != now[name]]
    if not older:
        return ""
    files = sorted({file for name in set(older) for file in outside(own[name])})
    return (
        f"{len(older)} members in {str(store.root)!r} were trained before {' or '.join(files)} or lopsided itself "
        "changed; their rows stay as they are. To train them anew, take another folder (--out)"
    )
