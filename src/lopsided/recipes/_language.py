"""What the recipes on language share: laws, optimizers, causal transformers."""

from __future__ import annotations

from typing import Any

from lopsided.core.spec import Spec


def adamw(lr: float, warmup: int, **changes: Any) -> dict[str, Any]:
    """AdamW with warm-up and a cosine."""
    plain = {"name": "adamw", "lr": lr, "weight_decay": 1e-6, "schedule": "cosine", "warmup": warmup}
    return {**plain, **changes}


def causal(layers: int, width: int, heads: int, **changes: Any) -> dict[str, Any]:
    """A causal transformer."""
    return {
        "name": "transformer",
        "layers": layers,
        "width": width,
        "heads": heads,
        "attention": "causal",
        **changes,
    }


GPT2_SMALL = causal(12, 768, 12, tied=True, initialisation="normal")
QWEN3_06B = causal(
    28,
    1024,
    16,
    kv_heads=8,
    head_width=128,
    hidden=3072,
    norm="rms",
    positions="rope",
    rope_base=1e6,
    qk_norm=True,
    mlp="swiglu",
    tied=True,
    bias=False,
    eps=1e-6,
    initialisation="normal",
)


def language(
    task: dict[str, Any],
    skills: dict[str, Any],
    model: dict[str, Any],
    optimizer: dict[str, Any],
    batch: int,
    steps: int,
    every: int,
    samples: int,
    **changes: Any,
) -> Spec:
    """One arm: fresh text, random rank order."""
    return Spec.parse(
        {
            "task": task,
            "skills": skills,
            "rank_order": "random",
            "model": model,
            "plan": {"name": "online", "batch": batch},
            "optimizer": optimizer,
            "loss": "cross-entropy",
            "steps": steps,
            "evaluation": {"every": every, "samples": samples},
            **changes,
        }
    )
