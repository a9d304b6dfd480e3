"""Margins on what token dropping loses and on kernels that return no weights: rationals, symbols, counts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import (
    Margin,
    ball_within,
    close,
    different,
    identity,
    same,
    worst,
)
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.oracles.alibi import BallHead, printed_scope
from proofs_check.razor.cache.compensation_heads import symbolic_head


def singled_out(power: int = 1) -> Margin:
    """A key D above N - 1 others of one logit weighs 1/(1 + (N - 1) e^{-D}), which tends to 1 in D."""
    wide, number = sp.symbols("D N", positive=True)
    weight = sp.exp(wide) / (sp.exp(wide) + number - 1)
    form = 1 / (1 + (number - 1) * sp.exp(-power * wide))
    return worst([identity(weight, form), identity(sp.limit(weight, wide, sp.oo), 1)])


def something_lost(kept_all: bool = False) -> Margin:
    """Values 1 on the dropped and 0 on all kept tokens: the output was T and is 0; T is positive, free weights."""
    h = symbolic_head(0, 0)
    values = {sp.Symbol("u0", real=True): 1, sp.Symbol("v0", real=True): 0}
    mass = h.mass.subs(sp.Symbol("Z_D", positive=True), 0) if kept_all else h.mass
    lost = identity((h.full - h.kept).subs(values), h.mass)
    return worst([lost, same(bool(sp.sympify(mass).is_positive), True)])


def undetermined(first: Sequence[int], second: Sequence[int], values: Sequence[int]) -> Margin:
    """Two rows of logits (times ln 2) with one output and one log-sum-exp, whose weights differ: what a fused kernel
    returns does not give the weights back. Rationals."""
    rows = [[Fraction(2) ** s for s in row] for row in (first, second)]
    totals = [sum(row) for row in rows]
    outputs = [sum(w * v for w, v in zip(row, values, strict=True)) / t for row, t in zip(rows, totals, strict=True)]
    agree = same((outputs[0], totals[0]), (outputs[1], totals[1]))
    weights = [tuple(w / t for w in row) for row, t in zip(rows, totals, strict=True)]
    return agree if agree.value < 0 else different(*weights)


def in_blocks(tokens: int, block: int, passes: int = 2) -> Margin:
    """Column sums of causal attention, logits whole multiples of ln 2: from the normalisers of a first pass, block by
    block, against whole rows. With one pass each block has its own normaliser."""
    rng = np.random.default_rng(tokens)
    powers = [[Fraction(2) ** int(rng.integers(-3, 4)) for _ in range(row + 1)] for row in range(tokens)]
    whole = [sum((row[j] / sum(row) for row in powers if len(row) > j), Fraction(0)) for j in range(tokens)]
    sums = [Fraction(0)] * tokens
    for start in range(0, tokens, block):
        for row in powers:
            part = row[start : start + block]
            total = sum(row) if passes == 2 else sum(part)
            for j, power in enumerate(part, start):
                sums[j] += power / total
    return same(tuple(sums), tuple(whole))


def fused(seed: int, count_token: bool = True) -> Margin:
    """The last query of a random compressed cache by torch's fused attention, which returns no weights, with ln N_d as
    one more coordinate of khat; against the written-out computation, float64."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    from dynamics.razor.masked import MaskedAttention
    from dynamics.razor.plan import RazorPlan

    rng = np.random.default_rng(seed)
    length, width, sinks, window = 30, 4, int(rng.integers(0, 4)), int(rng.integers(3, 9))
    plan = RazorPlan(2, 2, (frozenset({0}),), sinks=sinks, buffer=window, share=Fraction(0), compensation="mean")
    query, key, value = (torch.from_numpy(rng.standard_normal((1, 2, length, width))) for _ in range(3))
    wanted = MaskedAttention(plan)(0, query, key, value, scale=0.5, slopes=None)[0, :, -1]
    gone = slice(sinks, length - window)
    found = []
    for head, (k, v) in enumerate(zip(key[0], value[0], strict=True)):
        if head in plan.full[0]:
            keys, values, extra = k, v, torch.zeros(length)
        else:
            rest = torch.cat([torch.arange(sinks), torch.arange(length - window, length)])
            keys = torch.cat([k[rest], k[gone].mean(0, keepdim=True)])
            values = torch.cat([v[rest], v[gone].mean(0, keepdim=True)])
            number = np.log(length - window - sinks) if count_token else 0.0
            extra = torch.cat([torch.zeros(len(rest)), torch.tensor([number])])
        asked = torch.cat([0.5 * query[0, head, -1], torch.ones(1).double()])[None]
        wide = torch.cat([keys, extra.double()[:, None]], dim=1)
        padded = torch.cat([values, torch.zeros(len(values), 1).double()], dim=1)
        found.append(scaled_dot_product_attention(asked[None], wide[None], padded[None], scale=1.0)[0, 0, :width])
    return close(torch.stack(found).numpy(), wanted.numpy(), KERNEL)


def solved(sign: int = 1) -> Margin:
    """B - l n - ln eps = -l (n - (B - ln eps)/l), l > 0: one is at most 0 where the other factor is at least 0."""
    slope, bound, n, eps = sp.symbols("l B n eps", positive=True)
    return identity(bound - slope * n - sp.log(eps), -slope * (n - (bound - sign * sp.log(eps)) / slope))


def parameters_of(norm: str) -> Margin:
    """torch's norm of that name has a gain and nothing else."""
    import torch

    module = getattr(torch.nn, norm)(8)
    return same(tuple(name for name, _ in module.named_parameters()), ("weight",))


def proportional(factor: int, power: int = 1) -> Margin:
    """Eq. 2 at slope l and at factor times it, everything else alike: factor^power times the second is the first."""
    head = BallHead("rms", (1, 1), (0, 0), ((1, 0), (0, 1)), ((2, 0), (0, 1)), Fraction(1, 256))
    first, second = (printed_scope(head._replace(slope=head.slope * f), 2, Fraction(1, 1000)) for f in (1, factor))
    return ball_within(abs(first - factor**power * second), Fraction(1, 10**11))


def weights_stay(seed: int, train: bool = False) -> Margin:
    """Scores of all heads and a decoding with the Razor cache leave every parameter as it was, bit for bit, and ask for
    no gradient; with `train` one step of gradient descent is taken in between."""
    import torch

    from dynamics.heads.scores import head_scores
    from dynamics.model.attention_function import replaced
    from dynamics.model.config import ModelConfig
    from dynamics.model.decoder import InductionModel
    from dynamics.razor.cache import RazorCache
    from dynamics.razor.plan import RazorPlan

    config = ModelConfig(vocab=24, width=16, n_heads=4, n_layers=2, position=("rope", "alibi", "none")[seed % 3])
    model = InductionModel(config, torch.Generator().manual_seed(seed))

    def digest() -> str:
        return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())).hexdigest()

    before = digest()
    head_scores(model, k=8, repeats=2, seed=seed)
    plan = RazorPlan(4, 4, (frozenset({0}), frozenset()), sinks=1, buffer=4, share=Fraction(0))
    with torch.no_grad(), replaced(model, RazorCache(plan)):
        model(torch.arange(20)[None] % 24)
    if train:
        model(torch.arange(20)[None] % 24).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    asked = sum(p.grad is not None for p in model.parameters())
    return worst([same(digest(), before), same(asked, 0)])
