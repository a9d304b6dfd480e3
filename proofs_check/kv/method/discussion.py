"""Section 5 of the KV-shifting paper: other ways to induction, short convolutions, parity, and what it cites."""

import itertools
from functools import reduce

import numpy as np

from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.induction.depth_width import PIGEONHOLE, words
from proofs_check.kv.method.shift import QUARTERS, names_successor
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import exact, mathematical

FINAL = "KV shifting (final), Section 5"
BOTH = "KV shifting (both versions), Section 5"
# Changes of one layer with W_Q = 8 I that leave the rest alone: kernels of keys and values, the residual's share.
WAYS = {
    "keys shifted": {"key": (0, 1), "value": (1, 0), "residual": 0},
    "one mixture": {"key": QUARTERS, "value": QUARTERS, "residual": -1},
    "values shifted": {"key": (1, 0), "value": (0, 1), "residual": 0},
    "nothing shifted": {"key": (1, 0), "value": (1, 0), "residual": -1},
}


def _ways(*ways: str) -> list[dict]:
    return [{**WAYS[way], "tokens_count": t, "match": i} for way in ways for t in range(2, 9) for i in range(1, t)]


def _characters(bits: int, signs: tuple[int, int] = (1, -1)) -> Margin:
    """The parities of all subsets, as rows of values on all strings: their products sum to 2^n where equal, else 0.

    Then sum_S (E g chi_S)^2 = E g^2 for every g, written in these rows: the mean over the 2^n subsets is E g^2 / 2^n.
    """
    rows = reduce(np.kron, [np.array([[1, 1], signs])] * bits)
    return same((rows @ rows.T).tolist(), (2**bits * np.eye(2**bits, dtype=int)).tolist())


def _read_from_state(word: tuple[int, ...], back: int = 1) -> Margin:
    """sum_s x_s x_{s-back}^T applied to x_L, one-hot tokens, against how often each letter follows the last one."""
    one_hot = np.eye(3, dtype=int)[list(word)]
    state = one_hot[back:].T @ one_hot[: len(word) - back]
    followers = [after for before, after in itertools.pairwise(word) if before == word[-1]]
    return same((state @ one_hot[-1]).tolist(), [followers.count(letter) for letter in range(3)])


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec5.parity.gradient",
        f"{BOTH}, our addition",
        "For any function g of n bits, such as a slope of a model's output, its correlation with a subset's parity has "
        "the mean square E g^2 / 2^n over the subsets: a gradient sees next to nothing of most parities.",
        exact(
            "the parities of n = 1..8 bits are orthogonal, in whole numbers; g enters by its coefficients",
            _characters,
            [{"bits": n} for n in range(1, 9)],
            Control("a bit that is 1 or 0", lambda bits: _characters(bits, (1, 0))),
        ),
        is_correction=True,
        formula=r"2^{-n}\sum_S\left(\mathbb{E}\,g\chi_S\right)^2=2^{-n}\,\mathbb{E}\,g^2",
        coverage=everywhere(
            "The table of n + 1 bits is that of n times that of one, and so stays orthogonal; g is free."
        ),
    ),
    mathematical(
        "kv.sec5.other_ways.represented",
        f"{BOTH}, our addition",
        "More than one small change lets one layer represent induction: shifted keys alone do, and so does one mixture "
        "for keys and values alike.",
        exact(
            "one-repeat sentences of orthonormal tokens, T = 2..8, all i < T",
            names_successor,
            _ways("keys shifted", "one mixture"),
            Control("values shifted", points=_ways("values shifted")),
            Control("nothing shifted", points=_ways("nothing shifted")),
        ),
        is_correction=True,
        formula=r"(\alpha,\beta)=((0,1),(1,0)),\quad((\frac{1}{4},\frac{3}{4}),(\frac{1}{4},\frac{3}{4}))",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec5.short_convolutions.linear",
        f"{FINAL}, our addition",
        "A linear attention layer with shifted keys does induction: for one-hot tokens its state sum_s x_s x_{s-1}^T "
        "applied to x_L is the sum of all successors of x_L.",
        exact(
            "all words of 2..5 tokens over 3 letters (full: 2..7), counted letter by letter",
            _read_from_state,
            lambda effort: [{"word": word} for word in words(2, 5 if effort is Effort.QUICK else 7)],
            Control("unshifted keys", lambda word: _read_from_state(word, 0)),
        ),
        is_correction=True,
        formula=r"\left(\sum_{s=2}^{L}x_sx_{s-1}^T\right)x_L=\sum_{s:\,x_{s-1}=x_L}x_s",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec5.explain",
        FINAL,
        "From the perspective of induction heads the role of short convolutions in generalised state space models is "
        "hard to explain, as these cannot arbitrarily retrieve from context.",
        PIGEONHOLE,
        defect="kv.sec5.gssm",
        verdict=Verdict.HOLDS_IF,
        hypotheses=("more may be asked for than the state can hold",),
        reading="Arbitrarily means past the capacity of the state.",
        severity=Severity.READING,
        note="Missing: beyond the capacity. Up to it, d orthonormal tokens in a state of d x d, a shifted key does "
        "induction exactly (kv.sec5.short_convolutions.linear).",
        formula=r"M<2^n\Rightarrow\forall f:\{0,1\}^n\to\{1,\ldots,M\}\ \exists u\ne v:\ f(u)=f(v)",
        coverage=INSTANCES,
    ),
)
