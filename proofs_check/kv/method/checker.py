"""Section 3.3 of the KV-shifting paper: shifted values as a checker of in-context learning (Eq. 12)."""

import itertools

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, balls_apart, identity, same
from proofs_check.kv.induction.depth_width import words
from proofs_check.kv.method.icl import attended, key_value_pairs, similarities
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, not_identity, symbolic
from theory.lowering.ball import to_ball
from theory.shift.algebra import tokens

SECTION = "KV shifting (final), Section 3.3"
LENGTHS = [{"length": n} for n in (2, 3, 4, 5)]
Sentence = tuple[int, ...]


def _weights(length: int, below: tuple[int, int]) -> list[sp.Expr]:
    """The weights of Eq. 12, i = 2 .. n, of s_i = k_{n+1} . k_i / T. The sum below is from below[0] to n + below[1]."""
    raised = [*map(sp.exp, similarities(length))]
    return [term / sp.Add(*raised[below[0] - 1 : length + below[1]]) for term in raised[1:]]


PRINTED, REPAIRED, WHOLE = (1, -1), (2, 0), (1, 0)


def _sum_is_one(length: int, below: tuple[int, int] = REPAIRED) -> Margin:
    return identity(sp.Add(*_weights(length, below)), 1)


def _sum_in_balls(scores: tuple[int, ...]) -> Margin:
    """Numerators e^{s_2} + .. + e^{s_n} against the printed denominator e^{s_1} + .. + e^{s_{n-1}}, in balls."""
    raised = [to_ball(s).exp() for s in scores]
    return balls_apart(sum(raised[1:]), sum(raised[:-1]))


def _attention(count: int) -> sp.Expr:
    """Attention of k_{n+1} with shifted values (0, v_1, ..) over the positions 1 .. count."""
    return attended(similarities(count), [sp.Integer(0), *tokens(count, name="v")[: count - 1]])


def _real_normaliser(length: int, below: tuple[int, int] = WHOLE) -> Margin:
    """Eq. 12 with a denominator is attention over 1 .. n."""
    equation = sum(w * v for w, v in zip(_weights(length, below), tokens(length, name="v")[: length - 1], strict=True))
    return identity(equation, _attention(length))


def _sees_itself(length: int, guess_included: int = 1) -> Margin:
    """With the guess as token n + 1 its own pair (k_{n+1}, v_n) is in the sum: v_n has a weight other than zero."""
    output = _attention(length + guess_included)
    return not_identity(output.diff(tokens(length, name="v")[length - 1]), sp.Integer(0))


def _keeps_seen_bigrams(sentence: Sentence, guess: int) -> Margin:
    """The guess is kept (inferred v_n = v_n) exactly if the bigram (x_n, guess) occurred.

    Eq. 12 (repaired) infers, as T -> 0 over one-hot tokens, the mean of the tokens just before the matches of the
    guess. Without a match all scores are equal, and the mean runs over all of them.
    """
    pairs = [*itertools.pairwise(sentence)]
    before = {token for token, match in pairs if match == guess} or set(sentence[:-1])
    return same(before == {sentence[-1]}, (sentence[-1], guess) in pairs)


def _guesses(occurrences: int, longest: int) -> list[dict[str, Sentence | int]]:
    """Sentences over 3 letters and guesses that occur so often among x_2 .. x_n."""
    found = itertools.product(words(2, longest), range(3))
    return [{"sentence": word, "guess": guess} for word, guess in found if word[1:].count(guess) == occurrences]


def _relu(numbers: np.ndarray) -> np.ndarray:
    return np.maximum(numbers, 0)


def _keeps_or_deletes(count: int, gated: bool = True) -> Margin:
    """For all guesses, inferred and real values among `count` one-hot tokens, two networks with a residual against
    keep or delete.

    Two layers: units relu(inferred_k) real_k, summed; then units relu(sum) guess_j, less the guess. One layer: V^2
    units relu(inferred_k + real_k - 1) guess_j, less the guess.
    """
    found, wanted = [], []
    for guess, inferred, real in itertools.product(np.eye(count, dtype=int), repeat=3):
        agree = (_relu(inferred) * (real if gated else 1)).sum()
        two_layers = guess + (_relu(agree) * guess - guess)
        one_layer = guess + (np.outer(guess, _relu(inferred + real - 1)).sum(axis=1) - guess)
        found += [two_layers.tolist(), one_layer.tolist()]
        wanted += [(guess * int((inferred == real).all())).tolist()] * 2
    return same(found, wanted)


def _no_linear_gate(weight_of_one: int = 1) -> Margin:
    """f linear in (inferred, real), two tokens: f on the equal pairs and f on the unequal ones have the same sum."""
    a0, a1, b0, b1, free = sp.symbols("a_0 a_1 b_0 b_1 c", real=True)
    equal = a0 + b0 + free + weight_of_one * (a1 + b1 + free)
    return identity(equal, (a0 + b1 + free) + (a1 + b0 + free))


SUM_IS_ONE = symbolic(
    "with the denominator over i = 2..n the weights sum to 1; scores free, n = 2..5",
    _sum_is_one,
    LENGTHS,
    Control("i = 1..n-1, as printed", lambda length: _sum_is_one(length, PRINTED)),
    Control("i = 1..n", lambda length: _sum_is_one(length, WHOLE)),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec3.3.value_pairs",
        f"{SECTION}, before Eq. 12",
        "After shifting values the pairs are (k_2, v_1), (k_3, v_2), .., (k_n, v_{n-1}).",
        symbolic(
            "positions 2 .. n, n = 2..5",
            lambda length: key_value_pairs(length, "v", "k"),
            LENGTHS,
            Control("with position 1, which holds (k_1, 0)", lambda length: key_value_pairs(length, "v", "k", 1)),
            Control("keys shifted instead", lambda length: key_value_pairs(length, "k", "k")),
        ),
        defect="kv.sec3.3.key_pairs",
        verdict=Verdict.HOLDS_IF,
        hypotheses=("position 1 is set apart",),
        reading="Position 1, which has no previous token, is set apart.",
        severity=Severity.READING,
        note="Position 1 holds (k_1, 0) and takes part in the softmax.",
        formula=r"(k_s,\hat v_s)=(k_s,v_{s-1}),\quad s=2,\ldots,n",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq12",
        f"{SECTION}, Eq. 12",
        "v_n = sum_{i=2}^n e^{k_{n+1}.k_i/T} / (sum_{i=1}^{n-1} e^{k_{n+1}.k_i/T}) v_{i-1}, a mean of earlier values.",
        exact(
            "as printed the weights do not sum to 1: whole-number scores, in balls",
            _sum_in_balls,
            ({"scores": (0, 1)}, {"scores": (0, -1)}, {"scores": (0, 0, 1)}, {"scores": (2, 0, 1)}),
            Control("equal first and last scores", points=({"scores": (0, 0)}, {"scores": (0, 1, 0)})),
        ),
        SUM_IS_ONE,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        witness={"scores": (0, 1)},
        correction="kv.eq12.corrected",
        formula=r"v_n=\sum_{i=2}^{n}\frac{e^{k_{n+1}\cdot k_i/T}}{\sum_{i=1}^{n-1}e^{k_{n+1}\cdot k_i/T}}v_{i-1}",
        note="The denominator runs over i = 2..n; its range is left over from Eq. 11. As printed the weights sum to "
        "1 + (e^{s_n} - e^{s_1})/(sum of the first n - 1): at n = 2, scores 0 and 1, to e.",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq12.corrected",
        f"{SECTION}, Eq. 12, corrected",
        "With the denominator over i = 2..n the weights sum to one.",
        SUM_IS_ONE,
        formula=r"v_n=\sum_{i=2}^{n}\frac{e^{k_{n+1}\cdot k_i/T}}{\sum_{i=2}^{n}e^{k_{n+1}\cdot k_i/T}}v_{i-1}",
        is_correction=True,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq12.normaliser",
        f"{SECTION}, Eq. 12, as attention computes it",
        "Attention of k_{n+1} over positions 1..n with shifted values has the denominator over i = 1..n: its weights "
        "on v_1 .. v_{n-1} sum to less than one.",
        symbolic(
            "scores and values free, n = 2..5",
            _real_normaliser,
            LENGTHS,
            Control("i = 2..n", lambda length: _real_normaliser(length, REPAIRED)),
            Control("i = 1..n-1, as printed", lambda length: _real_normaliser(length, PRINTED)),
        ),
        is_correction=True,
        formula=r"v_n=\sum_{i=2}^{n}\frac{e^{k_{n+1}\cdot k_i/T}}{\sum_{j=1}^{n}e^{k_{n+1}\cdot k_j/T}}v_{i-1}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.eq12.sees_itself",
        f"{SECTION}, Eq. 12, our addition",
        "If the guess becomes token n + 1 its own pair (k_{n+1}, v_n) is in the sum: the check sees its answer.",
        symbolic(
            "the weight of v_n, scores free, n = 2..5",
            _sees_itself,
            LENGTHS,
            Control("the query at position n", lambda length: _sees_itself(length, 0)),
        ),
        is_correction=True,
        formula=r"\frac{e^{s_{n+1}}}{\sum_{i=1}^{n+1}e^{s_i}}v_n,\quad s_i=k_{n+1}\cdot k_i/T",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec3.3.keep",
        f"{SECTION}, after Eq. 12",
        "If the guessed v_n is close to the real v_n keep the guess, otherwise delete it.",
        exact(
            "one-hot tokens, T -> 0, sentences of 2..4 tokens over 3 letters: kept exactly if (x_n, guess) occurred",
            _keeps_seen_bigrams,
            lambda effort: _guesses(1, 4 if effort is Effort.QUICK else 6),
            Control("guesses that occurred twice", points=_guesses(2, 4)),
            Control("guesses that did not occur", points=_guesses(0, 2)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("the guess occurs exactly once among x_2 .. x_n", "one-hot tokens, T -> 0"),
        reading="The check asks whether the guess has followed x_n before; that it never errs is not said.",
        severity=Severity.READING,
        note="The guess must occur exactly once among x_2 .. x_n. After A B B the seen successor B of B is deleted "
        "(the mean of A and B is not B); after A A the unseen guess B is kept (all earlier tokens are A).",
        formula=r"\tilde v_n\approx v_n\ \iff\ (x_n,x_{n+1})\in\{(x_s,x_{s+1}):s<n\}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec3.3.gate",
        f"{SECTION}, after Eq. 12",
        "Keeping or deleting the guess is easily done by a gated MLP and a residual connection.",
        exact(
            "one-hot guesses and values of 2..5 tokens: two gated layers of V units, and one of V^2",
            _keeps_or_deletes,
            [{"count": count} for count in range(2, 6)],
            Control("a first layer without its gate", lambda count: _keeps_or_deletes(count, gated=False)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("the values are one-hot", "two gated layers of V units, or one of V^2; gates by ReLU"),
        reading="A construction exists; values are one-hot, and equal is close.",
        severity=Severity.READING,
        note="Missing: values that can be told apart coordinate by coordinate, and a second layer or V^2 units. A "
        "threshold on one linear form cannot compare them (kv.sec3.3.gate.linear).",
        formula=r"g+\left(\mathrm{ReLU}\left(\sum_k\mathrm{ReLU}(\tilde v_k)v_k\right)-1\right)g",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec3.3.gate.linear",
        f"{SECTION}, after Eq. 12, our addition",
        "One linear gate cannot decide it: no threshold on a linear form of the inferred and the real value is passed "
        "exactly where the two agree.",
        symbolic(
            "two one-hot tokens, all weights free: the two equal pairs and the two unequal ones have the same sum",
            _no_linear_gate,
            ONCE,
            Control("the second token counted twice where equal", lambda: _no_linear_gate(2)),
        ),
        is_correction=True,
        formula="f(e_0,e_0)+f(e_1,e_1)=f(e_0,e_1)+f(e_1,e_0)",
        coverage=everywhere("The weights are free, and any larger set of tokens holds two."),
    ),
)
