"""Section 2.2 of the KV-shifting paper: the shift of keys and values, its offsets and its causality (Eq. 4-5)."""

import sympy as sp

from proofs_check.claim import Claim, Control
from proofs_check.kv.mathematical import ONCE, identities, mathematical, not_identity, symbolic
from proofs_check.margin import Margin, identity, same
from theory.shift import mixing_matrix, offset_weights, shift_matrix, shifted_attention, softmax, tokens
from theory.symbols import alpha1, alpha2, beta1, beta2

SECTION = "KV shifting (both versions), Section 2.2"
KEY, VALUE = (alpha1, alpha2), (beta1, beta2)
LENGTHS = [{"length": n} for n in (1, 2, 3, 4)]


def _shift_rows(length: int, step: int = 1) -> Margin:
    """Shift(K): row s is row s - 1 of K, the first row zero; `step` plants a shift by another amount."""
    rows = tokens(length, 2)
    expected = sp.Matrix.vstack(sp.zeros(1, 2), rows[: length - 1, :]) if length > 1 else sp.zeros(1, 2)
    return identities(shift_matrix(length) ** step * rows, expected)


def _projects(length: int, nonlinear: bool = False) -> Margin:
    """alpha1 K + alpha2 Shift(K) with K = X W against (alpha1 X + alpha2 Shift(X)) W."""
    states, weights = tokens(length, 2), tokens(2, 2, "w")
    mix = mixing_matrix(KEY, length)
    if nonlinear:
        return identities(mix * (states * weights).applyfunc(sp.tanh), ((mix * states) * weights).applyfunc(sp.tanh))
    return identities(mix * (states * weights), (mix * states) * weights)


def _offsets(key=KEY, value=VALUE) -> Margin:
    """Which offsets j - i one position can read, and with which weights."""
    expected = {-1: alpha1 * beta2, 0: alpha1 * beta1 + alpha2 * beta2, 1: alpha2 * beta1}
    found = offset_weights(key, value)
    if found.keys() != expected.keys():
        return same(tuple(found), tuple(expected))
    return identities(list(found.values()), list(expected.values()))


def _causal(length: int, look_ahead: int = 0) -> Margin:
    """Tokens that row j of the output depends on, against tokens 1 .. j; `look_ahead` puts token s + 1 in value s."""
    states = tokens(length)
    seen = states if not look_ahead else states + shift_matrix(length).T * states
    weights = [softmax([states[j] * k for k in (mixing_matrix(KEY, length) * states)[: j + 1]]) for j in range(length)]
    values = mixing_matrix(VALUE, length) * seen
    outputs = [sum(w * v for w, v in zip(row, values[: len(row)], strict=True)) for row in weights]
    read = tuple(tuple(str(x) for x in states if x in output.free_symbols) for output in outputs)
    return same(read, tuple(tuple(str(x) for x in states[: j + 1]) for j in range(length)))


def _direct_offsets_leak(length: int, direct: int = 1) -> Margin:
    """The value of token s + 1 mixed into position s: row j depends on token j + 1, for j < length."""
    states = tokens(length)
    values = mixing_matrix(VALUE, length) * states
    if direct:
        values += sp.Symbol("gamma", real=True) * shift_matrix(length).T * states
    leaks = [values[j].diff(states[j + 1]) for j in range(length - 1)]
    return min((not_identity(leak, sp.Integer(0)) for leak in leaks), key=lambda margin: margin.value)


def _shift_of_states(key=(alpha1, alpha2), value=(alpha1, alpha2)) -> Margin:
    """One mixture for keys and values alike reads offsets +1 and -1 with equal weights."""
    found = offset_weights(key, value)
    return identity(found[1], found[-1])


def _identity_is_vanilla(length: int, key=(1, 0), value=(1, 0)) -> Margin:
    states = tokens(length)
    plain = [
        sum(w * v for w, v in zip(softmax([states[j] * k for k in states[: j + 1]]), states, strict=False))
        for j in range(length)
    ]
    return identities(list(shifted_attention(states, key, value)), plain)


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
    ),
    mathematical(
        "kv.eq5.projection",
        f"{SECTION}, Eq. 4-5, our addition",
        "Shifting projected keys equals projecting shifted states: the shift commutes with W_K and W_V.",
        symbolic(
            "free symbols, N = 1..4, D = 2",
            _projects,
            LENGTHS,
            Control("a tanh after the projection", lambda length: _projects(length, True), ({"length": 2},)),
        ),
        is_correction=True,
        formula=r"\mathrm{Shift}(XW)=\mathrm{Shift}(X)W",
    ),
    mathematical(
        "kv.eq5.identity",
        f"{SECTION}, Eq. 5-6, our addition",
        "alpha = beta = (1, 0) is ordinary causal attention.",
        symbolic(
            "free symbols, N = 1..4, D = 1",
            _identity_is_vanilla,
            LENGTHS,
            Control("alpha = (0, 1)", lambda length: _identity_is_vanilla(length, (0, 1))),
            Control("beta = (0, 1)", lambda length: _identity_is_vanilla(length, (1, 0), (0, 1))),
        ),
        is_correction=True,
        formula=r"\alpha=\beta=(1,0)\Rightarrow\hat K=K,\quad\hat V=V",
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
    ),
    mathematical(
        "kv.sec2.2.breaks",
        f"{SECTION}, before Eq. 4",
        "Combining the value of token i + 1 into position i directly breaks the causal mask.",
        symbolic(
            "row j depends on token j + 1; free symbols, N = 2..4",
            _direct_offsets_leak,
            LENGTHS[1:],
            Control("Eq. 5", lambda length: _direct_offsets_leak(length, 0)),
        ),
        formula=r"\hat V_i=\beta_1V_i+\beta_2V_{i+1}\Rightarrow\frac{\partial Y_j}{\partial x_{j+1}}\ne0",
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
    ),
    mathematical(
        "kv.eq5.decoupled",
        f"{SECTION}, our addition",
        "One mixture of the states for keys and values alike cannot do it: offsets +1 and -1 then have equal weights.",
        symbolic(
            "the weights of the offsets +1 and -1",
            _shift_of_states,
            ONCE,
            Control("separate mixtures, as in Eq. 5", lambda: _shift_of_states(KEY, VALUE)),
        ),
        is_correction=True,
        formula=r"\alpha=\beta\Rightarrow\alpha_2\beta_1=\alpha_1\beta_2",
    ),
)
