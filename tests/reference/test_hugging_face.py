"""Our transformer with Hugging Face's weights gives Hugging Face's logits, float32, 1e-5 (GPT-2 and Qwen3)."""

from operator import attrgetter

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.batch import Batch
from lopsided.core.shapes import Classes, Tokens
from lopsided.models import transformer
from lopsided.models._parts import Linear, Norm
from lopsided.models.transformer import Transformer
from lopsided.numerics.stack import Stack
from tests.compiled import answers, greedy, made
from tests.reference import hugging_face as reference

POSITIONS = tuple(range(reference.LENGTH))
COMMON = {
    "layers": reference.LAYERS,
    "width": reference.WIDTH,
    "heads": reference.HEADS,
    "attention": "causal",
    "tied": True,
}
QWEN3 = {
    **COMMON,
    "norm": "rms",
    "positions": "rope",
    "rope_base": reference.ROPE_BASE,
    "kv_heads": reference.KV_HEADS,
    "head_width": reference.HEAD_WIDTH,
    "qk_norm": True,
    "mlp": "swiglu",
    "hidden": reference.HIDDEN,
    "bias": False,
    "eps": reference.EPS,
}


def stored(name):
    """What the file holds of one network."""
    with np.load(reference.FILE) as file:
        return {key.removeprefix(f"{name}/"): jnp.asarray(file[key]) for key in file if key.startswith(f"{name}/")}


def linear(w, name):
    """GPT-2's maps: (in, out) and a bias."""
    return Linear(w[f"{name}.weight"], w[f"{name}.bias"])


def transposed(w, name):
    """PyTorch's linear layers: (out, in)."""
    return Linear(w[f"{name}.weight"].T, None)


def layer_norm(w, name):
    return Norm(w[f"{name}.weight"], w[f"{name}.bias"])


def rms_norm(w, name):
    return Norm(w[f"{name}.weight"], None, reference.EPS)


def gpt2_block(w, i):
    """(norm, q, k, v, o, norm, up, down) of a block; W_q, W_k, W_v lie side by side there."""
    at = f"transformer.h.{i}."
    weights = jnp.split(w[f"{at}attn.c_attn.weight"], 3, axis=1)
    q_bias, k_bias, v_bias = jnp.split(w[f"{at}attn.c_attn.bias"], 3)
    assert np.abs(k_bias).max() > 0.1  # ours has none: the softmax removes it
    return {
        "norm_attention": layer_norm(w, f"{at}ln_1"),
        "attention.q": Linear(weights[0], q_bias),
        "attention.k": Linear(weights[1], None),
        "attention.v": Linear(weights[2], v_bias),
        "attention.o": linear(w, f"{at}attn.c_proj"),
        "norm_mlp": layer_norm(w, f"{at}ln_2"),
        "mlp.up": linear(w, f"{at}mlp.c_fc"),
        "mlp.down": linear(w, f"{at}mlp.c_proj"),
    }


def qwen3_block(w, i):
    at = f"model.layers.{i}."
    maps = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "o_proj"}
    return {
        "norm_attention": rms_norm(w, f"{at}input_layernorm"),
        **{f"attention.{ours}": transposed(w, f"{at}self_attn.{theirs}") for ours, theirs in maps.items()},
        "attention.q_norm": rms_norm(w, f"{at}self_attn.q_norm"),
        "attention.k_norm": rms_norm(w, f"{at}self_attn.k_norm"),
        "norm_mlp": rms_norm(w, f"{at}post_attention_layernorm"),
        **{f"mlp.{name}": transposed(w, f"{at}mlp.{name}_proj") for name in ("gate", "up", "down")},
    }


def ours(config, embedding, position, norm, blocks):
    """A network of this configuration whose every parameter is given."""
    inputs, outputs = Tokens(reference.VOCABULARY, reference.LENGTH), Classes(reference.VOCABULARY, POSITIONS)
    net = made(Transformer(**config), inputs, outputs)
    shapes = jax.tree.map(jnp.shape, net)
    net = eqx.tree_at(lambda n: n.embedding, net, embedding)
    if position is not None:
        net = eqx.tree_at(lambda n: n.position, net, position[: reference.LENGTH])
    net = eqx.tree_at(lambda n: n.norm, net, norm)
    for i, parts in enumerate(blocks):
        for path, value in parts.items():
            stacked = isinstance(net.blocks, Stack)

            def find(n, path=path, i=i, stacked=stacked):
                return attrgetter(path)(n.blocks.stacked if stacked else n.blocks[i])

            if stacked:
                value = jax.tree.map(lambda all_, one, i=i: all_.at[i].set(one), find(net), value)
            net = eqx.tree_at(find, net, value)
    assert jax.tree.map(jnp.shape, net) == shapes  # nothing has another shape than the model's own
    return net


def our_network(name, w):
    blocks = [{"gpt2": gpt2_block, "qwen3": qwen3_block}[name](w, i) for i in range(reference.LAYERS)]
    if name == "gpt2":
        return ours(
            COMMON,
            w["transformer.wte.weight"],
            w["transformer.wpe.weight"],
            layer_norm(w, "transformer.ln_f"),
            blocks,
        )
    return ours(QWEN3, w["model.embed_tokens.weight"], None, rms_norm(w, "model.norm"), blocks)


@pytest.mark.parametrize("scanned", [False, True])
@pytest.mark.parametrize("name", ["gpt2", "qwen3"])
def test_same_weights_same_logits(name, scanned, monkeypatch):
    monkeypatch.setattr(transformer, "UNROLLED", 0 if scanned else 99)
    w = stored(name)
    assert np.abs(w["logits"]).max() > 1
    found = answers(our_network(name, w), Batch(jnp.asarray(w["tokens"])))
    np.testing.assert_allclose(found, w["logits"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "qwen3"])
def test_greedy_decoding_goes_on_as_generate_does(name):
    w = stored(name)
    prompts = Batch(jnp.asarray(w["tokens"])[:, : reference.PROMPT])
    found = greedy(our_network(name, w), prompts, reference.LENGTH - reference.PROMPT)
    np.testing.assert_array_equal(found, w["generated"])
    assert len(np.unique(w["generated"])) > 2


@pytest.mark.slow
def test_the_file_is_what_hugging_face_says():
    """Where PyTorch and transformers are installed, the file is made anew and compared."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    with np.load(reference.FILE) as file:
        for key, value in reference.everything().items():
            np.testing.assert_allclose(value, file[key], rtol=1e-5, atol=1e-5)
