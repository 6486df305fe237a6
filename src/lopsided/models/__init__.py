"""Networks."""

from lopsided.models.mlp import MLP
from lopsided.models.product import Product
from lopsided.models.quadratic_neuron import QuadraticNeuron
from lopsided.models.scalar_chain import ScalarChain
from lopsided.models.student import Student
from lopsided.models.transformer import Transformer

__all__ = [
    "MLP",
    "Product",
    "QuadraticNeuron",
    "ScalarChain",
    "Student",
    "Transformer",
]
