"""State tracking on S4, 4 hops, 2 layers, width 64, batch 256, AdamW: contenders by name, as in `mlp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

GROUP, ORDER, HOPS, LAYERS, WIDTH, HEADS, BATCH = "S4", 24, 4, 2, 64, 4, 256
Work = Callable[[int], object]


def lopsided(rates: Sequence[float]) -> Work:
    from lopsided.core.engine import Member
    from lopsided.core.spec import Spec
    from lopsided.engines import devices
    from lopsided.engines.ensemble import Ensemble

    devices.setup(len(rates))
    specs = [
        Spec.parse(
            {
                "task": {"name": "state-tracking", "group": GROUP, "hops": HOPS},
                "model": {"name": "transformer", "layers": LAYERS, "width": WIDTH, "heads": HEADS},
                "plan": {"name": "online", "batch": BATCH},
                "optimizer": {"name": "adamw", "lr": rate},
                "loss": "cross-entropy",
                "steps": 10**6,
            }
        )
        for rate in rates
    ]
    ensemble = Ensemble([Member(each, seed) for seed, each in enumerate(specs)])
    return lambda steps: ensemble.advance(ensemble.step + steps)


def plain_jax(rates: Sequence[float]) -> Work:
    """A transformer in a page of JAX, Optax, `vmap` over members of a loop over steps."""
    import jax
    import jax.numpy as jnp
    import optax

    table, keys = jnp.array(_table()), jax.random.split(jax.random.key(0), len(rates))
    wide = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    optimizer = optax.adamw(1.0)  # times the member's own rate

    def first(key: Any) -> Any:
        draw = iter(jax.random.split(key, 3 + 4 * LAYERS))
        normal = lambda shape: 0.02 * jax.random.normal(next(draw), shape)
        layers = [{name: normal(shape) for name, shape in wide.items()} for _ in range(LAYERS)]
        return {"embed": normal((ORDER + 1, WIDTH)), "at": normal((HOPS, WIDTH)), "layers": layers,
                "head": normal((WIDTH, ORDER))}  # fmt: skip

    def norm(x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    def logits(p: Any, tokens: Any) -> Any:
        x = p["embed"][tokens] + p["at"]
        for layer in p["layers"]:
            q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(*x.shape[:2], HEADS, -1), 3, axis=-1)
            x = x + jax.nn.dot_product_attention(q, k, v).reshape(x.shape) @ layer["out"]
            x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        return norm(x[:, -1]) @ p["head"]

    def loss(p: Any, tokens: Any, answer: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(logits(p, tokens), answer).mean()

    def member(p: Any, kept: Any, key: Any, rate: Any, start: Any, steps: Any) -> Any:
        def step(t: Any, carry: Any) -> Any:
            p, kept = carry
            tokens = jax.random.randint(jax.random.fold_in(key, t), (BATCH, HOPS), 0, ORDER)
            answer = tokens[:, 0]
            for hop in range(1, HOPS):
                answer = table[answer, tokens[:, hop]]
            change, kept = optimizer.update(jax.grad(loss)(p, tokens, answer), kept, p)
            return jax.tree.map(lambda w, c: w + rate * c, p, change), kept

        return jax.lax.fori_loop(start, start + steps, step, (p, kept))

    train = jax.jit(jax.vmap(member, in_axes=(0, 0, 0, 0, None, None)), donate_argnums=(0, 1))
    p = jax.vmap(first)(keys)
    state = {"now": (p, jax.vmap(optimizer.init)(p)), "at": 0}

    def work(steps: int) -> None:
        state["now"] = train(*state["now"], keys, jnp.array(rates), state["at"], steps)
        state["at"] += steps
        jax.block_until_ready(state["now"])

    return work


def torch_loop(rates: Sequence[float], compiled: bool = False) -> Work:
    """Eager PyTorch, member after member."""
    import torch

    table = torch.tensor(_table(), dtype=torch.long)
    nets = [_net() for _ in rates]
    optimizers = [torch.optim.AdamW(net.parameters(), lr=rate) for net, rate in zip(nets, rates, strict=True)]
    called = [torch.compile(net) if compiled else net for net in nets]

    def work(steps: int) -> None:
        for net, optimizer in zip(called, optimizers, strict=True):
            for _ in range(steps):
                tokens, answer = _batch(table, (BATCH,))
                loss = torch.nn.functional.cross_entropy(net(tokens), answer)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()

    return work


def torch_compiled(rates: Sequence[float]) -> Work:
    """The same with a compiled network."""
    return torch_loop(rates, compiled=True)


def torch_func(rates: Sequence[float]) -> Work:
    """`torch.func.vmap` over stacked weights; AdamW on the stacks."""
    import torch
    from torch.func import functional_call, grad, stack_module_state, vmap

    table = torch.tensor(_table(), dtype=torch.long)
    params, _ = stack_module_state([_net() for _ in rates])
    params = {name: p.detach() for name, p in params.items()}
    shape, each = _net().to("meta"), torch.tensor(rates, dtype=torch.float32)
    m, v = ({n: torch.zeros_like(p) for n, p in params.items()} for _ in range(2))
    t = 0

    def loss(p: dict[str, Any], tokens: Any, answer: Any) -> Any:
        return torch.nn.functional.cross_entropy(functional_call(shape, p, (tokens,)), answer)

    def work(steps: int) -> None:
        nonlocal t
        with torch.no_grad():
            for _ in range(steps):
                t += 1
                tokens, answer = _batch(table, (len(rates), BATCH))
                slope = vmap(grad(loss), randomness="different")(params, tokens, answer)
                for n, p in params.items():
                    m[n].mul_(0.9).add_(slope[n], alpha=0.1)
                    v[n].mul_(0.999).addcmul_(slope[n], slope[n], value=0.001)
                    rate = each.view(-1, *[1] * (p.dim() - 1))
                    step = (m[n] / (1 - 0.9**t)) / ((v[n] / (1 - 0.999**t)).sqrt() + 1e-8)
                    p.sub_(rate * (step + 0.01 * p))

    return work


def _table() -> np.ndarray:
    from lopsided.tasks.state_tracking import StateTracking

    return np.array(StateTracking(group=GROUP, hops=HOPS).algebra.table)


def _batch(table: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    import torch

    tokens = torch.randint(0, ORDER, (*shape, HOPS))
    answer = tokens[..., 0]
    for hop in range(1, HOPS):
        answer = table[answer, tokens[..., hop]]
    return tokens, answer


def _net() -> Any:
    from benchmarks.transformer import Network

    return Network(ORDER)


CONTENDERS: dict[str, Callable[[Sequence[float]], Work]] = {
    "lopsided": lopsided,
    "PyTorch loop": torch_loop,
    "torch.compile": torch_compiled,
    "torch.func": torch_func,
    "plain JAX": plain_jax,
}
