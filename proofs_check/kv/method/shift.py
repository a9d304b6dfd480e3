"""Section 2.2 of the KV-shifting paper: the shift of keys and values, its offsets and its causality (Eq. 4-5)."""

import sympy as sp

from proofs_check.evidence.margin import Margin, less, same
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic
from theory.shift.algebra import mixing_matrix, offset_weights, shift_matrix, softmax, tokens
from theory.symbols import alpha1, alpha2, beta1, beta2

SECTION = "KV shifting (both versions), Section 2.2"
KEY, VALUE = (alpha1, alpha2), (beta1, beta2)
LENGTHS = [{"length": n} for n in (1, 2, 3, 4)]


def _shift_rows(length: int, step: int = 1) -> Margin:
    """Shift(K): row s is row s - 1 of K, the first row zero; `step` plants a shift by another amount."""
    rows = tokens(length, 2)
    return identities(shift_matrix(length) ** step * rows, sp.zeros(1, 2).col_join(rows[:-1, :]))


def _offsets(key=KEY, value=VALUE) -> Margin:
    """Which offsets j - i one position can read, and with which weights."""
    expected = {-1: alpha1 * beta2, 0: alpha1 * beta1 + alpha2 * beta2, 1: alpha2 * beta1}
    found = offset_weights(key, value)
    return identities([found.get(offset, 0) for offset in range(-2, 3)], [0, *expected.values(), 0])


def _read(length: int, ahead: int = 0) -> list[set[sp.Symbol]]:
    """Tokens that each row of the output depends on; ahead = 1 adds token s + 1 to the value of position s."""
    states = tokens(length)
    weights = [softmax([states[j] * k for k in (mixing_matrix(KEY, length) * states)[: j + 1]]) for j in range(length)]
    values = mixing_matrix(VALUE, length) * (states + ahead * shift_matrix(length).T * states)
    outputs = [sum(w * v for w, v in zip(row, values[: len(row)], strict=True)) for row in weights]
    return [output.free_symbols.intersection(states) for output in outputs]


def _causal(length: int, ahead: int = 0) -> Margin:
    """Row j depends on the tokens 1 .. j."""
    return same(_read(length, ahead), [set(tokens(j + 1)) for j in range(length)])


def _leaks(length: int, ahead: int = 1) -> Margin:
    """Row j depends on token j + 1, for j < length."""
    rows = _read(length, ahead)[:-1]
    return same([tokens(j + 2)[-1] in row for j, row in enumerate(rows)], [True] * len(rows))


Kernel = tuple[sp.Rational | int, sp.Rational | int]
QUARTERS = (sp.Rational(1, 4), sp.Rational(3, 4))


def names_successor(
    tokens_count: int, match: int, key: Kernel = QUARTERS, value: Kernel = QUARTERS, query: int = 8, residual: int = -1
) -> Margin:
    """The logit of x_{match + 1} is the largest of all T.

    One-repeat sentence x_1 .. x_T x_match of orthonormal tokens (T = tokens_count), W_Q = query * I, other projections
    I; the output is the head's plus residual times the last token. Logits are compared times the normaliser.
    """
    sentence = [*range(1, tokens_count + 1), match]
    logits = dict.fromkeys(sentence, sp.Integer(0))
    for own, previous in zip(sentence, [None, *sentence[:-1]], strict=True):
        weight = sp.exp(query * (key[0] * int(own == match) + key[1] * int(previous == match)))
        logits[own] += value[0] * weight
        logits[match] += residual * weight
        if previous:
            logits[previous] += value[1] * weight
    target = logits.pop(match + 1)
    return min((less(other, target) for other in set(logits.values())), key=lambda margin: margin.value)


def _one_repeats(effort: Effort) -> list[dict[str, int]]:
    longest = 12 if effort is Effort.QUICK else 39
    return [{"tokens_count": t, "match": i} for t in range(2, longest + 1) for i in range(1, t)]


ARRANGED = everywhere(
    "The last token's logit is below zero at every T; the others, times the normaliser, are a few sums set by how "
    "i - 1, i, i + 1, i + 2 and T fall together, and all arrangements are met by T = 7."
)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec2.2.shift",
        f"{SECTION}, after Eq. 6",
        "Shift discards the last token and pads a zero at the beginning.",
        symbolic(
            "the subdiagonal matrix, N = 1..4",
            _shift_rows,
            LENGTHS,
            Control("a shift by two", lambda length: _shift_rows(length, 2)),
        ),
        formula=r"\mathrm{Shift}(K)_1=0,\quad\mathrm{Shift}(K)_s=K_{s-1}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq5.offsets",
        f"{SECTION}, Eq. 5",
        "By attending to the key of token i a query can get the value of token j, for j in {i - 1, i, i + 1}.",
        symbolic(
            "the offsets and their weights: a1 b2, a1 b1 + a2 b2, a2 b1",
            _offsets,
            ONCE,
            Control("keys alone shifted", lambda: _offsets(value=(beta1, 0))),
            Control("values alone shifted", lambda: _offsets(key=(alpha1, 0))),
            Control("alpha and beta exchanged", lambda: _offsets(VALUE, KEY)),
        ),
        formula=r"\hat K,\hat V=\alpha_1K+\alpha_2\mathrm{Shift}(K),\beta_1V+\beta_2\mathrm{Shift}(V)",
        coverage=everywhere("One attended place inside the sentence, and all four coefficients are free."),
    ),
    mathematical(
        "kv.sec2.2.breaks",
        f"{SECTION}, before Eq. 4",
        "Combining the value of token i + 1 into position i directly breaks the causal mask.",
        symbolic(
            "row j depends on token j + 1; free symbols, N = 2..4",
            _leaks,
            LENGTHS[1:],
            Control("Eq. 5", lambda length: _leaks(length, 0)),
        ),
        formula=r"\hat V_i=\beta_1V_i+\beta_2V_{i+1}\Rightarrow\frac{\partial Y_j}{\partial x_{j+1}}\ne0",
        coverage=everywhere("One row that depends on a later token breaks the mask, and N = 2 has one."),
    ),
    mathematical(
        "kv.eq5.causal",
        f"{SECTION}, before Eq. 4",
        "The shift of Eq. 5 reaches the neighbouring value without breaking the causal mask.",
        symbolic(
            "the tokens that each output row depends on, N = 1..4",
            _causal,
            LENGTHS,
            Control("token s + 1 mixed into value s", lambda length: _causal(length, 1)),
        ),
        formula=r"\frac{\partial Y_j}{\partial x_t}=0,\quad t>j",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq5.one_mixture",
        f"{SECTION}, against Section 5's reason, our addition",
        "One mixture for keys and values alike can do induction: (1/4, 3/4) with W_Q = 8 I, less the last token itself "
        "(the residual), names the successor in every one-repeat sentence of orthonormal tokens, i < T.",
        exact(
            "unnormalised logits in powers of e; all i < T, T = 2..12 (full: 2..39, 741 sentences)",
            names_successor,
            _one_repeats,
            Control("(3/4, 1/4)", lambda **p: names_successor(**p, key=QUARTERS[::-1], value=QUARTERS[::-1])),
            Control("keys and values unmixed", lambda **p: names_successor(**p, key=(1, 0), value=(1, 0))),
            Control("the last token left in", lambda **p: names_successor(**p, residual=0)),
        ),
        is_correction=True,
        formula=r"\alpha=\beta=(\frac{1}{4},\frac{3}{4}),\quad W_Q=8I\Rightarrow l_{i+1}>l_k,\quad k\ne i,i+1",
        coverage=ARRANGED,
    ),
)
