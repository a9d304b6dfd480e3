"""Section 3.3 of the KV-shifting paper: shifted keys as a meta learner of in-context learning (Eq. 11)."""

from collections.abc import Iterable, Sequence

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Severity, Verdict
from proofs_check.ledger.mathematical import exact, identities, mathematical, not_identity, symbolic
from theory.shift.algebra import shift_matrix, softmax, tokens

SECTION = "KV shifting (final), Section 3.3"
LENGTHS = [{"length": n} for n in (2, 3, 4, 5)]


def similarities(length: int) -> list[sp.Symbol]:
    """s_i = k . k_i / T for i = 1 .. length, the query's similarity to each unshifted key."""
    return [sp.Symbol(f"s_{i}", real=True) for i in range(1, length + 1)]


def key_value_pairs(length: int, shifted: str, later: str, first: int = 2) -> Margin:
    """What each position from `first` on holds after shifting keys ("k") or values ("v"), against the pairs (k_i, v_j)
    of neighbouring i and j, the `later` one from 2 on.
    """
    keys, values = (tokens(length, name=name) for name in "kv")
    move = shift_matrix(length)
    held = [move * keys, values] if shifted == "k" else [keys, move * values]
    listed = [keys[:-1, :], values[1:, :]] if later == "v" else [keys[1:, :], values[:-1, :]]
    found = [column[first - 1 :, :] for column in held]
    if found[0].rows != listed[0].rows:
        return same(found[0].rows, listed[0].rows)
    return identities([*found[0], *found[1]], [*listed[0], *listed[1]])


def attended(scores: Sequence[sp.Expr], values: Iterable[sp.Expr]) -> sp.Expr:
    """The values averaged with the softmax of the scores."""
    return sum(w * v for w, v in zip(softmax(scores), values, strict=True))


def _key_shift_output(length: int, first: int = 1) -> sp.Expr:
    """Attention over positions first .. n with keys shifted: position s scores s_{s-1}, position 1 scores 0."""
    found = [sp.Integer(0), *similarities(length - 1)]
    return attended(found[first - 1 :], tokens(length, name="v")[first - 1 :])


def _equation11(length: int, ahead: int = 1) -> sp.Expr:
    """sum_{i=1}^{n-1} softmax(s)_i v_{i + ahead}; as printed, ahead = 0."""
    return attended(similarities(length - 1), tokens(length, name="v")[ahead : length - 1 + ahead])


def _index(length: int, ahead: int = 1, first: int = 2) -> Margin:
    return identity(_equation11(length, ahead), _key_shift_output(length, first))


def _not_equation11(length: int, first: int = 1) -> Margin:
    """Eq. 11 (index repaired) against attention over positions first .. n."""
    return not_identity(_equation11(length), _key_shift_output(length, first))


def _with_zero_key(length: int, zero_key: int = 1) -> Margin:
    raised = [zero_key, *map(sp.exp, similarities(length - 1))]
    above = sum(e * v for e, v in zip(raised, tokens(length, name="v"), strict=True))
    return identity(_key_shift_output(length), above / sum(raised))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec3.3.key_pairs",
        f"{SECTION}, before Eq. 11",
        "After shifting keys the pairs are (k_1, v_2), (k_2, v_3), .., (k_{n-1}, v_n).",
        symbolic(
            "positions 2 .. n, n = 2..5",
            lambda length: key_value_pairs(length, "k", "v"),
            LENGTHS,
            Control("with position 1, which holds (0, v_1)", lambda length: key_value_pairs(length, "k", "v", 1)),
            Control("values shifted instead", lambda length: key_value_pairs(length, "v", "v")),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("position 1 is set apart",),
        reading="Position 1, which has no previous token, is set apart.",
        severity=Severity.READING,
        note="Position 1 holds (0, v_1), and its zero key takes part in the softmax.",
        formula=r"(\hat k_s,v_s)=(k_{s-1},v_s),\quad s=2,\ldots,n",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq11",
        f"{SECTION}, Eq. 11",
        "The prediction is v_{n+1} = sum_{i=1}^{n-1} softmax(k_n . k_i/T)_i v_i.",
        symbolic(
            "attention over the pairs (k_i, v_{i+1}), scores and values free, n = 2..5",
            _index,
            LENGTHS,
            Control("v_i, as printed", lambda length: _index(length, 0)),
        ),
        verdict=Verdict.TYPO,
        formula=r"v_{n+1}=\sum_{i=1}^{n-1}\frac{e^{k_n\cdot k_i/T}}{\sum_{i=1}^{n-1}e^{k_n\cdot k_i/T}}v_i",
        note="v_{i+1} under the sum; as printed the head returns the value of x_n itself.",
        severity=Severity.MISPRINT,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq11.normaliser",
        f"{SECTION}, Eq. 11",
        "Eq. 11 (with v_{i+1}) is what attention with shifted keys computes over the positions 2 .. n.",
        symbolic(
            "causal attention over positions 2 .. n, scores and values free, n = 2..5",
            _index,
            LENGTHS,
            Control("with position 1 in the sum", lambda length: _index(length, first=1)),
            Control("v_i for v_{i+1}", lambda length: _index(length, 0)),
        ),
        defect="kv.sec3.3.key_pairs",
        verdict=Verdict.HOLDS_IF,
        hypotheses=("position 1 is set apart",),
        reading="A way to see the layer, as the text says: position 1, which has no previous token, is set apart.",
        severity=Severity.READING,
        note="With position 1, of key 0 and value v_1, in the sum it is kv.eq11.normaliser.corrected.",
        formula=r"v_{n+1}=\sum_{i=1}^{n-1}\frac{e^{k_n\cdot k_i/T}}{\sum_{j=1}^{n-1}e^{k_n\cdot k_j/T}}v_{i+1}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq11.normaliser.corrected",
        f"{SECTION}, Eq. 11, position 1 included",
        "Attention with shifted keys over all positions computes (v_1 + sum e^{k_n.k_i/T} v_{i+1})/(1 + sum "
        "e^{k_n.k_i/T}), i = 1..n-1, which is not Eq. 11.",
        symbolic(
            "scores and values free, n = 2..5",
            _with_zero_key,
            LENGTHS,
            Control("without the zero key", lambda length: _with_zero_key(length, 0)),
        ),
        symbolic(
            "against Eq. 11 with v_{i+1}, n = 2..5: at n = 2 that gives v_2 whatever the keys",
            _not_equation11,
            LENGTHS,
            Control("position 1 masked", lambda length: _not_equation11(length, 2)),
        ),
        formula=r"\frac{v_1+\sum_{i=1}^{n-1}e^{k_n\cdot k_i/T}v_{i+1}}{1+\sum_{i=1}^{n-1}e^{k_n\cdot k_i/T}}",
        is_correction=True,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec3.3.decode",
        f"{SECTION}, after Eq. 11",
        "If we infer v_{n+1} we can infer the (n+1)-th token.",
        exact(
            "three tokens under value matrices of full rank, and of rank 1 that keep them apart",
            lambda images: same(len(set(images)), len(images)),
            ({"images": ((1, 0), (0, 1), (1, 1))}, {"images": ((1, 0), (2, 0), (3, 0))}),
            Control("two tokens of one value", points=({"images": ((1, 0), (1, 0), (0, 1))},)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("W_V gives different tokens different values",),
        reading="The values tell the tokens apart.",
        severity=Severity.READING,
        note="W_V must give different tokens different values.",
        formula=r"v_{n+1}=x_{n+1}W_V\mapsto x_{n+1}",
        coverage=INSTANCES,
    ),
)
