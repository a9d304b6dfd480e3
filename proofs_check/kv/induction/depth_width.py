"""Section 2.1 of the KV-shifting paper: what induction asks of depth and of the hidden states' width."""

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.linalg import hadamard

from proofs_check.evidence.margin import Margin, identity, less, same, worst
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic

SECTION = "KV shifting (both versions), Section 2.1"


def every_summary_confuses(bits: int, messages: int) -> Margin:
    """All functions from the values of `bits` pairs to `messages` summaries: how many give two values one summary, how
    many there are."""
    functions = list(itertools.product(range(messages), repeat=2**bits))
    return same(sum(len(set(summary)) < len(summary) for summary in functions), len(functions))


PIGEONHOLE = exact(
    "the values of 1 or 2 pairs: all functions to fewer summaries (states, or what the layer passes on for one last "
    "token) than value strings",
    every_summary_confuses,
    [{"bits": bits, "messages": messages} for bits, messages in ((1, 1), (2, 1), (2, 2), (2, 3))],
    Control("as many summaries as value strings", points=({"bits": 1, "messages": 2}, {"bits": 2, "messages": 4})),
)


def words(shortest: int, longest: int) -> Iterator[tuple[int, ...]]:
    """All sentences of so many tokens over 3 letters."""
    return (word for length in range(shortest, longest + 1) for word in itertools.product(range(3), repeat=length))


def after_match(sentence: tuple[int, ...]) -> int:
    """The place, from 0, after the latest earlier occurrence of the last token, or -1 where there is none."""
    return max((s + 1 for s, token in enumerate(sentence[:-1]) if token == sentence[-1]), default=-1)


def successor(sentence: tuple[int, ...]) -> int:
    """The token after the latest earlier occurrence of the last token, or -1 where there is none."""
    place = after_match(sentence)
    return sentence[place] if place >= 0 else -1


def _table_suffices(length: int, positions: bool = True) -> Margin:
    """Number of views shared by sentences with different answers, 3 letters: none, so a look-up table can follow.

    A uniform head's view is the mean one-hot row of (token, position) pairs, or of tokens, beside the last token.
    """
    answers: dict[Hashable, set[int]] = {}
    for sentence in words(length, length):
        rows = Counter((token, place * positions) for place, token in enumerate(sentence))
        answers.setdefault((frozenset(rows.items()), sentence[-1]), set()).add(successor(sentence))
    return same(sum(len(found) > 1 for found in answers.values()), 0)


def _first_layer(sentence: tuple[int, ...]) -> list[tuple[int, frozenset[int]]]:
    """Each token with the places of its own occurrences so far: what attention from equal tokens to equal averages."""
    return [
        (token, frozenset(s for s in range(place + 1) if sentence[s] == token)) for place, token in enumerate(sentence)
    ]


def _pointer_answer(sentence: tuple[int, ...], moved: int = 0, shifted: int = 0) -> int:
    """Second layer: the last state's pointer, its own place removed, is the query on positions.

    It is moved on by so many places, or the keys are shifted by so many, place s holding e_{s - shifted}.
    """
    places = range(len(sentence))
    pointer = _first_layer(sentence)[-1][1] - {places[-1]}
    query = [int(place - moved in pointer) for place in places]
    scores = [0] * shifted + query
    return sentence[max(places, key=scores.__getitem__)]


def _one_repeat(length: int) -> list[dict[str, tuple[int, ...]]]:
    """Sentences of distinct tokens followed by a repetition of one that is not the latest."""
    return [{"sentence": (*range(length - 1), i)} for i in range(length - 2)]


def _states_after(sentence: tuple[int, ...], states: Callable[[tuple[int, ...]], Sequence[Hashable]]) -> int:
    """How many states the place i + 1 has, over x_i as it is and all tokens that do not occur."""
    place = sentence.index(sentence[-1])
    others = [sentence[-1], *(t for t in range(len(sentence) + 1) if t not in sentence)]
    swapped = [(*sentence[:place], other, *sentence[place + 1 :]) for other in others]
    return len({states(alike)[place + 1] for alike in swapped})


def _pointer_works(sentence: tuple[int, ...], moved: int = 1) -> Margin:
    """The pointer network answers right although the state at i + 1 is the same whatever x_i is."""
    found = _pointer_answer(sentence, moved), _states_after(sentence, _first_layer)
    return same(found, (successor(sentence), 1))


def _elimination_works(sentence: tuple[int, ...], left_out: int = 1) -> Margin:
    """The token read and the number of states at its place over all x_i, for states that leave out x_{s-1}.

    A state is (own token, the tokens before s - left_out); the last place whose state does not hold x_L is read.
    """

    def states(tokens: tuple[int, ...]) -> list[tuple[int, frozenset[int]]]:
        return [(token, frozenset(tokens[: max(s - left_out, 0)])) for s, token in enumerate(tokens)]

    query = sentence[-1]
    free = [own for own, held in states(sentence) if query != own and query not in held]
    return same((free[-1] if free else -1, _states_after(sentence, states)), (successor(sentence), 1))


# The last token (or the last two) alike, the tokens c and d at the places 2 and 4, the match before one of them.
FOUR = ("acbda", "bcada", "adbca", "bdaca")
FOUR_FOR_TWO = ("acbdea", "bcadea", "adbcea", "bdacea")


def _share(sentence: str, place: int, previous: bool) -> sp.Symbol:
    """What a state gives to the sum over places, for one query: any function of its token and place (and of the token
    before)."""
    held = sentence[max(place - 2, 0) : place] if previous else sentence[place - 1]
    return sp.Symbol(f"z_{held}{place}", real=True)


def _answers(sentences: tuple[str, ...]) -> str:
    found = (successor(tuple(map(ord, sentence))) for sentence in sentences)
    return "".join(map(chr, found))


def no_read_out(sentences: tuple[str, ...] = FOUR, previous: bool = False) -> Margin:
    """The logit of c less that of d, times the positive normaliser, is a sum of one term a state.

    Over the four sentences the sums, with signs + - - +, cancel; to be right they must be +, -, -, +.
    """
    sums = [sum(_share(w, place, previous) for place in range(1, len(w) + 1)) for w in sentences]
    return worst([same(_answers(sentences), "cddc"), identity(sums[0] - sums[1] - sums[2] + sums[3], sp.Integer(0))])


NO_HEAD = everywhere(
    "Scores, values and residual enter as one free symbol for each token at each place, and four sentences that no "
    "choice of them does are enough."
)


def _sentences(effort: Effort) -> list[dict[str, tuple[int, ...]]]:
    return [point for length in range(3, 7 if effort is Effort.QUICK else 10) for point in _one_repeat(length)]


def _superposition_gap(order: int, bent: bool = True) -> Margin:
    """Largest score of a wrong position against the least of a right one, for states y_s = x_s + Q x_{s-1} at D = d.

    Q sqrt(d) is a Hadamard matrix, d = 4^order, its columns signed if bent. The score y_L^T Q^{-1} y_s is 1 for a match
    x_{s-1} = x_L plus an entry of Q^T, one of (Q Q)^T and one of Q^T. The same bound covers the read-out
    x_{i+1} + Q x_i, whose noise is a single entry of Q.
    """
    dim, root = 4**order, 2**order
    even_bits = sum(4**k for k in range(order))
    signs = [(-1) ** (index & (index >> 1) & even_bits).bit_count() for index in range(dim)]
    matrix = hadamard(dim) * np.array(signs if bent else [1] * dim)
    if (matrix @ matrix.T != dim * np.eye(dim, dtype=int)).any():
        raise ValueError("the rotation is not orthogonal")
    noise = 2 * Fraction(int(np.abs(matrix).max()), root) + Fraction(int(np.abs(matrix @ matrix).max()), dim)
    return less(noise, 1 - noise)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec2.1.one_layer",
        f"{SECTION} (Sanford et al. 2024a)",
        "One layer of a transformer cannot implement induction heads.",
        PIGEONHOLE,
        verdict=Verdict.HOLDS_IF,
        note="The cited theorem is about size: what the layer passes on (heads x head width x bits) must be less than "
        "the number of pairs. A layer of unlimited size can (kv.sec2.1.one_layer.large).",
        formula=r"M<2^n\Rightarrow\forall f:\{0,1\}^n\to\{1,\ldots,M\}\ \exists u\ne v:\ f(u)=f(v)",
        hypotheses=("the layer passes on fewer bits than there are pairs",),
        reading="The cited theorem is meant, with its condition on the size of the layer.",
        severity=Severity.READING,
        coverage=INSTANCES,
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
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec2.1.must_integrate",
        f"{SECTION}, after Property 1",
        "From the perspective of virtual heads, to be output by induction token i + 1 must first have x_i integrated "
        "into its hidden state.",
        symbolic(
            "states of own token and place: no read-out of one head does acbd|a, bcad|a, adbc|a and bdac|a; scores, "
            "values and residual free",
            no_read_out,
            ONCE,
            Control("states that hold the token before", lambda: no_read_out(previous=True)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=(
            "the second head finds i + 1 by the content of its state, for a query of the last token",
            "a state holds its own token, its place and at most the token before",
        ),
        reading="Two stacked heads are meant whose second knows a place by the content of its state, and a state knows "
        "its own token, its place and at most the token before.",
        severity=Severity.READING,
        note="Missing: what else a state may hold. Other routes leave x_i out: a pointer, as Appendix D of the final "
        "version says itself (kv.sec2.1.must_integrate.corrected), and states that hold all but the previous token "
        "(kv.sec2.1.must_integrate.elimination).",
        formula=r"\frac{\partial h_{i+1}}{\partial x_i}\ne0",
        coverage=NO_HEAD,
    ),
    mathematical(
        "kv.sec2.1.must_integrate.corrected",
        f"{SECTION}, after Property 1, another route",
        "Two layers also do induction by a pointer: find position i, move it to i + 1 by a linear map, read the token.",
        exact(
            "hard attention; one-repeat sentences of 3..6 tokens, the state at i + 1 compared over x_i",
            _pointer_works,
            _sentences,
            Control("a pointer that is not moved on", lambda sentence: _pointer_works(sentence, 0)),
        ),
        is_correction=True,
        formula=r"\frac{\partial h_{i+1}}{\partial x_i}=0,\quad e_i\mapsto Pe_i=e_{i+1}\mapsto x_{i+1}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec2.1.must_integrate.elimination",
        f"{SECTION}, after Property 1, another route",
        "A match by content does it too without x_i in the state at i + 1: states hold their own token and all but the "
        "previous one, and the last place that does not hold x_L is read.",
        exact(
            "one-repeat sentences of 3..6 tokens, the state at i + 1 compared over x_i",
            _elimination_works,
            _sentences,
            Control("the previous token held as well", lambda sentence: _elimination_works(sentence, 0)),
            Control("the two previous ones left out", lambda sentence: _elimination_works(sentence, 2)),
        ),
        is_correction=True,
        formula=r"h_s=(x_s,\{x_t:t<s-1\}),\quad\max\{s:x_L\notin h_s\}=i+1",
        coverage=INSTANCES,
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
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appD.shifted_key",
        "KV shifting (final), Appendix D",
        "If the keys of the next layer are shifted, no MLP is needed to convert position i into i + 1: the pointer to "
        "i finds i + 1 as it is.",
        exact(
            "the pointer network with keys e_{s-1} and nothing moved on; one-repeat sentences of 3..6 tokens",
            lambda sentence, shifted=1: same(_pointer_answer(sentence, shifted=shifted), successor(sentence)),
            _sentences,
            Control("keys as they are", points=[{**p, "shifted": 0} for p in _sentences(Effort.QUICK)]),
            Control("keys shifted by two", points=[{**p, "shifted": 2} for p in _sentences(Effort.QUICK)]),
        ),
        note="None is needed without the shift either: a linear map moves the pointer on "
        "(kv.sec2.1.must_integrate.corrected).",
        formula=r"\hat k_s=e_{s-1}:\quad\mathrm{argmax}_s\,e_i\cdot\hat k_s=i+1",
        coverage=INSTANCES,
    ),
)
