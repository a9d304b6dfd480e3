"""transformers: its masks with sdpa attention, as in Llama, and with gpt-oss's eager attention and sinks."""

from types import SimpleNamespace

from transformers import DynamicCache, GptOssConfig, LlamaConfig
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import (
    create_causal_mask,
    create_sliding_window_causal_mask,
    packed_sequence_mask_function,
)
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

PACKAGE = "transformers"
BACKEND = "torch"


def attention(q, k, v, mask=None, segments=None, window=None):
    config = LlamaConfig(attn_implementation="sdpa")
    return _attended(sdpa_attention_forward, config, window, q, k, v, mask, segments)


def sink_attention(q, k, v, sinks, mask=None, segments=None, window=None):
    config = GptOssConfig(attn_implementation="eager")
    return _attended(eager_attention_forward, config, window, q, k, v, mask, segments, sinks=sinks)


def _attended(forward, config, window, q, k, v, mask, segments, **own):
    """As in a layer of such a model: earlier keys are in its cache, the mask is made of that."""
    cache, early = DynamicCache(), k.shape[2] - q.shape[2]
    if early:
        cache.update(k[:, :, :early], v[:, :, :early], 0)
    config.sliding_window = window
    make = create_causal_mask if window is None else create_sliding_window_causal_mask
    apart = None if segments is None else packed_sequence_mask_function(segments)
    seen = make(config, q[:, 0], None if mask is None else mask.long(), cache, and_mask_function=apart)
    layer = SimpleNamespace(num_key_value_groups=q.shape[1] // k.shape[1], is_causal=True, training=False, **own)
    given = cache.update(k[:, :, early:], v[:, :, early:], 0)
    return forward(layer, q, *given, seen, scaling=q.shape[3] ** -0.5)[0].transpose(1, 2)
