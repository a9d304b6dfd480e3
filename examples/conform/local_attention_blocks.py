"""local-attention: the same without rotation, and windows that are blocks: exact_windowsize=False."""

from proofs_check.conform import load

_model = load(__file__.replace("_blocks", "")).module
_model.OPTIONS = {"use_dynamic_pos_bias": True, "exact_windowsize": False}
PACKAGE, BACKEND, logits, decoded = _model.PACKAGE, _model.BACKEND, _model.logits, _model.decoded
