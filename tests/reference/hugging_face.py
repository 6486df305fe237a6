"""Makes `hugging_face.npz`: small random GPT-2 and Qwen3 networks of Hugging Face, their logits and continuations.

    pip install torch==2.13.0 transformers && python -m tests.reference.hugging_face

The suite needs neither: it reads the file. Weights, norm scales and biases are all random, so that no part can be left
out or applied twice without changing the logits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
VOCABULARY, LENGTH, WIDTH, LAYERS, HEADS = 23, 9, 16, 2, 4
PROMPT = 4
KV_HEADS, HEAD_WIDTH, HIDDEN, EPS, ROPE_BASE = 2, 6, 24, 1e-6, 1_000_000.0


def gpt2() -> Any:
    """Hugging Face's GPT-2."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": LENGTH + 3}
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, bos_token_id=0, eos_token_id=0, **sizes))


def qwen3() -> Any:
    """Hugging Face's Qwen3, with fewer heads of keys than of queries and heads wider than width / heads."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCABULARY,
            hidden_size=WIDTH,
            intermediate_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            head_dim=HEAD_WIDTH,
            rms_norm_eps=EPS,
            tie_word_embeddings=True,
            max_position_embeddings=LENGTH,
            rope_parameters={"rope_type": "default", "rope_theta": ROPE_BASE},
        )
    )


def recorded(network: Any, seed: int) -> dict[str, np.ndarray]:
    """Random weights by name, tokens (3, L), logits (3, L, vocabulary), and how `generate` goes on, greedily, with the
    first PROMPT tokens."""
    import torch

    rng = np.random.default_rng(seed)
    network.eval()
    weights = {}
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            centre = 1.0 if parameter.ndim == 1 and "bias" not in name else 0.0
            value = centre + 0.3 * rng.standard_normal(tuple(parameter.shape))
            weights[name] = value.astype(np.float32)
            parameter.copy_(torch.from_numpy(weights[name]))
        tokens = rng.integers(0, VOCABULARY, (3, LENGTH))
        logits = network(torch.from_numpy(tokens)).logits.numpy()
        # No token ends the text: what is compared is every continuation to its full length.
        network.generation_config.eos_token_id, network.generation_config.pad_token_id = None, 0
        prompts, new = torch.from_numpy(tokens[:, :PROMPT]), LENGTH - PROMPT
        texts = network.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=new, do_sample=False)
    found = {"tokens": tokens.astype(np.int32), "logits": logits}
    return {**weights, **found, "generated": texts[:, PROMPT:].numpy().astype(np.int32)}


def everything() -> dict[str, np.ndarray]:
    """What the file holds, as `gpt2/...` and `qwen3/...`."""
    networks = {"gpt2": gpt2, "qwen3": qwen3}
    found = {name: recorded(make(), seed) for seed, (name, make) in enumerate(networks.items())}
    return {f"{name}/{key}": value for name, record in found.items() for key, value in record.items()}


if __name__ == "__main__":
    np.savez_compressed(FILE, **everything())  # type: ignore[arg-type]
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
