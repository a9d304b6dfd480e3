"""mlx-lm: Baichuan-M1, whose keys and values are shifted: whole, and in its BatchGenerator, told what follows."""

from itertools import chain, repeat

import mlx.core as mx
import numpy as np
from mlx_lm.generate import BatchGenerator
from mlx_lm.models.baichuan_m1 import Model, ModelArgs

PACKAGE = "mlx-lm"

SIZES = {"vocab_size": 16, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "rms_norm_eps": 1e-6,
         "num_attention_heads": 4, "num_key_value_heads": 2, "rope_theta": 1e4, "sliding_window": 64,
         "sliding_window_layers": [], "conv_window": 2}  # fmt: skip


def model():
    mx.random.seed(0)
    built = Model(ModelArgs(**SIZES))
    for layer in built.layers:
        layer.self_attn.conv_k, layer.self_attn.conv_v = mx.random.normal((2, 1, 1, 2, 1, 2))
    return built


def logits(tokens):
    return np.array(model()(mx.array(tokens)))


def decoded(prompts, steps, chunk=2048):
    """Its generator draws ahead: what is drawn after the last step is read by nobody."""
    count = steps.shape[1] + 1
    generator = BatchGenerator(model(), max_tokens=count, prefill_step_size=chunk)
    told = [chain(row.tolist(), repeat(1)) for row in steps]
    rows = generator.insert(prompts, samplers=[lambda _, row=row: mx.array([next(row)]) for row in told])
    found = {row: [] for row in rows}
    while any(len(row) < count for row in found.values()):
        for response in generator.next()[1]:
            found[response.uid].append(np.array(response.logprobs))
    return np.array([*found.values()])
