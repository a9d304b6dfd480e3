"""Section 5 of the KV-shifting paper: a query kernel one shorter than the key's, as an n-gram matcher."""

import itertools
from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, less
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic

SECTION = "KV shifting (final), Section 5"
g0, g1, c0, c1 = sp.symbols("g0 g1 c0 c1", real=True)
LETTERS = range(4)
Kernel = tuple[sp.Expr | int | Fraction, ...]
Coupling = tuple[Kernel, ...]
Bigram = tuple[int, int]


def score(query: Bigram, context: Bigram, coupling: Coupling) -> sp.Expr | Fraction | int:
    """sum_{a,b} C_ab [query_a = context_b], newest token first: query (x_n, x_{n-1}), context (x_{s-1}, x_{s-2})."""
    return sum(coupling[i][j] * int(query[i] == context[j]) for i in range(2) for j in range(2))


def _scalar(g: Kernel, c: Kernel) -> Coupling:
    """What a query kernel and a key kernel couple: C_ab = g_a c_b."""
    return tuple(tuple(left * right for right in c) for left in g)


def _gap(query: Bigram, coupling: Coupling) -> Margin:
    """Score of the query's own bigram above every other context over four letters."""
    others = (context for context in itertools.product(LETTERS, repeat=2) if context != query)
    return less(max(score(query, context, coupling) for context in others), score(query, query, coupling))


def _no_kernel_for_all(rival: Bigram = (0, 0)) -> Margin:
    """P1, P2: leads of A B over B B and A A; Q1, Q2: leads of A A over A C and C A. All four cannot be positive:

    P1 P2 (g0 + g1)^2 + Q1 Q2 (g0 - g1)^2 = 0 for all kernels, and P1 P2 > 0 excludes g0 = g1.
    """

    def lead(query: Bigram, other: Bigram) -> sp.Expr:
        coupling = _scalar((g0, g1), (c0, c1))
        return score(query, query, coupling) - score(query, other, coupling)

    p = lead((1, 0), (1, 1)) * lead((1, 0), rival)
    q = lead((0, 0), (2, 0)) * lead((0, 0), (0, 2))
    return identity(p * (g0 + g1) ** 2 + q * (g0 - g1) ** 2, sp.Integer(0))


PATTERNS = everywhere("A score depends on which of the four tokens are equal, and four letters give every pattern.")
DISTINCT = [{"query": q} for q in itertools.permutations(LETTERS, 2)]
DOUBLED = [{"query": (x, x)} for x in LETTERS]
DRAWN: Kernel = (Fraction(7, 10), Fraction(3, 10))

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec5.query_kernel",
        SECTION,
        "A query kernel one shorter than the key's simulates n-gram induction heads (n = 2: sizes 2 and 3).",
        exact(
            "signed kernels (1, -1) and (0, 1, -1): the own bigram leads; queries of 2 distinct letters of 4",
            lambda query: _gap(query, _scalar((1, -1), (1, -1))),
            DISTINCT,
            Control("kernels (.7, .3), as drawn at initialisation", lambda query: _gap(query, _scalar(DRAWN, DRAWN))),
            Control("queries of one letter twice", points=DOUBLED),
        ),
        verdict=Verdict.HOLDS_IF,
        note="Scalar kernels must have opposite signs, and the query two different tokens; kernels by channel do it "
        "for all (kv.sec5.query_kernel.channels). With (.7, .3) twice the query A B scores .58 on A B and .70 on B B.",
        formula=r"\hat q_n=g_0x_n+g_1x_{n-1},\quad\hat k_s=c_0x_{s-1}+c_1x_{s-2}",
        reading="A kernel may be one for each channel, as short convolutions have it, or have signs.",
        hypotheses=("kernels of opposite signs, or by channel", "two different tokens in the query, if scalar"),
        severity=Severity.READING,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec5.query_kernel.no_scalar",
        f"{SECTION}, our addition",
        "No pair of scalar kernels prefers both A B and A A to all other contexts.",
        symbolic(
            "the identity P1 P2 (g0 + g1)^2 + Q1 Q2 (g0 - g1)^2 = 0 between the four leads",
            _no_kernel_for_all,
            ONCE,
            Control("the lead over B A for that over A A", lambda: _no_kernel_for_all((0, 1))),
        ),
        is_correction=True,
        formula="P_1P_2(g_0+g_1)^2+Q_1Q_2(g_0-g_1)^2=0",
        coverage=everywhere(
            "The coefficients are free. Were all four leads positive, both squares would be 0, hence g0 = g1 = 0 and "
            "every lead 0."
        ),
    ),
    mathematical(
        "kv.sec5.query_kernel.channels",
        f"{SECTION}, our addition",
        "Kernels by channel do it, n = 2: one half of the channels carries the newest token, the other the one before.",
        exact(
            "all 16 bigrams over four letters",
            lambda query: _gap(query, ((1, 0), (0, 1))),
            [*DISTINCT, *DOUBLED],
            Control("one kernel for all channels", lambda query: _gap(query, _scalar((1, 1), (1, 1)))),
        ),
        is_correction=True,
        formula=r"\hat q_n=(x_n,x_{n-1}),\quad\hat k_s=(x_{s-1},x_{s-2})",
        coverage=PATTERNS,
    ),
)
