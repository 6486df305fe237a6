"""What a compiled kernel for a whole perceptron would gain, which lopsided does not use.

python -m benchmarks.fused_kernel        (two minutes; needs a C++ compiler)

The kernel (`fused_kernel.cc`) takes the place of a perceptron with one hidden layer of 64 ReLU units: one call of XLA's
foreign function interface forward and one backward, hidden units in registers. Three recipes' arms are trained with
and without it, in turn. First their gradients are compared.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.ffi import ffi_call, include_dir, pycapsule, register_ffi_target
from jaxtyping import Array

from benchmarks.measure import paired, rate
from lopsided.core.batch import Batch
from lopsided.core.engine import Member
from lopsided.engines import devices, ensemble, program
from lopsided.engines.ensemble import Ensemble
from lopsided.models.mlp import Perceptron
from lopsided.study.recipe_run import prepare

MEMBERS = 64
ARMS = (("small-vs-large", 0, 150), ("bias-removal", -1, 100), ("set-size", 0, 6000))
"""Recipe, which arm, steps a turn."""
FLAGS = "-O3 -march=native -mprefer-vector-width=512 -ffast-math -fno-finite-math-only -w -shared -fPIC -std=c++17"


def compiled(folder: str) -> None:
    """The kernel, built for this machine and known to XLA."""
    library, source = Path(folder) / "kernel.so", Path(__file__).with_suffix(".cc")
    subprocess.run(["c++", *FLAGS.split(), f"-I{include_dir()}", str(source), "-o", str(library)], check=True)
    functions = ctypes.cdll.LoadLibrary(str(library))
    for name in ("forward", "backward"):
        register_ffi_target(name, pycapsule(getattr(functions, f"{name}_")), platform="cpu")


def _like(*arrays: Array) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]


@jax.custom_vjp
def perceptron(x: Array, w: Array, b: Array, v: Array, c: Array) -> Array:
    """relu(x w + b) v + c for x (B, D), w (D, 64)."""
    return ffi_call("forward", _like(x[:, 0])[0], vmap_method="broadcast_all")(x, w, b, v, c)


def _forward(*arguments: Array) -> tuple[Array, tuple[Array, ...]]:
    return perceptron(*arguments), arguments


def _backward(kept: tuple[Array, ...], g: Array) -> tuple[Array | None, ...]:
    x, w, b, v, c = kept
    return None, *ffi_call("backward", _like(w, b, v, c), vmap_method="broadcast_all")(x, w, b, v, g)


perceptron.defvjp(_forward, _backward)


def plain(x: Array, w: Array, b: Array, v: Array, c: Array) -> Array:
    return jax.nn.relu(x @ w + b) @ v + c


@contextmanager
def kernel_in_place() -> Iterator[None]:
    """Perceptrons that are traced inside the block call the kernel."""

    def call(self: Perceptron, batch: Batch) -> Array:
        first, last = self.layers
        assert first.bias is not None
        assert last.bias is not None
        return perceptron(batch.inputs, first.weight, first.bias, last.weight[:, 0], last.bias[0])

    before = Perceptron.__call__
    Perceptron.__call__ = call
    forget_programs()
    try:
        yield
    finally:
        Perceptron.__call__ = before
        forget_programs()


def forget_programs() -> None:
    """What was traced and compiled before is not used again."""
    program._PROGRAMS.clear()
    ensemble._COMPILED.clear()


def largest_difference() -> float:
    """Of any gradient, as a share of its largest entry."""
    keys, found = jax.random.split(jax.random.key(0), 6), 0.0
    for samples, d in ((128, 20), (101, 14), (7, 3)):
        shapes = (samples, d), (d, 64), (64,), (64,), (), (samples,)
        x, *weights, y = (jax.random.normal(k, shape) for k, shape in zip(keys, shapes, strict=True))

        def loss(weights: list[Array], f: Callable[..., Array], x: Array = x, y: Array = y) -> Array:
            return (jnp.tanh(f(x, *weights) / 8) * y).sum()

        ours, theirs = (jax.jit(jax.grad(loss), static_argnums=1)(weights, f) for f in (perceptron, plain))
        shares = [abs(a - b).max() / abs(b).max() for a, b in zip(ours, theirs, strict=True)]
        found = max(found, *map(float, shares))
    return found


def trained(name: str, arm: int, steps: int) -> Callable[[], float]:
    """Member-steps per second of further `steps` steps."""
    spec = list(prepare(name, "laptop", None, []).arms.values())[arm].model_copy(update={"until": None})
    members = Ensemble([Member(spec, seed) for seed in range(MEMBERS)])
    members.compile()

    def advance() -> None:
        members.advance(members.step + steps)
        jax.block_until_ready(members.state)

    return lambda: rate(advance, MEMBERS * steps)


def main() -> None:
    devices.setup(MEMBERS)
    with tempfile.TemporaryDirectory() as folder:
        compiled(folder)
        print(f"largest difference of a gradient: {largest_difference():.1e} of its largest entry\n")
        print("| recipe | XLA alone, member-steps/s | with the kernel | ratio |\n|---|---:|---:|---:|", flush=True)
        for name, arm, steps in ARMS:
            alone = trained(name, arm, steps)
            with kernel_in_place():
                fused = trained(name, arm, steps)
                found = paired(fused, alone)
            print(f"| {name} | {found.b:,.0f} | {found.a:,.0f} | {found.text()} |", flush=True)


if __name__ == "__main__":
    main()
