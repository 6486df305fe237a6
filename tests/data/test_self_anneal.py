"""A law whose exponent follows the accuracy that a loop reports: decided once, followed by all ranks, in the state."""

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.core.errors import InputError

LABELS = np.arange(4000) % 40
OPTIONS = {"total": 64 * 400, "batch": 64, "seed": 3, "by": "given"}


def train(samplers, accuracies, stop=None):
    """What all ranks are given, and the exponent of each step."""
    readers, found, exponents = [iter(s) for s in samplers], [], []
    for step in range(samplers[0].position // 64, stop or 400):
        exponents.append(samplers[-1].exponent)
        found.append(np.concatenate([next(r) for r in readers]))
        decision = samplers[0].report(accuracies(step))
        for sampler in samplers:
            sampler.follow(decision)
    return np.concatenate(found), exponents


def ranks(world, **more):
    return [ld.SelfAnneal(ld.Groups(LABELS), rank=r, world=world, **{**OPTIONS, **more}) for r in range(world)]


def learns(step):
    """Wrong at first, then right for a while, then wrong again."""
    return 0.9 if 50 <= step < 150 else 0.0


def test_a_change_that_is_decided_after_the_last_batch_changes_nothing():
    """It ended programs at their very last line: the law falls by a step whenever everything is right."""
    asked = {**OPTIONS, "total": 64 * 40}
    last = []
    for right in range(1, 20):  # steps at the end in which everything is right
        sampler = ld.SelfAnneal(ld.Groups(LABELS), **asked)
        for _ in sampler:
            decision = sampler.report(float(sampler.position > 64 * (40 - right)))
            sampler.follow(decision)
        last.append(decision)
        assert sampler.log[-1][0] < sampler.position == asked["total"]
        other = ld.SelfAnneal(ld.Groups(LABELS), **asked)
        other.load_state_dict(sampler.state_dict())
        assert other.log == sampler.log
    assert any(last)


def test_it_falls_and_rises_with_the_accuracy():
    _, exponents = train(ranks(1), learns)
    assert exponents[50] == 1.5
    assert exponents[150] == 0
    assert exponents[399] == 1.5


def test_it_is_the_law_of_the_laboratory():
    """The same reports, the same exponents, within a step of 1/30."""
    import jax.numpy as jnp

    from lopsided.skills.listening import Told
    from lopsided.skills.self_annealed import SelfAnnealed

    law = SelfAnnealed().schedule(40)
    heard, theirs = law.begin(), []
    for step in range(400):
        theirs.append(float(heard.exponent))
        heard = law.after(heard, Told(jnp.float32(learns(step))))
    _, ours = train(ranks(1), learns)
    assert np.abs(np.array(ours) - theirs).max() <= 1.5 / 60 + 1e-3


@pytest.mark.parametrize("world", [2, 4])
def test_all_ranks_go_the_same_way(world):
    assert (train(ranks(world), learns)[0] == train(ranks(1), learns)[0]).all()


def test_a_resumed_run_goes_the_same_way_on_other_ranks():
    whole, _ = train(ranks(1), learns)
    first = ranks(2)
    head, _ = train(first, learns, stop=90)
    others = ranks(4)
    for sampler in others:
        sampler.load_state_dict(first[0].state_dict())
    assert (np.concatenate([head, train(others, learns)[0]]) == whole).all()


def test_what_is_drawn_follows_the_exponent():
    found, exponents = train(ranks(1), lambda step: 0.9)
    at = int(np.argmax(np.array(exponents) == 0)) * 64
    share = lambda part: np.mean(LABELS[part] == 0)
    assert share(found[: 64 * 4]) == pytest.approx(1 / (np.arange(1, 41.0) ** -1.5).sum(), abs=0.1)
    assert share(found[at:]) == pytest.approx(1 / 40, abs=0.01)
    assert len(set(found[at:].tolist())) > 3500  # no early part of a stream comes again and again


@pytest.mark.slow
def test_a_million_examples_of_a_thousand_skills():
    sampler = ld.SelfAnneal(ld.Groups(np.arange(10**6) % 1000), total=10**7, batch=256)
    batches = iter(sampler)
    for _ in range(40):
        assert len(next(batches)) == 256
        sampler.follow(sampler.report(1.0))
    assert sampler.exponent < 0.75  # more than half of it is gone


@pytest.mark.parametrize("wrong", [{"goal": 0.0}, {"goal": 1.0}, {"window": 0.5}, {"start": 0.0}, {"chance": 1.0}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(InputError, match="valid are"):
        ranks(1, **wrong)


def test_the_state_of_something_else_is_refused():
    with pytest.raises(InputError, match="SelfAnneal"):
        ranks(1)[0].load_state_dict({"position": 0, "stream": "x", "log": []})


@pytest.mark.parametrize("other", [{"start": 3.0}, {"goal": 0.5}, {"window": 20.0}, {"chance": 0.1}])
def test_the_state_of_another_rule_is_refused(other):
    groups = ld.Groups(np.arange(1000) % 10)
    state = ld.SelfAnneal(groups, 1000, 100).state_dict()
    with pytest.raises(InputError, match="another stream"):
        ld.SelfAnneal(groups, 1000, 100, **other).load_state_dict(state)
    ld.SelfAnneal(groups, 1000, 100, **other).load_state_dict(state, allow_other=True)


@pytest.mark.parametrize("accuracy", [2.3, 45.0, -0.1, float("nan"), [0.5, 0.5], None])
def test_what_is_no_share_is_refused(accuracy):
    sampler = ld.SelfAnneal(ld.Groups(np.arange(1000) % 10), 1000, 100)
    with pytest.raises(InputError, match="from 0 to 1"):
        sampler.report(accuracy)
    assert sampler.exponent == 1.5
    sampler.report(1 + 1e-15)  # a mean over ranks
