"""Section 3.2 of RazorAttention, Eq. 4 and 5: what the compensation token is, what it preserves, what was "proved"."""

from fractions import Fraction

from proofs_check.ledger.claim import INSTANCES, WITNESSED, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import exact, mathematical, symbolic
from proofs_check.razor.cache import compensation_checks as c
from proofs_check.razor.cache.compensation_bound_checks import deficit

SECTION = "RazorAttention, Section 3.2"
EQ5 = f"{SECTION}, Eq. 4 and 5"
KEPT = tuple({"kept": n} for n in (1, 2, 3))
SHAPES = tuple({"dropped": n, "kept": k} for n, k in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1)))
COORDINATES = tuple({"coordinates": n} for n in (1, 2))
THREE = {"dropped": (1, -1), "values": (1, -4)}
SPREADS = tuple({"logits": row} for row in ((1, -1), (2, 0), (0, 0, 3), (4, 1, 1), (1, 1, -1, -1), (5, -5, 0)))
TWINS = {"first": (1, -1), "second": (0, 0)}
NEEDLE = {"logit": 15, "dropped": 4000, "kept": 4000, "claimed": ("0.9976", "0.000125", 815)}
WHOLE = exact(
    "random caches fed in chunks: what the whole heads hold is every key and value they were given, bit for bit",
    c.whole_heads_keep_all,
    tuple({"seed": seed} for seed in range(24)),
    Control("the other heads", lambda seed: c.whole_heads_keep_all(seed, others=True)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.eq5.cache",
        EQ5,
        "Eq. 5 is attention over the kept cache augmented with the compensation token: {K, khat}, {V, vhat}.",
        symbolic(
            "free scores, values and N_d, 1 to 3 kept tokens, khat with the logit bias ln N_d",
            c.biased_column,
            KEPT,
            Control("the plain augmented cache, no bias", lambda kept: c.biased_column(kept, bias=0)),
        ),
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
        symbolic(
            "keys with one more coordinate: 0 for kept tokens, ln N_d for khat, against a query coordinate 1",
            lambda kept: c.biased_column(kept, extra_coordinate=True),
            KEPT,
            Control("that coordinate left at 0", lambda kept: c.biased_column(kept, bias=0, extra_coordinate=True)),
        ),
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
            "equal weights: o_comp = o for free values, up to 3 dropped and 2 kept tokens",
            c.exact_when_equal,
            SHAPES,
            Control("unequal weights", lambda **p: c.exact_when_equal(**p, plant=1), SHAPES[2:]),
        ),
        exact(
            "keys apart: a query gives them these logits (times ln 2), and the output moves",
            c.inexact_when_apart,
            SPREADS,
            Control("logits that agree", None, ({"logits": (1, 1)},)),
        ),
        symbolic(
            "any spread of any 2 to 5 logits: the deficit of the token is a sum of terms e^x - 1 - x > 0",
            deficit,
            tuple({"count": n} for n in (2, 3, 4, 5)),
            Control("logits about another mean", lambda count: deficit(count, drift=1)),
        ),
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
            c.worse,
            (THREE,),
            Control("values 1 and -1", None, ({"dropped": (1, -1), "values": (1, -1)},)),
            Control("one dropped token, where compensation is exact", None, ({"dropped": (1,), "values": (1,)},)),
        ),
        exact(
            "values in [-1, 1]: dropping is exact and the compensated output is off by (N - 2)/(N + 1) or more",
            c.error_near_one,
            tuple({"count": n} for n in (3, 10, 1000, 10**6)),
            Control("the kept value moved to 1", lambda count: c.error_near_one(count, kept_value=1)),
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
            "difference of the squared errors, free weights and values in 1 and 2 dimensions",
            c.error_difference,
            COORDINATES,
            Control("T in place of 2 T", lambda coordinates: c.error_difference(coordinates, factor=1)),
        ),
        symbolic(
            "with vbar - o_K = e + w, w = vhat - o_K: a sum of squares where |e| <= |w| / 2, and That <= T",
            c.half_way,
            COORDINATES,
            Control("|e| <= |w|", lambda coordinates: c.half_way(coordinates, weight=1)),
        ),
        exact(
            "the constant: |vbar - vhat| = rho |vhat - o_K|, rho above 1/2, the kept token far below: it is worse",
            lambda ratio: c.worse((-1, 1), (1 + 5 * ratio / 3, 1 - 5 * ratio / 3), (-100,), (0,)),
            tuple({"ratio": Fraction(1, 2) + Fraction(1, n)} for n in (10, 100, 10**6)),
            Control("rho = 1/2", None, ({"ratio": Fraction(1, 2)},)),
        ),
        coverage=everywhere(
            "Free weights and sums, in one coordinate of the values and in two, which add up; the constant by three "
            "exact heads that approach it."
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
            c.same_token_other_output,
            (TWINS,),
            Control("the same cache twice", None, ({"first": (1, -1), "second": (1, -1)},)),
            Control("caches with other tokens", None, ({"first": (2, 0), "second": (0, 0)},)),
        ),
        exact(
            "a needle 15 above 3999 dropped and 4000 kept tokens: weight 0.9976, its value's weight after compensation "
            "1.25e-4, dropped mass counted 815 times too small",
            c.needle,
            (NEEDLE,),
            Control("logit 14", None, ({**NEEDLE, "logit": 14},)),
        ),
        coverage=WITNESSED,
        is_correction=True,
        note="A mean of N_d keys and values is not injective.",
        formula=r"(\hat k,\hat v,N_d)\text{ does not determine }o",
    ),
)
