"""transformers' gpt-oss: learned sinks in its eager attention, with its own masks."""

from types import SimpleNamespace

from transformers import GptOssConfig
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

from proofs_check.conform import load

BACKEND = "torch"
_attention = load(__file__.replace("gpt_oss", "attention")).module


def sink_attention(q, k, v, sinks, mask=None, window=None):
    config = GptOssConfig(attn_implementation="eager", sliding_window=window)
    seen, key, value = _attention.given(config, q, k, v, mask)
    layer = SimpleNamespace(num_key_value_groups=q.shape[1] // k.shape[1], sinks=sinks, training=False)
    return eager_attention_forward(layer, q, key, value, seen, q.shape[3] ** -0.5)[0].transpose(1, 2)
