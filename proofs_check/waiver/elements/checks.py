"""Margins for the claims about waivers: exact comparisons, and a masked token in random models."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, different, less, same, worst
from proofs_check.evidence.tolerances import ROUNDING


def one_too_many(length: int, last: int = 0) -> Margin:
    """The sum from 0 to length + last has another number of terms than there are positions."""
    return different(len(range(length + last + 1)), length)


def others_are_scaled(weight: Fraction | int = Fraction(9, 10), value: int = 0) -> Margin:
    """A token of this weight and value, and two others of values 1 and 3 and equal weights: its term, and theirs."""
    return worst([same(0, weight * value), different((1 - weight) * Fraction(1 + 3, 2), Fraction(2))])


def smaller_key(key: tuple[int, int], other: tuple[int, int]) -> Margin:
    """Against the query (-1, 0) both products are negative, the first key is the smaller one, and so is its product."""
    product, of_other = -key[0], -other[0]
    norms = (sum(x * x for x in k) for k in (key, other))
    return worst([less(product, 0), less(of_other, 0), less(*norms), less(product, of_other)])


def no_component(key: tuple[int, int]) -> Margin:
    """The product with (1, 0) is not positive, and not negative either."""
    product = key[0]
    return worst([at_most(product, 0), at_most(0, product)])


def cosine_is_no_angle(theta: bool = False) -> Margin:
    """The angle between (1, 0) and itself, and its cosine by Equation 6, the product over both norms."""
    cosine = sp.Matrix([1, 0]).dot(sp.Matrix([1, 0]))
    return different(sp.acos(cosine) if theta else cosine, sp.acos(cosine))


def duplicates(rows: tuple[str, ...]) -> Margin:
    """States of first tokens are functions of their embeddings: fewer than words where two have the same one."""
    return less(len(set(rows)), len(rows))


def not_linear(scale: int) -> Margin:
    """x + RMSNorm(x) in one dimension, x + x/|x|, at 1 and at `scale`: a matrix would multiply one to get the other."""
    at_one, at_scale = (x + Fraction(x, abs(x)) for x in (1, scale))
    return different(scale * at_one, at_scale)


def masked_is_first(position: str, seed: int, layers: tuple[int, ...] | None = None, shift: str = "none") -> Margin:
    """A token at place 5 that sees itself alone in these layers (None: in all) of a random model of three: behind each
    layer its state is that of the same word as a first token."""
    import torch

    from dynamics.model.config import ModelConfig
    from dynamics.model.decoder import InductionModel
    from dynamics.sinks.first_token import state_gaps

    sizes = {"vocab": 16, "width": 16, "n_heads": 2, "mlp_width": 32, "n_layers": 3}
    longest = 16 if position == "learned" else None
    config = ModelConfig.checked({**sizes, "position": position, "shift": shift, "max_length": longest})
    generator = torch.Generator().manual_seed(seed)
    model, tokens = InductionModel(config, generator).double().eval(), torch.randint(16, (9,), generator=generator)
    return at_most(state_gaps(model, tokens, 5, layers), [0.0] * 3, slack=ROUNDING)
