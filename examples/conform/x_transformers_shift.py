"""x-transformers: the same decoder with shift_tokens=1."""

from proofs_check.conform import load

_decoder = load(__file__.replace("_shift", "")).module
_decoder.OPTIONS = {"rotary_pos_emb": True, "shift_tokens": 1}
PACKAGE, BACKEND, logits, decoded = _decoder.PACKAGE, _decoder.BACKEND, _decoder.logits, _decoder.decoded
