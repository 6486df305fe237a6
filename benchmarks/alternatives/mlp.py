"""(20, 6)-parity from a fixed set, one hidden layer of 64, batch 128, square loss, SGD: contenders by name.

Each takes the learning rates of its members and gives a function that trains all of them for so many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

D, K, WIDTH, BATCH, SIZE = 20, 6, 64, 128, 2**14
Work = Callable[[int], object]


def lopsided(rates: Sequence[float]) -> Work:
    from lopsided.core.engine import Member
    from lopsided.core.spec import Spec
    from lopsided.engines import devices
    from lopsided.engines.ensemble import Ensemble

    devices.setup(len(rates))
    ensemble = Ensemble([Member(Spec.parse(spec(rate)), seed) for seed, rate in enumerate(rates)])
    return lambda steps: ensemble.advance(ensemble.step + steps)


def spec(rate: float, steps: int = 10**7) -> dict[str, Any]:
    return {
        "task": {"name": "sparse-parity", "d": D, "k": K},
        "model": {"name": "mlp", "width": WIDTH},
        "plan": {"name": "fixed", "size": SIZE, "batch": BATCH},
        "optimizer": {"name": "sgd", "lr": rate},
        "loss": "square",
        "steps": steps,
    }


def plain_jax(rates: Sequence[float]) -> Work:
    """`vmap` over members of a loop over steps, JAX's own random numbers, its own devices and threads."""
    import jax
    import jax.numpy as jnp

    draw = jax.random.split(jax.random.key(0), len(rates) + 1)
    x = 2.0 * jax.random.bernoulli(draw[0], shape=(SIZE, D)).astype(jnp.float32) - 1
    y = x[:, :K].prod(1)

    def first(key: Any) -> dict[str, Any]:
        a, b, c, d = jax.random.split(key, 4)
        inner, outer = D**-0.5, WIDTH**-0.5
        uniform = lambda key, shape, at: jax.random.uniform(key, shape, minval=-at, maxval=at)
        return {
            "w": uniform(a, (D, WIDTH), inner),
            "b": uniform(b, (WIDTH,), inner),
            "v": uniform(c, (WIDTH, 1), outer),
            "c": uniform(d, (1,), outer),
        }

    def loss(p: dict[str, Any], x: Any, y: Any) -> Any:
        out = jax.nn.relu(x @ p["w"] + p["b"]) @ p["v"] + p["c"]
        return 0.5 * jnp.mean((out[:, 0] - y) ** 2)

    def member(p: dict[str, Any], key: Any, rate: Any, start: Any, steps: Any) -> dict[str, Any]:
        def step(t: Any, p: dict[str, Any]) -> dict[str, Any]:
            index = jax.random.randint(jax.random.fold_in(key, t), (BATCH,), 0, SIZE)
            slope = jax.grad(loss)(p, x[index], y[index])
            return jax.tree.map(lambda w, g: w - rate * g, p, slope)

        return jax.lax.fori_loop(start, start + steps, step, p)

    train = jax.jit(jax.vmap(member, in_axes=(0, 0, 0, None, None)), donate_argnums=0)
    state = {"p": jax.vmap(first)(draw[1:]), "at": 0}

    def work(steps: int) -> None:
        state["p"] = train(state["p"], draw[1:], jnp.array(rates), state["at"], steps)
        state["at"] += steps
        jax.block_until_ready(state["p"])

    return work


def torch_loop(rates: Sequence[float], compiled: bool = False) -> Work:
    """What one writes first, member after member: an index, loss, backward, step."""
    import torch

    x, y = _data()
    nets = [_net() for _ in rates]
    optimizers = [torch.optim.SGD(net.parameters(), lr=rate) for net, rate in zip(nets, rates, strict=True)]
    called = [torch.compile(net) if compiled else net for net in nets]

    def work(steps: int) -> None:
        for net, optimizer in zip(called, optimizers, strict=True):
            for _ in range(steps):
                index = torch.randint(0, SIZE, (BATCH,))
                loss = 0.5 * ((net(x[index])[:, 0] - y[index]) ** 2).mean()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()

    return work


def torch_compiled(rates: Sequence[float]) -> Work:
    """The same with a compiled network."""
    return torch_loop(rates, compiled=True)


def torch_func(rates: Sequence[float], compiled: bool = False) -> Work:
    """`torch.func.vmap` over stacked weights, all members a step at a time."""
    import torch
    from torch.func import functional_call, grad, stack_module_state, vmap

    x, y = _data()
    params, _ = stack_module_state([_net() for _ in rates])
    params = {name: p.detach() for name, p in params.items()}
    shape, each = _net().to("meta"), torch.tensor(rates, dtype=torch.float32)

    def loss(p: dict[str, Any], x: Any, y: Any) -> Any:
        return 0.5 * ((functional_call(shape, p, (x,))[:, 0] - y) ** 2).mean()

    def step(params: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
        slope = vmap(grad(loss))(params, x, y)
        return {n: p - each.view(-1, *[1] * (p.dim() - 1)) * slope[n] for n, p in params.items()}

    stepped = torch.compile(step) if compiled else step

    def work(steps: int) -> None:
        nonlocal params
        with torch.no_grad():
            for _ in range(steps):
                index = torch.randint(0, SIZE, (len(rates), BATCH))
                params = stepped(params, x[index], y[index])

    return work


def torch_func_compiled(rates: Sequence[float]) -> Work:
    """The same through `torch.compile`."""
    return torch_func(rates, compiled=True)


def _data() -> tuple[Any, Any]:
    import torch

    torch.manual_seed(0)
    x = torch.randint(0, 2, (SIZE, D)).float() * 2 - 1
    return x, x[:, :K].prod(1)


def _net() -> Any:
    import torch

    return torch.nn.Sequential(torch.nn.Linear(D, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))


CONTENDERS: dict[str, Callable[[Sequence[float]], Work]] = {
    "lopsided": lopsided,
    "PyTorch loop": torch_loop,
    "torch.compile": torch_compiled,
    "torch.func": torch_func,
    "torch.func, compiled": torch_func_compiled,
    "plain JAX": plain_jax,
}
