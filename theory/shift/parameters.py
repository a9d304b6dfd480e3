"""How many parameters a Llama-like model has, and how many the shift adds: polynomials in its shape."""

from fractions import Fraction
from typing import NamedTuple

import sympy as sp

from theory.checked import whole


class Shape(NamedTuple):
    """Shape of a Llama-like decoder; ints, fractions, or sympy symbols for the polynomials themselves."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int


def _checked(shape: Shape) -> Shape:
    """Whole numbers >= 1 as ints; fractions > 0 and expressions as they are. Raises ValueError for anything else."""
    return Shape(*(_size(name, size) for name, size in zip(Shape._fields, shape, strict=True)))


def _size(name: str, size: object) -> object:
    if (isinstance(size, Fraction) and size > 0) or (isinstance(size, sp.Expr) and not size.is_number):
        return size
    return whole(name, size, 1)


def attention_parameters(shape: Shape) -> int:
    """2 h^2 + 2 h^2 g / n of one layer: W_Q and W_O, then W_K and W_V of g key-value heads among n (GQA; g = n is MHA).

    Valid when: n divides h (the head dimension is h / n) and there are no biases.
    Raises ValueError for a size that is no whole number >= 1, fraction > 0 or expression.
    """
    shape = _checked(shape)
    return 2 * shape.hidden**2 + 2 * shape.hidden * shape.hidden * shape.kv_heads // shape.heads


def layer_parameters(shape: Shape) -> int:
    """Attention, the three matrices of a SwiGLU of width f (3 h f) and two RMSNorm gains (2 h)."""
    shape = _checked(shape)
    return attention_parameters(shape) + 3 * shape.hidden * shape.ffn + 2 * shape.hidden


def non_embedding_parameters(shape: Shape) -> int:
    """All layers and the last RMSNorm gain."""
    shape = _checked(shape)
    return shape.layers * layer_parameters(shape) + shape.hidden


def untied_parameters(shape: Shape) -> int:
    """The same, an embedding and a read-out besides, each of V h: Llama's total."""
    shape = _checked(shape)
    return non_embedding_parameters(shape) + 2 * shape.vocab * shape.hidden


def shift_parameters(shape: Shape) -> int:
    """4 g a layer: two alphas and two betas for each key-value head. Source: KV shifting, Section 2.2, footnote 1."""
    shape = _checked(shape)
    return 4 * shape.kv_heads * shape.layers


def llama_ffn(hidden: int, multiple: int = 256) -> int:
    """Llama's own width of the SwiGLU: 8 h / 3, rounded up to a multiple of 256. Source: Touvron et al. (2023)."""
    hidden, multiple = whole("hidden", hidden, 1), whole("multiple", multiple, 1)
    width = 8 * hidden // 3
    return -(-width // multiple) * multiple
