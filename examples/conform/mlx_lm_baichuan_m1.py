"""mlx-lm: Baichuan-M1, whose keys and values are shifted, in the same way."""

import mlx.core as mx
from mlx_lm.models.baichuan_m1 import Model, ModelArgs

from proofs_check.conform import load

_llama = load(__file__.replace("baichuan_m1", "llama")).module


def model():
    mx.random.seed(0)
    more = {"rope_theta": 1e4, "sliding_window": 64, "sliding_window_layers": [], "conv_window": 2}
    built = Model(ModelArgs(**_llama.SIZES, **more))
    for layer in built.layers:
        layer.self_attn.conv_k, layer.self_attn.conv_v = (mx.random.normal((1, 1, 2, 1, 2)) for _ in range(2))
    return built


_llama.model = model
logits, decoded = _llama.logits, _llama.decoded
