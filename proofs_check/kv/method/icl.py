"""Section 3.3 of the KV-shifting paper: shifted keys as a meta learner of in-context learning (Eq. 11)."""

import itertools

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict
from proofs_check.ledger.mathematical import exact, identities, mathematical, not_identity, symbolic
from theory.shift.algebra import shift_matrix, softmax, tokens

SECTION = "KV shifting (final), Section 3.3"
LENGTHS = [{"length": n} for n in (2, 3, 4, 5)]
Sentence = tuple[int, ...]


def _scores(length: int) -> list[sp.Symbol]:
    """s_i = k . k_i / T for i = 1 .. length, the query's similarity to each unshifted key."""
    return [sp.Symbol(f"s_{i}", real=True) for i in range(1, length + 1)]


def key_value_pairs(length: int, shifted: str, listed: str, first: int = 2) -> Margin:
    """What each position from `first` on holds after shifting keys ("k") or values ("v"), against a printed list."""
    keys, values = tokens(length, name="k"), tokens(length, name="v")
    moved = shift_matrix(length)
    held = list(
        zip(moved * keys if shifted == "k" else keys, moved * values if shifted == "v" else values, strict=True)
    )
    pairs = [(i, i + 1) if listed == "k" else (i + 1, i) for i in range(1, length)]
    listed = [(keys[a - 1], values[b - 1]) for a, b in pairs]
    found = held[first - 1 :]
    if len(found) != len(listed):
        return same(len(found), len(listed))
    return identities([x for pair in found for x in pair], [x for pair in listed for x in pair])


def _key_shift_output(length: int, first: int = 1) -> sp.Expr:
    """Attention over positions first .. n with keys shifted: position s scores s_{s-1}, position 1 scores 0."""
    scores = [sp.Integer(0), *_scores(length - 1)][first - 1 :]
    values = tokens(length, name="v")[first - 1 :]
    return sum(w * v for w, v in zip(softmax(scores), values, strict=True))


def _equation11(length: int, ahead: int = 1) -> sp.Expr:
    """sum_{i=1}^{n-1} softmax(s)_i v_{i + ahead}; as printed, ahead = 0."""
    values = tokens(length, name="v")
    return sum(w * values[i + ahead] for i, w in enumerate(softmax(_scores(length - 1))))


def _index(length: int, ahead: int = 1) -> Margin:
    return identity(_equation11(length, ahead), _key_shift_output(length, first=2))


def _normaliser(length: int, first: int = 1) -> Margin:
    """Eq. 11 (index repaired) against attention over positions first .. n."""
    return not_identity(_equation11(length), _key_shift_output(length, first))


def _with_position_1(length: int) -> Margin:
    return identity(_equation11(length), _key_shift_output(length))


def _with_zero_key(length: int, zero_key: int = 1) -> Margin:
    values = tokens(length, name="v")
    raised = [sp.exp(s) for s in _scores(length - 1)]
    above = zero_key * values[0] + sum(e * v for e, v in zip(raised, values[1:], strict=True))
    return identity(_key_shift_output(length), above / (zero_key + sum(raised)))


def _hard_prediction(sentence: Sentence, ahead: int = 1) -> Sentence:
    """Tokens (as a sorted multiset) that Eq. 11 averages as T -> 0: those at i + ahead for each match x_i = x_n."""
    last = len(sentence) - 1
    return tuple(sorted(sentence[i + ahead] for i in range(last) if sentence[i] == sentence[last]))


def _predicts_successor(sentence: Sentence, ahead: int = 1) -> Margin:
    """With one earlier occurrence at i the prediction is x_{i+1} alone."""
    return same(_hard_prediction(sentence, ahead), (sentence[sentence.index(sentence[-1]) + 1],))


def _one_match(effort: Effort) -> list[dict[str, Sentence]]:
    longest = 5 if effort is Effort.QUICK else 7
    words = itertools.chain(*(itertools.product(range(3), repeat=n) for n in range(2, longest)))
    return [{"sentence": w} for w in words if w[:-1].count(w[-1]) == 1]


def _decodes(images: tuple[tuple[int, int], ...]) -> Margin:
    """Tokens told apart by their values: as many values as tokens."""
    return same(len(set(images)), len(images))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec3.3.key_pairs",
        f"{SECTION}, before Eq. 11",
        "After shifting keys the pairs are (k_1, v_2), (k_2, v_3), .., (k_{n-1}, v_n).",
        symbolic(
            "positions 2 .. n, n = 2..5",
            lambda length: key_value_pairs(length, "k", "k"),
            LENGTHS,
            Control("with position 1, which holds (0, v_1)", lambda length: key_value_pairs(length, "k", "k", 1)),
            Control("values shifted instead", lambda length: key_value_pairs(length, "v", "k")),
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
        exact(
            "T -> 0, all sentences of 2..4 tokens over 3 letters with one earlier x_n: the prediction is its successor",
            _predicts_successor,
            _one_match,
            Control("v_i, as printed, repeats x_n", lambda sentence: _predicts_successor(sentence, 0)),
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
            Control("with position 1 in the sum", _with_position_1),
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
            _normaliser,
            LENGTHS,
            Control("position 1 masked", lambda length: _normaliser(length, 2)),
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
            _decodes,
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
