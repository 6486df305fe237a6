"""Optimizers and losses."""

from lopsided.optim.anytime import AnytimeSGD
from lopsided.optim.optimizers import SGD, AdamW
from lopsided.optim.spherical import SphericalSGD

__all__ = [
    "SGD",
    "AdamW",
    "AnytimeSGD",
    "SphericalSGD",
]
