"""Section 2.1 of the KV-shifting paper: what induction asks of depth and of the hidden states' width."""

import itertools
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Control, Effort, Verdict, Witness
from proofs_check.kv.exact_claim import unsettled_claim
from proofs_check.kv.mathematical import exact, mathematical
from proofs_check.margin import Margin, different, less, same

SECTION = "KV shifting (both versions), Section 2.1"


def _confused(summary: tuple[int, ...], bits: int) -> bool:
    """Some two strings have the same summary and differ at a place that could be asked for."""
    strings = range(2**bits)
    return any(summary[a] == summary[b] and a != b for a, b in itertools.combinations(strings, 2))


def every_summary_confuses(bits: int, messages: int) -> Margin:
    """All functions from the values of `bits` pairs to `messages` summaries: how many confuse, how many there are."""
    functions = list(itertools.product(range(messages), repeat=2**bits))
    return same(sum(_confused(summary, bits) for summary in functions), len(functions))


SMALL = ({"bits": 1, "messages": 1}, {"bits": 2, "messages": 1}, {"bits": 2, "messages": 2}, {"bits": 2, "messages": 3})
LARGE = ({"bits": 1, "messages": 2}, {"bits": 2, "messages": 4})


def successor(sentence: tuple[int, ...]) -> int:
    """The token after the latest earlier occurrence of the last token, or -1 where there is none."""
    places = [s for s in range(1, len(sentence)) if sentence[s - 1] == sentence[-1]]
    return sentence[places[-1]] if places else -1


def _uniform_head(sentence: tuple[int, ...], positions: bool) -> tuple[Fraction, ...]:
    """A uniform head's view: the mean one-hot row of (token, position) pairs, or of tokens, and the last token."""
    counts: dict[tuple[int, int], Fraction] = {}
    for place, token in enumerate(sentence):
        key = (token, place if positions else 0)
        counts[key] = counts.get(key, Fraction(0)) + Fraction(1, len(sentence))
    cells = itertools.product(range(3), range(len(sentence)))
    return (*(counts.get(cell, Fraction(0)) for cell in cells), Fraction(sentence[-1]))


def _table_suffices(length: int, positions: bool = True) -> Margin:
    """Number of views shared by sentences with different answers, 3 letters: none, so a look-up table can follow."""
    answers: dict[tuple[Fraction, ...], set[int]] = {}
    for sentence in itertools.product(range(3), repeat=length):
        answers.setdefault(_uniform_head(sentence, positions), set()).add(successor(sentence))
    return same(sum(len(found) > 1 for found in answers.values()), 0)


def _first_layer(sentence: tuple[int, ...]) -> list[tuple[int, tuple[Fraction, ...]]]:
    """Each token with the mean one-hot position of its own occurrences so far: attention from equal tokens to equal."""
    states = []
    for place, token in enumerate(sentence):
        same_token = [s for s in range(place + 1) if sentence[s] == token]
        mean = tuple(Fraction(int(s in same_token), len(same_token)) for s in range(len(sentence)))
        states.append((token, mean))
    return states


def _pointer_answer(sentence: tuple[int, ...], steps: int = 1) -> int:
    """Second layer: the last state's pointer, its own place removed, moved on by `steps`, is the query on positions."""
    pointer = list(_first_layer(sentence)[-1][1])
    pointer[-1] = Fraction(0)
    query = [Fraction(0)] * steps + pointer[: len(pointer) - steps]
    return sentence[query.index(max(query))]


def _one_repeat(length: int) -> list[dict[str, tuple[int, ...]]]:
    """Sentences of distinct tokens followed by a repetition of one that is not the latest."""
    return [{"sentence": (*range(length - 1), i)} for i in range(length - 2)]


def _pointer_works(sentence: tuple[int, ...], steps: int = 1) -> Margin:
    """The pointer network answers right although the state at i + 1 is the same whatever x_i is."""
    place = sentence.index(sentence[-1])
    others = [t for t in range(len(sentence) + 1) if t not in sentence]
    swapped = [tuple(other if s == place else t for s, t in enumerate(sentence)) for other in others]
    blind = {_first_layer(alike)[place + 1] for alike in (sentence, *swapped)}
    return same((_pointer_answer(sentence, steps), len(blind)), (successor(sentence), 1))


def _answer_without_previous_token(sentence: tuple[int, ...], steps: int = 1) -> Margin:
    """If x_i had to be in the state at i + 1, a network without it would not answer right (-1)."""
    works = _pointer_works(sentence, steps).value >= 0
    return different(-1, _pointer_answer(sentence) if works else -1)


def _sentences(effort: Effort) -> list[dict[str, tuple[int, ...]]]:
    return [point for length in range(3, 7 if effort is Effort.QUICK else 10) for point in _one_repeat(length)]


def _rotation(order: int, bent: bool) -> tuple[np.ndarray, int]:
    """Integer M and d with Q = M / sqrt(d) orthogonal, d = 4^order: a Hadamard matrix, its columns signed if bent."""
    dim = 4**order
    bits = [[index >> bit & 1 for bit in range(2 * order)] for index in range(dim)]
    hadamard = np.array([[(-1) ** sum(a * b for a, b in zip(row, col, strict=True)) for col in bits] for row in bits])
    signs = [(-1) ** sum(row[2 * k] * row[2 * k + 1] for k in range(order)) if bent else 1 for row in bits]
    return hadamard * np.array(signs), dim


def _superposition_gap(order: int, bent: bool = True) -> Margin:
    """Largest score of a wrong position against the least of a right one, for states y_s = x_s + Q x_{s-1} at D = d.

    The score y_L^T Q^{-1} y_s is 1 for a match x_{s-1} = x_L plus an entry of Q^T, one of (Q Q)^T and one of Q^T.
    The same bound covers the read-out x_{i+1} + Q x_i, whose noise is a single entry of Q.
    """
    matrix, dim = _rotation(order, bent)
    root = 2**order
    if (matrix @ matrix.T != dim * np.eye(dim, dtype=int)).any():
        raise ValueError("the rotation is not orthogonal")
    noise = 2 * Fraction(int(np.abs(matrix).max()), root) + Fraction(int(np.abs(matrix @ matrix).max()), dim)
    return less(noise, 1 - noise)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec2.1.one_layer",
        f"{SECTION} (Sanford et al. 2024a)",
        "One layer of a transformer cannot implement induction heads.",
        exact(
            "the last token fixed: all functions from the values of 1 or 2 pairs to fewer summaries than value strings",
            every_summary_confuses,
            SMALL,
            Control("as many summaries as value strings", points=LARGE),
        ),
        verdict=Verdict.HOLDS_IF,
        note="The cited theorem is about size: what the layer passes on (heads x head width x bits) must be less than "
        "the number of pairs. A layer of unlimited size can (kv.sec2.1.one_layer.large).",
        formula=r"M<2^n\Rightarrow\forall f:\{0,1\}^n\to\{1,\ldots,M\}\ \exists u\ne v:\ f(u)=f(v)",
    ),
    mathematical(
        "kv.sec2.1.one_layer.large",
        f"{SECTION}, what the cited theorem leaves open",
        "One layer of unlimited size can: one uniform head over one-hot (token, position) rows, then a look-up table.",
        exact(
            "all sentences over 3 letters, lengths 2..6: equal views have equal answers",
            _table_suffices,
            [{"length": length} for length in range(2, 7)],
            Control("without positions", lambda length: _table_suffices(length, positions=False)),
        ),
        is_correction=True,
        formula=r"\left(x_L,\frac{1}{L}\sum_{s=1}^{L}e_{(x_s,s)}\right)\mapsto x_{i+1}",
    ),
    mathematical(
        "kv.sec2.1.must_integrate",
        f"{SECTION}, after Property 1",
        "To be output by induction, token i + 1 must first have x_i integrated into its hidden state.",
        exact(
            "a two-layer network whose state at i + 1 does not depend on x_i; one-repeat sentences of 3..6 tokens",
            _answer_without_previous_token,
            _sentences,
            Control("a pointer that is not moved on", lambda sentence: _answer_without_previous_token(sentence, 0)),
        ),
        verdict=Verdict.FALSE,
        witness=Witness({"sentence": (0, 1, 0)}),
        correction="kv.sec2.1.must_integrate.corrected",
        note="Appendix D of the final version describes another route itself: carry the position i, move it on by one. "
        "In the counterexample -1 stands for no answer.",
        formula=r"\frac{\partial h_{i+1}}{\partial x_i}\ne0",
    ),
    mathematical(
        "kv.sec2.1.must_integrate.corrected",
        f"{SECTION}, after Property 1, corrected",
        "Two layers also do induction by a pointer: find position i, move it to i + 1 by a linear map, read the token.",
        exact(
            "hard attention in rationals; one-repeat sentences of 3..6 tokens, the state at i + 1 compared over x_i",
            _pointer_works,
            _sentences,
            Control("a pointer that is not moved on", lambda sentence: _pointer_works(sentence, steps=0)),
        ),
        is_correction=True,
        formula=r"\frac{\partial h_{i+1}}{\partial x_i}=0,\quad e_i\mapsto Pe_i=e_{i+1}\mapsto x_{i+1}",
    ),
    unsettled_claim(
        "kv.sec2.1.width",
        f"{SECTION}, after Property 1",
        "The induction mechanism imposes certain requirements on the dimensionality of the hidden states.",
        note="No lower bound on the width is stated or proved anywhere; D = 2d is one construction, and D = d suffices "
        "with near-orthogonal storage (kv.sec2.1.width.superposition).",
    ),
    mathematical(
        "kv.sec2.1.width.superposition",
        f"{SECTION}, against reading D = 2d as required",
        "Two vanilla layers of width D = d do induction in the hard limit (T <= d one-hot tokens): the first adds "
        "Q x_{s-1} for a rotation Q with flat Q and flat Q Q, the second scores with Q^{-1}.",
        exact(
            "d = 64, 256 one-hot tokens, all sentences over them; integer Hadamard matrices",
            _superposition_gap,
            ({"order": 3}, {"order": 4}),
            Control(
                "a symmetric Hadamard matrix, whose square is the identity",
                lambda order: _superposition_gap(order, False),
            ),
            Control("d = 16: the noise bound is too large", points=({"order": 2},)),
        ),
        is_correction=True,
        formula=r"y_s=x_s+Qx_{s-1},\quad y_L^TQ^{-1}y_s=x_L^Tx_{s-1}+O(1/\sqrt{d})",
    ),
)
