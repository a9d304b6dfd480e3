"""Margins of the claims on the compensation token of Eq. 4 and 5: identities and exact counterexamples."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, ball_within, different, identity, less, same, worst
from proofs_check.razor.cache.compensation_heads import dyadic_head, symbolic_head
from theory.lowering.box import to_ball

Row = Sequence[int]


def biased_column(kept: int, bias: sp.Expr | None = None, extra_coordinate: bool = False) -> Margin:
    """Eq. 5 is attention over the kept keys and khat with a bias ln N_d, or with one more coordinate of the keys."""
    q, khat, vhat = sp.symbols("q khat vhat", real=True)
    count = sp.Symbol("count", positive=True)
    keys, values = sp.symbols(f"k0:{kept}", real=True), sp.symbols(f"v0:{kept}", real=True)
    terms = [(sp.exp(q * k), v) for k, v in zip(keys, values, strict=True)]
    printed = (count * sp.exp(q * khat) * vhat + sum(w * v for w, v in terms)) / (
        count * sp.exp(q * khat) + sum(w for w, _ in terms)
    )
    added = sp.log(count) if bias is None else bias
    query, columns = (sp.Matrix([q, 1]), [sp.Matrix([k, 0]) for k in keys] + [sp.Matrix([khat, added])])
    if extra_coordinate:
        logits = [query.dot(column) for column in columns]
    else:
        logits = [q * k for k in keys] + [q * khat + added]
    weights = [sp.exp(logit) for logit in logits]
    cached = sum(w * v for w, v in zip(weights, (*values, vhat), strict=True)) / sum(weights)
    return identity(printed, cached)


def exact_when_equal(dropped: int, kept: int, plant: int = 0) -> Margin:
    """Equal weights on the dropped tokens and Zhat = N times it: o_comp = o, whatever the values."""
    h = symbolic_head(dropped, kept)
    weight = sp.Symbol("weight", positive=True)
    equal = {sp.Symbol(f"d{i}", positive=True): weight + plant * i for i in range(dropped)}
    equal[sp.Symbol("z", positive=True)] = dropped * weight
    return identity(sp.together(h.full.subs(equal)), sp.together(h.compensated.subs(equal)))


def inexact_when_apart(logits: Row) -> Margin:
    """Any spread of the dropped logits, values 1 on dropped and 0 on kept tokens: the output moves; rationals."""
    h = dyadic_head(logits, [1] * len(logits), [0], [0])
    return different(h.full, h.compensated)


def error_difference(coordinates: int, factor: int = 2) -> Margin:
    """||o - o_comp||^2 - ||o - o_K||^2 = That (That ||vhat - o_K||^2 - 2 T <vbar - o_K, vhat - o_K>)."""
    heads = [symbolic_head(0, 0, c) for c in range(coordinates)]
    mass, token = heads[0].mass, heads[0].token_mass
    squares = sum((h.full - h.compensated) ** 2 - (h.full - h.kept) ** 2 for h in heads)
    towards = sum((h.token_value - h.kept) ** 2 for h in heads)
    inner = sum((h.dropped_mean - h.kept) * (h.token_value - h.kept) for h in heads)
    return identity(sp.cancel(sp.together(squares - token * (token * towards - factor * mass * inner))), 0)


def half_way(coordinates: int, weight: int = 4) -> Margin:
    """2 <e + w, w> - |w|^2 = |w + 2e|^2 / 2 + (|w|^2 - 4 |e|^2) / 2: not negative where |e| <= |w| / 2."""
    e, w = sp.symbols(f"e0:{coordinates}", real=True), sp.symbols(f"w0:{coordinates}", real=True)
    inner = sum(2 * (x + y) * y - y**2 for x, y in zip(e, w, strict=True))
    squares = sum((y + 2 * x) ** 2 / 2 + (y**2 - weight * x**2) / 2 for x, y in zip(e, w, strict=True))
    return identity(inner, squares)


def worse(dropped: Row, values: Sequence[Fraction | int], kept: Row = (0,), kept_values: Row = (0,)) -> Margin:
    """The squared error with compensation is above the one without; rationals."""
    h = dyadic_head(dropped, values, kept, kept_values)
    return less((h.full - h.kept) ** 2, (h.full - h.compensated) ** 2)


def error_near_one(count: int, kept_value: int = 0) -> Margin:
    """Logits (ln(N-1), 0, ...), values (1, -1, ...), one kept token at 0: dropping is exact, compensation is off by
    at least (1 - 2/N) N / (N + 1); balls."""
    x = arb(count - 1).log()
    total = x.exp() + count
    full = (x.exp() - (count - 1) + kept_value) / total
    token = count * (x / count).exp()
    compensated = (token * (2 - count) / count + kept_value) / (token + 1)
    floor, near = Fraction(count - 2, count + 1), Fraction(1, 10**13)
    return worst(
        [
            ball_within(abs(full - kept_value), near),
            ball_within(to_ball(floor) - abs(full - compensated), near),
        ]
    )


def same_token_other_output(first: Row, second: Row) -> Margin:
    """Two dropped caches with one compensation token (khat, vhat and N_d agree) but different full outputs."""
    one, two = (dyadic_head(logits, [1, 0], [0], [0]) for logits in (first, second))
    agree = worst([same(sum(first), sum(second)), same(one.compensated, two.compensated)])
    return agree if agree.value < 0 else different(one.full, two.full)


def needle(logit: int, dropped: int, kept: int, claimed: tuple[str, str, int]) -> Margin:
    """One dropped token `logit` above all others: its true weight, that of its value afterwards, Z_D / Zhat; balls."""
    top = arb(logit).exp()
    z_dropped, token = top + dropped - 1, dropped * (arb(logit) / dropped).exp()
    true, after = top / (z_dropped + kept), token / (token + kept) / dropped
    return worst(
        [
            ball_at_least(arb("5e-5") - abs(true - arb(claimed[0]))),
            ball_at_least(arb("5e-7") - abs(after - arb(claimed[1]))),
            ball_at_least(arb("0.5") - abs(z_dropped / token - claimed[2])),
        ]
    )


def whole_heads_keep_all(seed: int, others: bool = False) -> Margin:
    """A random Razor cache fed in chunks: the keys and values of its whole heads are those given, bit for bit; with
    `others` the cut heads are asked for the same."""
    import torch

    from dynamics.razor.cache import RazorCache
    from proofs_check.razor.cache.built_checks import SCALE, drawn, stream

    plan, chunks, slopes = drawn(seed)
    tokens, cache = stream(plan, seed), RazorCache(plan)
    for part in zip(*(x.split(chunks, dim=2) for x in tokens), strict=True):
        cache(0, *part, scale=SCALE, slopes=slopes)
    (layer,) = cache.parts(0)
    stored = layer.local if others else layer.full
    given = [part[:, stored.index] for part in tokens[1:]]
    if not stored.index:
        return same(0, 0)
    pairs = zip((stored.key, stored.value), given, strict=True)
    return same(sum(torch.equal(part, wanted) for part, wanted in pairs), 2)
