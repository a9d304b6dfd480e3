"""Definition 3.1: the induction heads machine IH (Eq. 7), and what the text says it can do."""

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.kv.induction import general_checks as general
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic
from theory.induction.network import construction
from theory.induction.regime import latest_weight_limit
from theory.induction.symbolic import induction_terms, reduced, symbolic_tokens
from theory.symbols import sigma, slope

SECTION = f"{BOTH}, Section 3.1"
EQ7 = f"{SECTION}, Definition 3.1 (first version: Definition 1), Eq. 7"
AFTER = f"{SECTION}, after Definition 3.1"


def _constant(length: int, index: int | None = None) -> Margin:
    """Eq. 7 of tokens that are all t is t if the softmax has the index s of the sum; `index` holds it fixed."""
    token = sp.Symbol("t", real=True)
    weights = [sp.exp(score) for score, _ in induction_terms([(token,)] * length)]
    taken = weights if index is None else [weights[index - 2]] * len(weights)
    return identity(reduced(sp.Add(*taken) / sp.Add(*weights) * token - token), 0)


def _parameters(names: set[sp.Symbol]) -> Margin:
    """Are these the parameters of Eq. 7?"""
    tokens = symbolic_tokens(4, 1)
    free = set().union(*(score.free_symbols for score, _ in induction_terms(tokens)))
    return same(frozenset(names), frozenset(free.difference(*tokens)))


def _fits(dim: int, per_token: int = 1) -> Margin:
    """Length of the column (x_s, 0) for tokens of R^d, or of R^D (two a token), against the network's width D = 2d."""
    return same(2 * per_token * dim, construction(dim, 1.0, 1.0).value.shape[0])


def _latest_share(word: str, parts: int | None = None) -> Margin:
    """IH's share on the successor of the latest match as m -> 0 and sigma -> 0: one part of as many as Eq. 7 can match,
    at the places 1 .. L - 2.
    """
    matches = [place for place in range(1, len(word) - 1) if word[place - 1] == word[-1]]
    return same(sp.Rational(1, parts or len(matches)), latest_weight_limit(word, matches[-1]))


def _right_letter(word: str) -> Margin:
    """Weight on the letter after the latest earlier occurrence of the last one, m -> 0 then sigma -> 0: 1."""
    right = word[max(place for place in range(1, len(word)) if word[place - 1] == word[-1])]
    shares = [latest_weight_limit(word, s - 1) for s in range(2, len(word)) if word[s - 1] == right]
    return same(sp.Add(*shares), 1)


REPEATED = [{"word": word} for word in ("AABA", "ABACA", "ABACADA", "ABCAECADBA")]
ONE_SUCCESSOR = [{"word": word} for word in ("ABA", "ABCDA", "ABCABDA", "ABCDEFGHC")]
SAME_SUCCESSOR = (
    "Missing: all earlier occurrences of the last token have the same successor, and the latest is not x_{L-1}, whose "
    "successor Eq. 7 leaves out. The data of Figure 1 are such."
)
SMALL_PARAMETERS = everywhere(
    "The share of the right letter is at least 1 - L e^{mL - 1/sigma} for orthonormal tokens: L, m, sigma are free."
)


# The bound at every length, and the limit for four words; what the missing hypothesis excludes is a control.
RIGHT_LETTER = (
    symbolic(
        "share of the right letter at least k/(k + L), k = e^{1/sigma - mL}, any number of matches, any L",
        general.share_of_matches,
        ONCE,
        Control("sigma -> infinity", lambda: general.share_of_matches(cold=False)),
    ),
    symbolic(
        "weight on the right next letter, limit m -> 0 then sigma -> 0",
        _right_letter,
        ONE_SUCCESSOR,
        Control("two successors", points=({"word": "ABACA"},)),
        Control("the last token repeats the one before", points=({"word": "ABCC"},)),
    ),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.def3.1.index",
        EQ7,
        "IH(x) = sum_s softmax(x_L x_{s-1}^T/sigma - m|L - s|)_i x_s: the softmax has the index i.",
        symbolic(
            "tokens that are all t give t, L = 3..6",
            _constant,
            [{"length": length} for length in range(3, 7)],
            Control("a fixed index, as printed", lambda length: _constant(length, 2)),
        ),
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=INSTANCES,
        formula=r"\mathrm{IH}(x)=\sum_{s=2}^{L-1}\mathrm{softmax}(x_Lx_{s-1}^T/\sigma-m|L-s|)_ix_s",
        note="The index is s; i occurs nowhere else in the definition.",
    ),
    mathematical(
        "kv.def3.1.temperature",
        AFTER,
        "IH does induction when T > 0 and m > 0 approach 0.",
        exact(
            "the parameters that occur in Eq. 7",
            _parameters,
            ({"names": {sigma, slope}},),
            Control("T and m, as printed", points=({"names": {sp.Symbol("T", positive=True), slope}},)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=ENUMERATED,
        note="sigma > 0; the next sentence has it right. There is no T in Eq. 7.",
    ),
    mathematical(
        "kv.def3.1.domain",
        EQ7,
        "IH is defined for every length L in N+ at which its sum has a term.",
        exact(
            "number of positions in the sum, L = 3 + any whole number >= 0",
            lambda least: general.at_least_one(least, left_out=2),
            ({"least": 3},),
            Control("L >= 2", points=({"least": 2},)),
            Control("L >= 1", points=({"least": 1},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="IH is meant for sequences in which there is a pair to match: L >= 3.",
        coverage=everywhere("The sum has L - 2 terms: one expression in L."),
        note="L >= 3: for L = 1, 2 the softmax is over no position (and L = 3 always returns x_2).",
        formula=r"\{2,\ldots,L-1\}\ne\emptyset,\quad L\in\mathbb{N}^+",
    ),
    mathematical(
        "kv.def3.1.dimension",
        f"{EQ7}, with Theorem 3.2",
        "The tokens of IH lie in R^D, where Theorem 3.2 sets D = 2d.",
        exact(
            "length of the column (x_s, 0) against the width of the network, d = 1..4",
            _fits,
            [{"dim": dim} for dim in range(1, 5)],
            Control("tokens of R^D", lambda dim: _fits(dim, 2)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=INSTANCES,
        note="Tokens and IH(x) lie in R^d; D is the width of the network.",
    ),
    mathematical(
        "kv.sec3.1.any_context",
        AFTER,
        "As sigma and m approach 0, IH implements induction heads at every context length.",
        *RIGHT_LETTER,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="For each length there are sigma and m small enough; tokens are orthonormal.",
        coverage=SMALL_PARAMETERS,
        note=f"{SAME_SUCCESSOR} With several successors IH reads a mixture: kv.sec3.1.any_context.equal_weights.",
        formula=r"\lim_{\sigma,m\to0}\mathrm{IH}(x)=x_{i+1},\quad x_i=x_L",
    ),
    mathematical(
        "kv.sec3.1.any_context.equal_weights",
        f"{AFTER}, our addition",
        "With different successors small sigma and m do not find the latest match: in A B A C A the limit of IH gives "
        "half its weight to B and half to C, in A A B A half to A.",
        symbolic(
            "share of the successor of the latest match, limit m -> 0 then sigma -> 0, tokens that occur 2 to 3 times",
            _latest_share,
            REPEATED,
            Control("all of the weight", lambda word: _latest_share(word, parts=1)),
        ),
        is_correction=True,
        coverage=everywhere("The statement is about the words named, and the limits are exact."),
        formula=r"\lim_{\sigma\to0}\lim_{m\to0}\mathrm{IH}(ABACA)=\frac{B+C}{2}",
    ),
    mathematical(
        "kv.sec3.1.finite_length",
        AFTER,
        "At a finite length it is enough to take a very small sigma and m.",
        *RIGHT_LETTER,
        defect="kv.sec3.1.any_context",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="Tokens are orthonormal; the last one has occurred before.",
        coverage=SMALL_PARAMETERS,
        note=SAME_SUCCESSOR,
        formula=r"\lim_{\sigma,m\to0}\mathrm{IH}(x)=x_{i+1},\quad x_i=x_L,\quad L<\infty",
    ),
)
