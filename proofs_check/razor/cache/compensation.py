"""Section 3.2 of RazorAttention, Eq. 4 and 5: what the compensation token is, what it preserves, what was "proved"."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, different, identity, less, same, worst
from proofs_check.ledger.claim import INSTANCES, WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from proofs_check.razor.cache.compensation_bounds import DEFICIT
from proofs_check.razor.cache.compensation_heads import dyadic_head, outputs, symbolic_head

SECTION = "RazorAttention, Section 3.2"
EQ5 = f"{SECTION}, Eq. 4 and 5"
DROPPED = tuple({"dropped": n} for n in (1, 2, 3))
THREE = {"dropped": (1, -1), "values": (1, -4)}
TWINS = {"first": (1, -1), "second": (0, 0)}
Row = Sequence[int]


def biased_column(bias: sp.Expr | None = None) -> Margin:
    """Eq. 5 is attention of the query (q, 1) over the kept keys (k, 0) and (khat, ln N_d); two kept tokens."""
    q, khat, vhat = sp.symbols("q khat vhat", real=True)
    keys, values = sp.symbols("k0:2", real=True), sp.symbols("v0:2", real=True)
    count = sp.Symbol("count", positive=True)
    token, kept = count * sp.exp(q * khat), [sp.exp(q * k) for k in keys]
    printed = (token * vhat + sum(w * v for w, v in zip(kept, values, strict=True))) / (token + sum(kept))
    columns = [*((k, 0) for k in keys), (khat, sp.log(count) if bias is None else bias)]
    weights = [sp.exp(sp.Matrix([q, 1]).dot(column)) for column in columns]
    cached = sum(w * v for w, v in zip(weights, (*values, vhat), strict=True)) / sum(weights)
    return identity(printed, cached)


def exact_when_equal(dropped: int, plant: int = 0) -> Margin:
    """Equal weights on the dropped tokens and Zhat = N times it: o_comp = o, whatever the values and the kept sums."""
    weight, kept = sp.symbols("weight Z_K", positive=True)
    values = sp.symbols(f"u0:{dropped}", real=True)
    weights = [weight + plant * i for i in range(dropped)]
    h = outputs(weights, values, [kept], [sp.Symbol("v", real=True)], dropped * weight, sum(values) / dropped)
    return identity(h.full, h.compensated)


def inexact_when_apart(logits: Row) -> Margin:
    """Any spread of the dropped logits, values 1 on dropped and 0 on kept tokens: the output moves; rationals."""
    h = dyadic_head(logits, [1] * len(logits), [0], [0])
    return different(h.full, h.compensated)


def error_difference(factor: int = 2) -> Margin:
    """With a = vbar - o_K and w = vhat - o_K, coordinate by coordinate o - o_K = T a and o - o_comp = T a - That w; so
    ||o - o_comp||^2 - ||o - o_K||^2 = That (That ||w||^2 - 2 T <a, w>), for free inner products."""
    h = symbolic_head()
    a, w = h.dropped_mean - h.kept, h.token_value - h.kept
    mass, token, aa, aw, ww = sp.symbols("T That aa aw ww", real=True)
    squares = mass**2 * aa - 2 * mass * token * aw + token**2 * ww - mass**2 * aa
    return worst(
        [
            identity(h.full - h.kept, h.mass * a),
            identity(h.full - h.compensated, h.mass * a - h.token_mass * w),
            identity(squares, token * (token * ww - factor * mass * aw)),
        ]
    )


def half_way(weight: int = 4) -> Margin:
    """2 <e + w, w> - |w|^2 = |w + 2e|^2 / 2 + (|w|^2 - 4 |e|^2) / 2: not negative where |e| <= |w| / 2."""
    ee, ew, ww = sp.symbols("ee ew ww", real=True)  # inner products
    return identity(2 * (ew + ww) - ww, (ww + 4 * ew + 4 * ee) / 2 + (ww - weight * ee) / 2)


def worse(dropped: Row, values: Sequence[Fraction | int], kept: Row = (0,), kept_values: Row = (0,)) -> Margin:
    """The squared error with compensation is above the one without; rationals."""
    h = dyadic_head(dropped, values, kept, kept_values)
    return less((h.full - h.kept) ** 2, (h.full - h.compensated) ** 2)


def error_near_one(count: int, kept_value: int = 0) -> Margin:
    """Logits (ln(N-1), 0, ...), values (1, -1, ...), one kept token at 0: dropping is exact, compensation is off by
    at least (1 - 2/N) N / (N + 1); balls."""
    top = count - 1  # the weight of the first; all others weigh 1
    full = Fraction(top - (count - 1) + kept_value, top + count)
    token = count * (arb(top).log() / count).exp()
    compensated = (token * (2 - count) / count + kept_value) / (token + 1)
    off = ball_at_least(abs(compensated - kept_value), Fraction(count - 2, count + 1))
    return worst([same(full, kept_value), off])


def same_token_other_output(first: Row, second: Row) -> Margin:
    """Two dropped caches with one compensation token (khat, vhat and N_d agree) but different full outputs."""
    one, two = (dyadic_head(logits, [1, 0], [0], [0]) for logits in (first, second))
    agree = worst([same(sum(first), sum(second)), same(one.compensated, two.compensated)])
    return agree if agree.value < 0 else different(one.full, two.full)


def needle(logit: int = 15) -> Margin:
    """One of 4000 dropped tokens `logit` above all others, 4000 kept: its weight, its value's afterwards, Z_D / Zhat;
    balls."""
    top = arb(logit).exp()
    z_dropped, token = top + 3999, 4000 * (arb(logit) / 4000).exp()
    true, after = top / (z_dropped + 4000), token / (token + 4000) / 4000
    return worst(
        [
            ball_at_least(arb("5e-5") - abs(true - arb("0.9976"))),
            ball_at_least(arb("5e-7") - abs(after - arb("0.000125"))),
            ball_at_least(arb("0.5") - abs(z_dropped / token - 815)),
        ]
    )


def whole_heads_keep_all(seed: int, others: bool = False) -> Margin:
    """A random Razor cache fed in chunks: the keys and values of its whole heads are those given, bit for bit; with
    `others` the cut heads are asked for the same."""
    import torch

    from dynamics.razor.cache import RazorCache
    from proofs_check.razor.cache.built import SCALE, drawn, stream

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


BIASED = symbolic(
    "2 kept tokens, all free; khat with the logit bias ln N_d, as one more coordinate of its key (0 for kept tokens) "
    "against a query coordinate 1",
    biased_column,
    ONCE,
    Control("the plain augmented cache: that coordinate left at 0", lambda: biased_column(0)),
)
WHOLE = exact(
    "random caches fed in chunks: what the whole heads hold is every key and value they were given, bit for bit",
    whole_heads_keep_all,
    tuple({"seed": seed} for seed in range(24)),
    Control("the other heads", lambda seed: whole_heads_keep_all(seed, others=True)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq5.cache",
        EQ5,
        "Eq. 5 is attention over the kept cache augmented with the compensation token: {K, khat}, {V, vhat}.",
        BIASED,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="{K, khat} names the cache of Eq. 5, in which khat counts N_d times, as its print shows.",
        coverage=everywhere("The kept tokens enter both sides as the same two sums, however many they are."),
        note="The logit of khat needs the bias ln N_d: khat stands for N_d tokens.",
        formula=r"N_d e^{q\hat k}=e^{q\hat k+\ln N_d}",
    ),
    mathematical(
        "razor.sec1.flash",
        "RazorAttention, Section 1 and Eq. 5",
        "RazorAttention is compatible with FlashAttention: its kernel reads the compressed cache, token included.",
        BIASED,
        defect="razor.eq5.cache",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="Compatible: what the kernel computes is enough, once it is handed suitable keys.",
        coverage=everywhere("The kept tokens enter both sides as the same two sums, however many they are."),
        note="The kernel must take a bias per key, or heads one coordinate wider (an exact rewriting).",
        formula=r"(q,1)\cdot(\hat k,\ln N_d)=q\hat k+\ln N_d",
    ),
    mathematical(
        "razor.eq5.exact",
        f"{EQ5}, added",
        "Eq. 5 equals full attention for a query on which all dropped keys have one logit, so also where one token is "
        "dropped; for all queries, values and kept tokens it does so iff all dropped keys coincide.",
        symbolic(
            "equal weights: o_comp = o for free values, 1 to 3 dropped and any number of kept tokens",
            exact_when_equal,
            DROPPED,
            Control("unequal weights", lambda dropped: exact_when_equal(dropped, plant=1), DROPPED[1:]),
        ),
        exact(
            "keys apart: a query gives them these logits (times ln 2), and the output moves",
            inexact_when_apart,
            tuple({"logits": row} for row in ((1, -1), (0, 0, 3), (5, -5, 0))),
            Control("logits that agree", None, ({"logits": (1, 1)},)),
        ),
        DEFICIT,
        coverage=everywhere(
            "If: equal weights, for any number by razor.eq5.identity. Only if: keys apart give some query a spread, "
            "each token then adds e^x - 1 - x > 0 to Z_D - Zhat, and values 1 on dropped and 0 on kept tokens show it."
        ),
        is_correction=True,
        formula=r"\hat o=o\ \forall q,V,K\iff k_m=\hat k\ \forall m\in D",
    ),
    mathematical(
        "razor.sec1.proved.pointwise",
        "RazorAttention, Section 1, added",
        "The compensation token does not bring every output closer to full attention than dropping does: from 3 tokens "
        "on it can be further off, by almost 1 where values lie in [-1, 1] and dropping is exact.",
        exact(
            "3 tokens, q = 1: keys ln 2 and -ln 2 with values 1 and -4 dropped, key 0 with value 0 kept: the output is "
            "0, 0 when dropped, -1 when compensated",
            worse,
            (THREE,),
            Control("values 1 and -1", None, ({"dropped": (1, -1), "values": (1, -1)},)),
            Control("one dropped token, where compensation is exact", None, ({"dropped": (1,), "values": (1,)},)),
        ),
        exact(
            "values in [-1, 1]: dropping is exact and the compensated output is off by (N - 2)/(N + 1) or more",
            error_near_one,
            tuple({"count": n} for n in (3, 10, 1000, 10**6)),
            Control("the kept value moved to 1", lambda count: error_near_one(count, kept_value=1)),
        ),
        coverage=WITNESSED,
        is_correction=True,
        formula=r"\|o-\hat o\|>\|o-o_K\|",
    ),
    mathematical(
        "razor.sec1.proved.corrected",
        "RazorAttention, Section 1, corrected",
        "Compensation is worse than dropping iff That |vhat - o_K|^2 > 2 T <vbar - o_K, vhat - o_K>; never where "
        "|vbar - vhat| <= |vhat - o_K| / 2, a constant that cannot be raised.",
        symbolic(
            "difference of the squared errors, free weights and inner products of values in any dimension",
            error_difference,
            ONCE,
            Control("T in place of 2 T", lambda: error_difference(factor=1)),
        ),
        symbolic(
            "with vbar - o_K = e + w, w = vhat - o_K: a sum of squares where |e| <= |w| / 2, and That <= T",
            half_way,
            ONCE,
            Control("|e| <= |w|", lambda: half_way(weight=1)),
        ),
        exact(
            "the constant: |vbar - vhat| = rho |vhat - o_K|, rho above 1/2, the kept token far below: it is worse",
            lambda ratio: worse((-1, 1), (1 + 5 * ratio / 3, 1 - 5 * ratio / 3), (-100,), (0,)),
            tuple({"ratio": Fraction(1, 2) + Fraction(1, n)} for n in (10, 100, 10**6)),
            Control("rho = 1/2", None, ({"ratio": Fraction(1, 2)},)),
        ),
        coverage=everywhere(
            "Free weights and sums in each coordinate of the values, and free inner products of all; the constant by "
            "three exact heads that approach it."
        ),
        is_correction=True,
        formula=r"\hat T\|\hat v-o_K\|^2>2T\langle\bar v-o_K,\hat v-o_K\rangle",
    ),
    mathematical(
        "razor.abstract.information",
        "RazorAttention, Abstract",
        "The compression preserves all token information: every token's key and value stays in the retrieval heads.",
        WHOLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="In the heads that keep their whole cache, as the conclusion says; layers without one are set apart.",
        coverage=INSTANCES,
        note="In the cut heads information is lost: razor.abstract.information.cut. A layer without a retrieval head "
        "keeps no token whole, and what later tokens bring into the whole heads has passed the cut ones.",
        formula=r"h\text{ whole}\Rightarrow(K,V)_h\text{ unaltered}",
    ),
    mathematical(
        "razor.sec5.retrieval_heads",
        "RazorAttention, Section 5",
        "All semantic information is preserved within the retrieval heads.",
        WHOLE,
        reading="Semantic information is taken for the keys and values that these heads are given.",
        coverage=INSTANCES,
        note="Keys and values of later tokens differ from those of the uncompressed model where a cut head lies below.",
        formula=r"h\text{ whole}\Rightarrow(K,V)_h\text{ unaltered}",
    ),
    mathematical(
        "razor.abstract.information.cut",
        "RazorAttention, Abstract and Section 3.2, added",
        "A cut head does lose what it drops: caches with one compensation token have different full outputs, and a "
        "needle's value can fall from a weight of 0.9976 to 1.25e-4.",
        exact(
            "two pairs of dropped tokens, logits (ln 2, -ln 2) and (0, 0), values (1, 0): one compensation token, full "
            "outputs 4/7 and 1/3",
            same_token_other_output,
            (TWINS,),
            Control("the same cache twice", None, ({"first": (1, -1), "second": (1, -1)},)),
            Control("caches with other tokens", None, ({"first": (2, 0), "second": (0, 0)},)),
        ),
        exact(
            "a needle 15 above 3999 dropped and 4000 kept tokens: weight 0.9976, its value's weight after compensation "
            "1.25e-4, dropped mass counted 815 times too small",
            needle,
            ONCE,
            Control("logit 14", lambda: needle(14)),
        ),
        coverage=WITNESSED,
        is_correction=True,
        note="A mean of N_d keys and values is not injective.",
        formula=r"(\hat k,\hat v,N_d)\text{ does not determine }o",
    ),
)
