"""mlx-lm: a Llama, whole, and in its BatchGenerator, whose sampler is told what follows."""

import importlib
from itertools import chain, repeat

import mlx.core as mx
import numpy as np
from mlx_lm.models.llama import Model, ModelArgs

generation = importlib.import_module("mlx_lm.generate")
SIZES = {"vocab_size": 16, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "rms_norm_eps": 1e-6,
         "num_attention_heads": 4, "num_key_value_heads": 2}  # fmt: skip


def model():
    mx.random.seed(0)
    return Model(ModelArgs(model_type="llama", **SIZES))


def logits(tokens):
    return np.array(model()(mx.array(tokens)))


def decoded(prompts, steps, chunk=2048):
    """Its generator draws ahead: what is drawn after the last step is read by nobody."""
    count, found = steps.shape[1] + 1, {}
    generator = generation.BatchGenerator(model(), max_tokens=count, prefill_step_size=chunk)
    told = [_follow(row.tolist()) for row in steps]
    rows = generator.insert(prompts, samplers=told)
    while any(len(found.get(row, ())) < count for row in rows):
        for response in generator.next()[1]:
            found.setdefault(response.uid, []).append(np.array(response.logprobs))
    return np.stack([np.stack(found[row]) for row in rows])


def _follow(row):
    left = chain(row, repeat(1))
    return lambda _: mx.array([next(left)])
