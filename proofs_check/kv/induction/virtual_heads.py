"""Section 2.1 of the KV-shifting paper: virtual attention heads (Eq. 1-3, Property 1)."""

import itertools

import sympy as sp

from proofs_check.evidence.margin import Margin, different, same
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic
from theory.shift.algebra import tokens

SECTION = "KV shifting (both versions), Section 2.1"


def _pattern(name: str, length: int, masked: bool = True) -> sp.Matrix:
    """Attention weights as symbols, lower triangular unless told otherwise."""
    return sp.Matrix(length, length, lambda j, k: sp.Symbol(f"{name}_{j}_{k}") if k <= j or not masked else 0)


def _virtual_head(length: int, dim: int, swapped: bool = False) -> Margin:
    """Eq. 2 entry by entry."""
    first, second = _pattern("a", length), _pattern("b", length)
    states, w1, w2 = tokens(length, dim), tokens(dim, dim, "v"), tokens(dim, dim, "w")
    right = (second * first) * states * ((w2 * w1) if swapped else (w1 * w2))
    return identities(second * (first * states * w1) * w2, right)


def _symbolic_entry(length: int, masked: bool = True, start: int = 0) -> Margin:
    second, first = _pattern("b", length, masked), _pattern("a", length, masked)
    product = second * first
    places = [(j, i) for j in range(1, length + 1) for i in range(1, length)]
    sums = [
        sp.Add(*(second[j - 1, k - 1] * first[k - 1, i] for k in range(i + 1 + start, j + 1))) for j, i in places
    ]
    return identities([product[j - 1, i] for j, i in places], sums)


def _skipped(length: int, masked: bool = True) -> Margin:
    """The terms k = i of (A2 A1)_{j, i+1}: A2_{j,i} A1_{i,i+1}, which the mask makes zero."""
    second, first = _pattern("b", length, masked), _pattern("a", length, masked)
    terms = [second[j, i] * first[i, i + 1] for j in range(length) for i in range(length - 1)]
    return identities(terms, [sp.Integer(0)] * len(terms))


def _term_by_term(masked: bool = True, start: int = 0) -> Margin:
    """Does the term A2_{row, middle} A1_{middle, column} survive the mask exactly if column + start <= middle <= row?

    The mask asks for nothing but the order of the three positions, which 1, 2, 3 show in full, ties included.
    """
    places = list(itertools.product((1, 2, 3), repeat=3))
    survive = [not masked or column <= middle <= row for row, middle, column in places]
    return same(survive, [column + start <= middle <= row for row, middle, column in places])


ORDERS = everywhere(
    "The two sums are compared term by term: whether a term survives depends on the order of j, k and i + 1 alone, and "
    "all thirteen orders are computed."
)


# A pattern of hard attention: the position 0 .. j that row j reads.
Pattern = list[int]


def _previous(length: int) -> Pattern:
    return [max(j - 1, 0) for j in range(length)]


def _match(sentence: tuple[int, ...]) -> Pattern:
    """Content: every token reads its latest earlier occurrence, or itself where there is none."""
    return [max((k for k in range(j) if sentence[k] == token), default=j) for j, token in enumerate(sentence)]


def _composed(second: Pattern, first: Pattern) -> Pattern:
    """The position that each row of the product reads."""
    return [first[k] for k in second]


def _two_back(length: int, back: int = 2) -> Margin:
    previous = _previous(length)
    return same(_composed(previous, previous), [max(j - back, 0) for j in range(length)])


def _before_the_match(sentence: tuple[int, ...], offset: int = -1) -> Margin:
    """The last token reads its match's neighbour at this offset."""
    place = sentence.index(sentence[-1])
    return same(_composed(_match(sentence), _previous(len(sentence)))[-1], place + offset)


def _by_distance(squared: bool = True) -> Margin:
    """Over the places before its own a head with a bias linear in the distance d weighs r^d: w_1 w_3 = w_2^2.

    It holds for every r and so for the limits r -> 0, the previous-token head, and r -> infinity.
    """
    ratio = sp.Symbol("r", positive=True)
    weights = [ratio**d / sum(ratio**k for k in (1, 2, 3)) for d in (1, 2, 3)]
    return identities([weights[0] * weights[2]], [weights[1] ** 2 if squared else weights[1]])


ONE_MATCH = [{"sentence": (*range(n), i)} for n in range(3, 7) for i in range(1, n)]


# What Eq. 1 uses; the sentence after it also defines the other symbols, as they are.
USED = {"W_v^{hl}", "N", "D"}


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.eq1",
        f"{SECTION}, Eq. 1",
        "The sentence after Eq. 1 defines its symbols: W_ov^{hl} = W_v^{hi} W_o^{hl}, the length n in R, the width d.",
        exact(
            "symbols used against symbols defined",
            lambda defined: same(sorted(defined), sorted(USED)),
            ({"defined": {"W_v^{hl}", "N", "D"}},),
            Control("the definitions as printed", points=({"defined": {"W_v^{hi}", "W_v^{hl}", "n", "d"}},)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        note="W_ov^{hl} = W_v^{hl} W_o^{hl}; the length is N (a natural number), the width D.",
        severity=Severity.MISPRINT,
        coverage=ENUMERATED,
    ),
    mathematical(
        "kv.eq2",
        f"{SECTION}, Eq. 2",
        "For given attention patterns two stacked heads act as one head: X_2 = (A2 A1) X_0 (W1 W2).",
        symbolic(
            "all entries, free symbols",
            _virtual_head,
            ({"length": 2, "dim": 2}, {"length": 3, "dim": 2}),
            Control("W2 W1 instead of W1 W2", lambda length, dim: _virtual_head(length, dim, True)),
        ),
        formula=r"X_2=A^{h2}X_1W_{ov}^{h2}=(A^{h2}A^{h1})X_0(W_{ov}^{h1}W_{ov}^{h2})",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.property1",
        f"{SECTION}, Property 1, Eq. 3",
        "With causal patterns and j >= i, (A2 A1)_{j,i+1} is the sum of A2_{j,k} A1_{k,i+1} over k = i+1 .. j only.",
        symbolic(
            "free symbols, N = 2..5, all j and i",
            _symbolic_entry,
            [{"length": n} for n in range(2, 6)],
            Control("without the mask", lambda length: _symbolic_entry(length, masked=False)),
            Control("the sum from k = i + 2", lambda length: _symbolic_entry(length, start=1)),
        ),
        exact(
            "one term, all orders of j, k and i + 1",
            _term_by_term,
            ONCE,
            Control("without the mask", lambda: _term_by_term(masked=False)),
            Control("the sum from k = i + 2", lambda: _term_by_term(start=1)),
        ),
        formula=r"(A^{h2}A^{h1})_{j,i+1}=\sum_{k=i+1}^{j}A^{h2}_{j,k}A^{h1}_{k,i+1}",
        coverage=ORDERS,
    ),
    mathematical(
        "kv.property1.consequence",
        f"{SECTION}, after Property 1",
        "No virtual head reads token i + 1 by way of position i: the term k = i, A2_{j,i} A1_{i,i+1}, is zero.",
        symbolic(
            "free symbols, N = 2..5",
            _skipped,
            [{"length": n} for n in range(2, 6)],
            Control("without the mask", lambda length: _skipped(length, masked=False)),
        ),
        formula=r"A^{h1}_{i,i+1}=0",
        coverage=everywhere("The factor A1_{i,i+1} lies above the diagonal, whatever i, j and N."),
    ),
    mathematical(
        "kv.sec2.1.virtual_heads",
        f"{SECTION}, after Eq. 2",
        "Through virtual heads simple heads combine to functions that none of them has: two previous-token heads read "
        "two back, a previous-token head below a match reads the token before the match.",
        exact(
            "hard previous-token heads, N = 3..6: the product reads two back",
            _two_back,
            [{"length": n} for n in range(3, 7)],
            Control("one back", lambda length: _two_back(length, 1)),
        ),
        exact(
            "one-repeat sentences of 3..6 distinct tokens, the repeated one not the first",
            _before_the_match,
            ONE_MATCH,
            Control("the match itself", lambda sentence: _before_the_match(sentence, 0)),
            Control("the successor of the match", lambda sentence: _before_the_match(sentence, 1)),
        ),
        symbolic(
            "heads by distance, every slope: w_1 w_3 = w_2^2",
            _by_distance,
            ONCE,
            Control("w_1 w_3 = w_2", lambda: _by_distance(squared=False)),
        ),
        exact(
            "two back, weights at the distances 1, 2, 3, is no such head",
            lambda row: different(row[0] * row[2], row[1] ** 2),
            ({"row": (0, 1, 0)},),
            Control("the previous-token head", points=({"row": (1, 0, 0)},)),
        ),
        reading="It is said that such functions exist; simple is a head by distance, or one that matches equal tokens.",
        formula=r"(A^{h2}A^{h1})_{j,j-2}=1,\quad w_1w_3=w_2^2",
        coverage=everywhere("The statement is of existence, and each sentence and length shown is an example."),
    ),
)
