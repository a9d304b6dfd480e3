"""rotary-embedding-torch: the same, of queries and keys in bfloat16."""

from proofs_check.conform import load

_layer = load(__file__.replace("bfloat16", "embedding_torch")).module
PACKAGE, BACKEND, DTYPE, PAIRS, rope = _layer.PACKAGE, _layer.BACKEND, "bfloat16", _layer.PAIRS, _layer.rope
