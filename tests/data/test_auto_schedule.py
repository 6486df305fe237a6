"""Subsets that end when they are learned: decided once, followed by all ranks, part of the state."""

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.core.errors import InputError

GROUPS = ld.Groups(np.arange(4000) % 8)
OPTIONS = {"shares": (0.01, 0.1, 1.0), "total": 6400, "batch": 64, "seed": 3}


def train(samplers, accuracies, stop=None):
    """What ranks are given; the accuracy after each step is `accuracies(step)`, reported to rank 0."""
    readers, found = [iter(s) for s in samplers], []
    for step in range(samplers[0].position // 64, stop or 100):
        found.append(np.concatenate([next(r) for r in readers]))
        decision = samplers[0].report(accuracies(step))
        for sampler in samplers:
            sampler.follow(decision)
    return np.concatenate(found)


def ranks(world):
    return [ld.AutoSchedule(GROUPS, rank=r, world=world, **OPTIONS) for r in range(world)]


def learns(step):
    """The first subset is an epoch of one step; the second, from step 10 on, is one of seven."""
    return 0.8 if step in (9, 24) or 31 <= step < 38 else 0.1


@pytest.mark.parametrize("world", [1, 2, 4])
def test_all_ranks_go_the_same_way(world):
    samplers = ranks(world)
    found = train(samplers, learns)
    assert (found == train(ranks(1), learns)).all()
    assert [s.log for s in samplers] == [[(0, 0), (640, 1), (2432, 2)]] * world
    parts = [set(found[a:b].tolist()) for a, b in ((0, 640), (640, 2432), (2432, 6400))]
    assert [len(p) for p in parts[:2]] == [40, 400]
    assert len(parts[2]) > 3800  # nearly an epoch of all 4,000
    assert parts[0] < parts[1]


def test_a_resumed_run_goes_the_same_way_on_other_ranks():
    whole = train(ranks(1), learns)
    first = ranks(2)
    head = train(first, learns, stop=50)
    others = ranks(4)
    for sampler in others:
        sampler.load_state_dict(first[0].state_dict())
    assert (np.concatenate([head, train(others, learns)]) == whole).all()


def test_a_subset_ends_after_its_epochs():
    (sampler,) = samplers = [ld.AutoSchedule(GROUPS, epochs=5, **OPTIONS)]
    train(samplers, lambda step: 0.0)
    assert sampler.log[1] == (320, 1)  # an epoch of 40 samples is a step of 64


def test_it_is_the_rule_of_the_laboratory():
    """The same reports, the same steps at which a subset ends."""
    import jax.numpy as jnp

    from lopsided.plans import AutoSchedule

    random = np.random.default_rng(0)
    told = random.uniform(0.5, 0.9, 100).astype(np.float32)
    plan = AutoSchedule(batch=64, first=40, last=4000, phases=3, accuracy=0.72, epochs=4)
    memory, ends = plan.init_state(), []
    for step, accuracy in enumerate(told):
        after = plan.update(memory, jnp.float32(accuracy))
        ends += [64 * (step + 1)] * int(after.phase - memory.phase)
        memory = after
    (sampler,) = samplers = [ld.AutoSchedule(GROUPS, **OPTIONS, goal=0.72, epochs=4)]
    train(samplers, lambda step: float(told[step]))
    assert [position for position, _ in sampler.log[1:]] == ends
    assert len(ends) == 2


def test_what_was_handed_out_cannot_be_decided():
    (sampler,) = ranks(1)
    batches = iter(sampler)
    next(batches)
    with pytest.raises(InputError, match="handed out"):
        sampler.follow((0, 1))
    with pytest.raises(InputError, match="AutoSchedule"):
        sampler.load_state_dict({"position": 0, "stream": "x"})
    with pytest.raises(InputError, match="shares"):
        ld.AutoSchedule(GROUPS, (0.5, 0.1), 640, 64)
    with pytest.raises(InputError, match="goal"):
        ld.AutoSchedule(GROUPS, (0.5, 1.0), 640, 64, goal=2)


@pytest.mark.parametrize("log", [None, 3, [], [[1]], [["a", 0]], [[0.5, 0]], [[500, 1], [0, 0]], [[64, 1]]])
def test_a_log_that_is_none_is_one_line(log):
    """Some ended in a traceback, others were taken without a word."""
    sampler = ranks(1)[0]
    state = {**sampler.state_dict(), "log": log}
    with pytest.raises(InputError, match="log has to be"):
        sampler.load_state_dict(state)


@pytest.mark.parametrize("decision", ["ab", 3, (1,), (0.5, 1)])
def test_a_decision_that_is_none_is_one_line(decision):
    with pytest.raises(InputError, match="valid is what `report` gave"):
        ranks(1)[0].follow(decision)
