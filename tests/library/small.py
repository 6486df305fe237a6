"""A recipe that trains in a second."""

from lopsided.claims.recipe import Recipe
from lopsided.core.spec import Spec
from lopsided.figures.panels import Figure
from tests.conftest import PARITY


def spec(lr, size=None):
    """Sparse parity that ends when it is learned: fresh samples, or a set of `size`."""
    plan = {"name": "online", "batch": 32} if size is None else {"name": "fixed", "batch": 32, "size": size}
    optimizer = {"name": "sgd", "lr": lr}
    evaluation = {"every": 20, "samples": 128}
    until = {"metric": "test/accuracy", "at_least": 0.9}
    changed = {"plan": plan, "optimizer": optimizer, "steps": 300, "evaluation": evaluation, "until": until}
    return Spec.parse({**PARITY, **changed})


def small_recipe(name, arms, claims):
    return Recipe(
        name=name,
        paper="ours",
        figure_number="none",
        question="?",
        about="",
        arms=arms,
        scales={"smoke": (3, 1), "laptop": (6, 1)},
        claims=claims,
        figure=lambda r: Figure("none", []),
    )
