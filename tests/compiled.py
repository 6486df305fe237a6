"""Networks as one program each. Called as they are, every operation of every shape is compiled alone."""

from functools import partial

import jax

from lopsided.core.keys import stream


def made(model, inputs, outputs):
    """The network of a model's description."""
    return jax.jit(lambda key: model.init(key, inputs, outputs))(stream(0, "init"))


@jax.jit
def answers(network, batch):
    """What the network says."""
    return network(batch)


@partial(jax.jit, static_argnames="count")
def greedy(network, prompts, count):
    """The likeliest `count` tokens, one after the other."""
    return network.greedy(prompts, count)
