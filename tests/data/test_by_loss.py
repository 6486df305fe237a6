"""Laws that follow the losses that a loop reports: those of the laboratory, decided once, followed by all, resumed."""

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.core.errors import InputError

LABELS = np.arange(4000) % 8
DIFFICULTY = np.linspace(0.2, 3.0, 8)
OPTIONS = {"total": 64 * 200, "batch": 64, "seed": 3, "every": 5}
KINDS = [ld.LossProportional, ld.GroupDRO, ld.ContrastAnneal]


def train(samplers, stop=None):
    """What all ranks are given; an example costs its skill's difficulty, less as training goes on."""
    readers, found = [iter(s) for s in samplers], []
    for step in range(samplers[0].position // 64, stop or 200):
        batch = np.concatenate([next(r) for r in readers])
        found.append(batch)
        decision = samplers[0].report(batch, DIFFICULTY[LABELS[batch]] * 0.99**step)
        for sampler in samplers:
            sampler.follow(decision)
    return np.concatenate(found)


def ranks(kind, world, **more):
    return [kind(ld.Groups(LABELS), rank=r, world=world, **{**OPTIONS, **more}) for r in range(world)]


@pytest.mark.parametrize("kind", KINDS[:2])
def test_difficult_skills_come_more_often(kind):
    (sampler,) = samplers = ranks(kind, 1, floor=0.0)
    drawn = np.bincount(LABELS[train(samplers)[-64 * 50 :]], minlength=8)
    assert drawn[7] > 1.3 * drawn[0]
    assert (np.diff(sampler.frequencies if sampler.log else drawn) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_all_ranks_go_the_same_way_and_a_resumed_run_does(kind):
    whole = train(ranks(kind, 1))
    assert (train(ranks(kind, 2)) == whole).all()
    first = ranks(kind, 2)
    head = train(first, stop=83)  # between two changes
    others = ranks(kind, 4)
    for sampler in others:
        sampler.load_state_dict(first[0].state_dict())
    assert (np.concatenate([head, train(others)]) == whole).all()


@pytest.mark.parametrize(("ours", "theirs"), [("LossProportional", "LossProportional"), ("GroupDRO", "GroupDRO")])
def test_they_are_the_laws_of_the_laboratory(ours, theirs):
    """The same losses, the same frequencies, within the rounding of float32."""
    import jax.numpy as jnp

    import lopsided.skills as skills
    from lopsided.skills.listening import Told

    settings = {"LossProportional": {"power": 2.0, "window": 7.0}, "GroupDRO": {"rate": 0.3}}[ours]
    law = getattr(skills, theirs)(**settings).schedule(8)
    heard = law.begin()
    sampler = getattr(ld, ours)(ld.Groups(LABELS), 64 * 200, 64, every=1, **settings)
    random = np.random.default_rng(0)
    for _ in range(30):
        batch = random.integers(0, 4000, 64)
        losses = random.exponential(DIFFICULTY[LABELS[batch]])
        sums = [np.bincount(LABELS[batch], w, 8) for w in (losses, np.ones(64))]
        heard = law.after(heard, Told(jnp.float32(0), *(jnp.asarray(s, jnp.float32) for s in sums)))
        _, found = sampler.report(batch, losses)
        np.testing.assert_allclose(found, law.frequency(0.0, heard), rtol=1e-4)


def test_the_law_by_contrast_is_that_of_the_laboratory():
    """Frequent skills are learned after 40 steps and all after 120: the exponent falls, as far as the laboratory's."""
    import jax.numpy as jnp

    from lopsided.skills import ContrastAnnealed
    from lopsided.skills.listening import Told

    law = ContrastAnnealed().schedule(8)
    heard = law.begin()
    sampler = ld.ContrastAnneal(ld.Groups(LABELS), 64 * 200, 64, every=1, by="given")
    random, exponents = np.random.default_rng(0), []
    for step in range(160):
        batch = random.integers(0, 4000, 64)
        known = 0 if step < 40 else 5 if step < 120 else 8
        losses = np.where(LABELS[batch] < known, 0.02, 1.0)
        sums = [np.bincount(LABELS[batch], w, 8) for w in (losses, np.ones(64))]
        heard = law.after(heard, Told(jnp.float32(0), *(jnp.asarray(s, jnp.float32) for s in sums)))
        _, found = sampler.report(batch, losses)
        np.testing.assert_allclose(found, law.frequency(0.0, heard), rtol=1e-3)
        exponents.append(sampler.exponent)
    assert exponents[39] == 1.5
    assert exponents[119] < 1.0
    assert exponents[-1] == 0.0


def test_a_shortcut_does_not_fool_the_contrast():
    """Half of the loss goes away for all samples alike: accuracy would let go, the contrast does not."""
    sampler = ld.ContrastAnneal(ld.Groups(LABELS), 64 * 200, 64, every=1)
    random = np.random.default_rng(0)
    for step in range(150):
        sampler.report(random.integers(0, 4000, 64), np.full(64, 1.0 if step < 30 else 0.4))
    assert sampler.exponent == 1.5


def test_examples_that_need_several_skills_tell_all_of_them():
    groups = ld.Groups([["a"], ["a", "b"], ["b"], ["c"]] * 25)
    sampler = ld.GroupDRO(groups, 400, 10, rate=1.0, floor=0.0, every=1)
    _, law = sampler.report([1], [2.0])  # needs a and b
    assert law == pytest.approx(np.exp([2, 2, 0]) / np.exp([2, 2, 0]).sum())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ld.LossProportional(100, 10, 5), "Groups"),
        (lambda: ld.LossProportional(ld.Groups(LABELS), 640, 64, floor=2), "floor"),
        (lambda: ld.GroupDRO(ld.Groups(LABELS), 640, 64, rate=-1), "rate"),
        (lambda: ld.GroupDRO(ld.Groups(LABELS), 640, 64, every=0), "every"),
        (lambda: ld.ContrastAnneal(100, 640, 64), "Groups"),
        (lambda: ld.ContrastAnneal(ld.Groups(LABELS), 640, 64, tail=0), "tail"),
        (lambda: ranks(ld.GroupDRO, 1)[0].report([0, 1], [1.0, np.nan]), "finite"),
        (lambda: ranks(ld.GroupDRO, 1)[0].report([0, 1], [1.0]), "finite"),
        (lambda: ranks(ld.GroupDRO, 1)[0].report([4000], [1.0]), "0 to 3,999"),
        (lambda: ranks(ld.GroupDRO, 1)[0].load_state_dict({"position": 0}), "GroupDRO"),
        (
            lambda: ranks(ld.GroupDRO, 1)[0].load_state_dict(ranks(ld.GroupDRO, 1, rate=1.0)[0].state_dict()),
            "another stream",
        ),
    ],
)
def test_mistakes_are_one_line(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_what_was_handed_out_cannot_be_decided():
    (sampler,) = ranks(ld.LossProportional, 1)
    next(iter(sampler))
    with pytest.raises(InputError, match="handed out"):
        sampler.follow((0, [1 / 8] * 8))
