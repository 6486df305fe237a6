"""The small transformer by width: an ensemble against one member alone, and two ways to write attention for it.

`vmap` turns attention's small products into batched ones with one more leading axis. On a CPU the ensemble therefore
advances members in blocks that fit a core's cache (one member a block at most of these sizes), and the question is
whether a member in an ensemble still trains as fast as one alone on the same core.

    python -m benchmarks.attention
"""

from __future__ import annotations

from collections.abc import Callable

from lopsided.engines import devices

devices.setup(1 << 20)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jaxtyping import Array  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.measure import paired, rate  # noqa: E402
from lopsided.core.engine import Member  # noqa: E402
from lopsided.core.execution import Execution  # noqa: E402
from lopsided.core.spec import Spec  # noqa: E402
from lopsided.engines.ensemble import Ensemble  # noqa: E402

WIDTHS = (16, 32, 64, 128)
D, BATCH, HEADS = 10, 32, 4


def spec(width: int) -> Spec:
    """(10, 4)-parity as tokens, two layers, mini-batches of 32: what the recipes train."""
    return Spec.parse(
        {
            "task": {"name": "sparse-parity", "d": D, "k": 4, "encoding": "tokens"},
            "model": {"name": "transformer", "width": width, "heads": HEADS, "initialisation": "torch-default"},
            "plan": {"name": "online", "batch": BATCH},
            "optimizer": {"name": "adamw", "lr": 1e-3, "b2": 0.95},
            "loss": "logistic",
            "steps": 10**6,
        }
    )


def trained(width: int, members: int, steps: int) -> Callable[[], float]:
    """Member-steps a second of an ensemble on one core."""
    ensemble = Ensemble([Member(spec(width), seed) for seed in range(members)], Execution(devices=1))
    ensemble.advance(1)
    return lambda: rate(lambda: ensemble.advance(ensemble.step + steps), members * steps)


def einsum_form(q: Array, k: Array, v: Array) -> Array:
    """What the model uses: products over (batch, head), heads behind positions in memory."""
    p = jax.nn.softmax(jnp.einsum("bohd,blhd->bhol", q, k), axis=-1)
    return jnp.einsum("bhol,blhd->bohd", p, v)


def elementwise_form(q: Array, k: Array, v: Array) -> Array:
    """Products and sums without a matrix product, which XLA can fuse with the softmax."""
    p = jax.nn.softmax((q[:, :, None] * k[:, None]).sum(-1), axis=2)
    return (p[..., None] * v[:, None]).sum(2)


def attention(form: Callable[..., Array], width: int, members: int) -> Callable[[], float]:
    """Gradients of attention's core a second, of `members` at once."""
    keys = jax.random.split(jax.random.key(0), 4)
    q, k, v, g = (jax.random.normal(key, (members, BATCH, D, HEADS, width // HEADS)) for key in keys)
    grad = jax.jit(jax.vmap(jax.grad(lambda q, k, v, g: jnp.vdot(form(q, k, v), g), argnums=(0, 1, 2))))
    jax.block_until_ready(grad(q, k, v, g))
    work = 200 // members

    def many() -> None:
        for _ in range(work):
            found = grad(q, k, v, g)
        jax.block_until_ready(found)

    return lambda: rate(many, work * members)


def rows() -> list[tuple[str, ...]]:
    """One row a width for the ensemble, and one for the two forms."""
    found = []
    for width in WIDTHS:
        steps = max(20, 12_800 // width)
        pair = paired(trained(width, 8, steps // 4), trained(width, 1, steps))
        name = f"transformer on (10, 4)-parity, width {width}, 8 members, 1 core"
        found.append((name, f"{pair.a:.0f} member-steps/s", f"1 member {pair.b:.0f}/s", pair.text(), "1"))
    for width in WIDTHS:
        for members in (1, 4):
            pair = paired(attention(einsum_form, width, members), attention(elementwise_form, width, members))
            name = f"attention's gradient, width {width}, {members} member{'s' * (members > 1)}"
            found.append((name, f"einsum {pair.a:.0f}/s", f"elementwise {pair.b:.0f}/s", pair.text(), "–"))
    return found


if __name__ == "__main__":
    table = Table()
    for column in ("work", "lopsided", "against", "ratio (lowest … highest)", "at least"):
        table.add_column(column)
    for row in rows():
        table.add_row(*row)
    Console(width=150).print(table)
