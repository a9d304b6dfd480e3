"""Section 5 and Appendix G of the KV-shifting paper: the shift as a convolution, shifted queries, fixed states."""

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same, worst
from proofs_check.kv.induction.depth_width import FOUR, FOUR_FOR_TWO, NO_HEAD, PIGEONHOLE, no_read_out, successor, words
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort, Severity, Verdict
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic
from theory.shift.algebra import mixing_matrix, softmax, tokens
from theory.symbols import alpha1, alpha2

SECTION = "KV shifting (final), Section 5"
gamma1, gamma2 = sp.symbols("gamma1 gamma2", real=True)
Kernel = tuple[sp.Expr | int, ...]


def _convolution(length: int, kernel: Kernel) -> Margin:
    """Eq. 5 against sum_j kernel_j k_{i-j}, a causal convolution."""
    column = tokens(length, name="k")
    expected = [sum(c * column[i - j] for j, c in enumerate(kernel[: i + 1])) for i in range(length)]
    return identities(mixing_matrix((alpha1, alpha2), length) * column, expected)


def _equal_bystanders(key: tuple[int, int]) -> Margin:
    """In A B C D A the logits of B, the successor, and of C, a bystander; the query is gamma1 x_n + gamma2 x_{n-1}."""
    x = sp.Matrix([[int(token == letter) for letter in range(4)] for token in (0, 1, 2, 3, 0)])
    weights = softmax(mixing_matrix(key, 5) * x * (gamma1 * x.row(4) + gamma2 * x.row(3)).T)
    return identity(weights[1], weights[2])


def _same_query(sentences: tuple[str, ...]) -> Margin:
    """The last two tokens, of which a shifted query is made, are alike in all sentences."""
    return same(tuple(w[-2:] for w in sentences), (sentences[0][-2:],) * len(sentences))


def _machine(sentence: tuple[int, ...], special: int = 2) -> int:
    """Reads with a fixed state, (was the last token S?, the token after the latest S), and answers at the end."""
    armed, stored = False, -1
    for token in sentence:
        stored = token if armed else stored
        armed = token == special
    return stored


def _ending_in(last: int, effort: Effort) -> list[dict[str, tuple[int, ...]]]:
    """All sentences over 3 letters with that last token, seen before."""
    found = words(2, 5 if effort is Effort.QUICK else 8)
    return [{"sentence": w} for w in found if w[-1] == last and last in w[:-1]]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec5.convolution",
        SECTION,
        "The shift is a short convolution with kernel size 2.",
        symbolic(
            "kernel (alpha1, alpha2), free symbols, N = 2..5",
            lambda length: _convolution(length, (alpha1, alpha2)),
            [{"length": n} for n in range(2, 6)],
            Control("kernel (alpha2, alpha1)", lambda length: _convolution(length, (alpha2, alpha1))),
            Control("a kernel of size 3", lambda length: _convolution(length, (alpha1, alpha2, 1))),
        ),
        formula=r"\hat K_t=\sum_{j=0}^{1}c_jK_{t-j},\quad(c_0,c_1)=(\alpha_1,\alpha_2)",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec5.gssm",
        f"{SECTION} (Jelassi et al. 2024)",
        "Generalised state space models cannot arbitrarily retrieve from context.",
        PIGEONHOLE,
        verdict=Verdict.HOLDS_IF,
        hypotheses=("the state holds fewer bits than the values that may be asked for",),
        reading="The state is of a fixed size, and arbitrary means more than it can hold.",
        severity=Severity.READING,
        note="The state must hold fewer bits than the values that may be asked for; a growing state is not bound.",
        formula=r"M<2^n\Rightarrow\forall f:\{0,1\}^n\to\{1,\ldots,M\}\ \exists u\ne v:\ f(u)=f(v)",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.fn11",
        f"{SECTION}, footnote 11",
        "A fixed state space perfectly achieves [S] [B] .. [S] -> [B] for one special token S.",
        exact(
            "a machine of 2 x 4 states; all sentences of 2..5 tokens over 3 letters that end in a repeated S",
            lambda sentence: same(_machine(sentence), successor(sentence)),
            lambda effort: _ending_in(2, effort),
            Control("another token than S at the end", points=lambda effort: _ending_in(0, effort)),
        ),
        formula=r"b_t=\begin{cases}x_t&x_{t-1}=S\\b_{t-1}&x_{t-1}\ne S\end{cases}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appG.query",
        "KV shifting (final), Appendix G; first version, Appendix J",
        "Shifting Q can hardly contribute to induction: shifted alone, it does not let one head name the successor.",
        symbolic(
            "identity projections, A B C D A, query gamma1 x_n + gamma2 x_{n-1}: B and C have equal logits",
            lambda: _equal_bystanders((1, 0)),
            ONCE,
            Control("keys shifted", lambda: _equal_bystanders((0, 1))),
        ),
        symbolic(
            "any projections, positions and residual: four sentences that end in the same two tokens, e and a",
            lambda: worst([_same_query(FOUR_FOR_TWO), no_read_out(FOUR_FOR_TWO)]),
            ONCE,
            Control("keys shifted", lambda: no_read_out(FOUR_FOR_TWO, previous=True)),
            Control("the first four, of which two end otherwise", lambda: _same_query(FOUR)),
        ),
        reading="One layer of one head is meant, as in the analysis of Section 3.",
        formula=r"\hat q_n=\gamma_1x_n+\gamma_2x_{n-1}\Rightarrow l_B=l_C",
        coverage=NO_HEAD,
    ),
)
