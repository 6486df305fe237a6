"""The engine that a spec asks for, as tests call it."""

from lopsided.core.execution import Execution
from lopsided.core.registry import engine_of


def engine(members, **execution):
    """An engine with these members; keywords are those of `Execution`."""
    return engine_of(members[0].spec)(members, Execution(**execution))
