"""What one value for all layers saves: the share of the KV cache that is left, and the parameters, exactly.

Source: ResFormer, Section 3.5 and Table 4. Numbers give Fractions and ints, arrays give floats.
"""

from __future__ import annotations

from fractions import Fraction

from theory.checked import elementwise, whole
from theory.shift.parameters import Shape, untied_parameters

VOCABULARY = 50277
TABLE_4 = {
    "2M": Shape(hidden=16, layers=4, heads=2, kv_heads=2, ffn=56, vocab=VOCABULARY),
    "82M": Shape(hidden=512, layers=8, heads=8, kv_heads=8, ffn=1792, vocab=VOCABULARY),
    "180M": Shape(hidden=768, layers=12, heads=12, kv_heads=12, ffn=2688, vocab=VOCABULARY),
    "468M": Shape(hidden=1024, layers=24, heads=16, kv_heads=16, ffn=3584, vocab=VOCABULARY),
}


@elementwise("n_layers", "n_heads", "kv_heads", "anchors", "d_key", "d_value")
def svformer_cache(
    n_layers: int, n_heads: int = 1, kv_heads: int = 1, anchors: int = 1, d_key: int = 1, d_value: int = 1
) -> Fraction:
    """g (L d_k + a d_v) / (h L (d_k + d_v)), of the cache with L h keys and values a token; (L + 1)/(2 L) by default.

    Args: n_layers L >= 1; n_heads h >= 1; kv_heads g, a divisor of h (grouped queries); anchors a in 1..L, the layers
    that keep values of their own, the first among them; d_key and d_value >= 1, sizes of a head. Raises ValueError.
    """
    n_layers, anchors = whole("n_layers", n_layers, 1), whole("anchors", anchors, 1)
    d_key, d_value = whole("d_key", d_key, 1), whole("d_value", d_value, 1)
    if anchors > n_layers:
        raise ValueError(f"anchors must be a whole number in 1..{n_layers}, got {anchors}")
    kept = Fraction(n_layers * d_key + anchors * d_value, n_layers * (d_key + d_value))
    return kept * _groups(n_heads, kv_heads)


@elementwise("n_layers", "d_model", "d_ffn", "vocab")
def model_parameters(n_layers: int, d_model: int, d_ffn: int, vocab: int = VOCABULARY) -> int:
    """L (4 d^2 + 3 d f + 2 d) + d + 2 V d: four projections, SwiGLU, two RMSNorms a layer, one more, and untied V d.

    That is what Table 4 describes (2M, 82M, 180M, 468M); `TABLE_4` has the sizes. Raises ValueError for sizes < 1.
    """
    layers, hidden = whole("n_layers", n_layers, 1), whole("d_model", d_model, 1)
    ffn, words = whole("d_ffn", d_ffn, 1), whole("vocab", vocab, 1)
    return untied_parameters(Shape(hidden, layers, heads=1, kv_heads=1, ffn=ffn, vocab=words))


@elementwise("n_layers", "d_model")
def svformer_saving(n_layers: int, d_model: int) -> int:
    """(L - 1) d^2 parameters: the W_V of all layers but the first, d x d each. Raises ValueError for sizes < 1."""
    return (whole("n_layers", n_layers, 1) - 1) * whole("d_model", d_model, 1) ** 2


def _groups(n_heads: int, kv_heads: int) -> Fraction:
    n_heads, kv_heads = whole("n_heads", n_heads, 1), whole("kv_heads", kv_heads, 1)
    if n_heads % kv_heads:
        raise ValueError(f"kv_heads must be a divisor of n_heads = {n_heads}, got {kv_heads}")
    return Fraction(kv_heads, n_heads)
