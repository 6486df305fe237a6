"""The protocol of leases and commits, checked in every state that two processes and a few faults can reach."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tests.faults.protocol import STEPS, Process, State, World, explore

FAULTS = int(os.environ.get("LOPSIDED_FAULTS", "1"))
"""Faults on one way at most: kill, stop, a jump of the clock, damage. Each more takes about ten times longer."""


@pytest.mark.slow
@pytest.mark.parametrize("one_host", [True, False], ids=["one host", "two hosts"])
def test_no_job_without_end_and_no_rows_lost(one_host, parity, tmp_path, monkeypatch):
    world = World(tmp_path / "store", parity(steps=60), monkeypatch, one_host)
    start = State((), frozenset(), (Process("1"), Process("2")), 0)
    graph = explore(world, start, FAULTS, 600.0)
    ended = {state for state, after in graph.items() if not after}
    assert all(p.phase in ("done", "dead") for state in ended for p in state.processes)
    for state in ended:
        if any(p.phase == "done" for p in state.processes):
            assert state.completed or state.harmed  # damage may come after everybody has ended
    assert not circles(graph)
    assert len(graph) > 100


def circles(graph):
    """Whether a state can be reached from itself without a fault: work without end."""
    at = {state: i for i, state in enumerate(graph)}
    pairs = [(at[a], at[b]) for a, after in graph.items() for b in after]
    ones, (row, column) = np.ones(len(pairs)), np.array(pairs).T
    matrix = csr_array((ones, (row, column)), shape=(len(at), len(at)))
    parts, _ = connected_components(matrix, connection="strong")
    return parts < len(at)


def test_every_stretch_is_read_once(parity, tmp_path, monkeypatch):
    """A process commits what it had begun to a job that another one has finished meanwhile: one chain is read, and it
    does not go on."""
    world = World(tmp_path / "store", parity(steps=60), monkeypatch, one_host=False)
    state = State((), frozenset(), (Process("1"), Process("2")), 0)

    def go(name, times):
        nonlocal state
        for _ in range(times):
            state = world.act(state, next(p for p in state.processes if p.name == name))

    go("1", 4)  # begins, leases, resumes, checks
    state = world.minute(state, everyone=True)
    go("2", 8)  # takes over and finishes
    go("1", 3)  # commits once more, hears that the job is finished, and has nothing left to do
    assert next(p for p in state.processes if p.name == "1").phase == "done"
    store = world.put(state)
    assert [(part.start, part.step) for part in store.survey().good] == [(i, i + 1) for i in range(STEPS)]
    assert len(store.survey().other) == 1
