"""x-transformers with flash=True, which goes through torch's scaled_dot_product_attention."""

from functools import partial

from proofs_check.conform import load

_plain = load(__file__.replace("_flash", "")).module
_plain.Attend = partial(_plain.Attend, flash=True)
BACKEND, attention, alibi_attention = _plain.BACKEND, _plain.attention, _plain.alibi_attention
