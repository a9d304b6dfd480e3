"""transformers' gpt-oss: learned sinks in its eager attention, with its own masks."""

from types import SimpleNamespace

from transformers import DynamicCache, GptOssConfig
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

BACKEND = "torch"


def sink_attention(q, k, v, sinks, mask=None, window=None):
    cache, early = DynamicCache(), k.shape[2] - q.shape[2]
    if early:
        cache.update(k[:, :, :early], v[:, :, :early], 0)
    config = GptOssConfig(attn_implementation="eager", sliding_window=window)
    make = create_causal_mask if window is None else create_sliding_window_causal_mask
    seen = make(config, q[:, 0], None if mask is None else mask.long(), cache)
    key, value = cache.update(k[:, :, early:], v[:, :, early:], 0)
    layer = SimpleNamespace(num_key_value_groups=q.shape[1] // k.shape[1], sinks=sinks, training=False)
    return eager_attention_forward(layer, q, key, value, seen, q.shape[3] ** -0.5)[0].transpose(1, 2)
