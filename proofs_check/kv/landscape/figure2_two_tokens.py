"""Section 3.2 on T = 2, the sentence [A][B][A] -> [B]: which head its training data ask for."""

from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, balls_apart, identity, worst
from proofs_check.kv.landscape.figure2 import at
from proofs_check.ledger.claim import ENUMERATED, SAMPLES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, sampled, symbolic
from proofs_check.oracles.landscape import symbolic_one_hot_logits
from theory import landscape
from theory.landscape.slice_symbolic import on_slice
from theory.landscape.symbolic import A, B, interior_table, logits, loss, position_table
from theory.symbols import alpha1, beta1, beta2

SOURCE = "KV shifting (both versions), Section 3.2, on T = 2"
Head = tuple[int | Fraction, int | Fraction]  # alpha1, beta1
PREVIOUS_TOKEN, INDUCTION, UNIFORM = (1, 0), (0, 1), (Fraction(1, 2), 0)  # the last has D = 0, a uniform guess
LEAD = on_slice(beta1 * (B - 2 * A) + beta2 * (A - B))  # S times the target's lead; S = 2 A + B
PARTITION = on_slice(2 * A + B)


def _lead_is(edge: sp.Expr) -> Margin:
    """D is l_2 - l_1 by attention over one-hot rows of A B A, and e^L = 1 + e^{-D}, in the four parameters."""
    other, target = symbolic_one_hot_logits(2, 1)
    lead = (beta1 * (B - 2 * A) + beta2 * edge) / (2 * A + B)
    return identities([target - other, sp.exp(loss(position_table(2, 1)))], [lead, 1 + sp.exp(-lead)])


def _slope(end: int, factor: int = 1) -> Margin:
    """S^2 times the slope of the lead along alpha1 where beta1 = end: 6 e > 0 at 0, -8 e < 0 at 1; linear between."""
    slope = sp.diff(LEAD.subs(beta1, end) / PARTITION, alpha1) * PARTITION**2
    return identities([slope, sp.diff(LEAD, beta1, 2)], [(-8 if end else 6) * factor * sp.E, 0])


def _better(first: Head, second: Head) -> Margin:
    """The lead at the first head certainly exceeds that at the second."""
    return ball_at_least(at(LEAD / PARTITION, *first) - at(LEAD / PARTITION, *second), strict=True)


def _leads(head: Head, winner: int, over: int) -> Margin:
    """On A B C A the head's logit of token `winner` (1-based) certainly exceeds that of `over`."""
    row = logits(3, 1)
    return ball_at_least(at(on_slice(row[winner - 1] - row[over - 1]), *head), strict=True)


def _wins(head: Head, winner: int) -> tuple[dict, ...]:
    return tuple({"head": head, "winner": winner, "over": over} for over in (1, 2, 3) if over != winner)


def _formula_differs(tokens: int, own_table: bool = False) -> Margin:
    """The interior formula of Theorem 3.4 put at T = 2 or 3 is not the loss there."""
    true = position_table(tokens, 1)
    table = true if own_table else interior_table(sp.Integer(tokens))
    return balls_apart(*(at(on_slice(loss(t)), Fraction(1, 3), Fraction(1, 2)) for t in (table, true)))


def _share(corner: Head, share: float) -> Margin:
    """Share of a grid of starts from which projected descent on the box ends at the corner."""
    axis = (np.arange(41) + 0.5) / 41
    a, b = (part.ravel() for part in np.meshgrid(axis, axis))
    for _ in range(400):
        g = landscape.gradient(a, 1 - a, b, 1 - b, 2, 1)
        a, b = np.clip(a - g[:, 0] + g[:, 1], 0, 1), np.clip(b - g[:, 2] + g[:, 3], 0, 1)
    ended = (np.abs(a - corner[0]) < 1e-9) & (np.abs(b - corner[1]) < 1e-9)
    return at_most(abs(float(ended.mean()) - share), 0.01)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fig2.two_tokens.void", SOURCE,
        "Theorem 3.4 does not apply to T = 2: its formula there is not the loss (nor is it at T = 3).",
        exact("balls of the formula and of the loss at (1/3, 1/2)", _formula_differs, ({"tokens": 2}, {"tokens": 3}),
              Control("the table of T = 2 and 3", lambda tokens: _formula_differs(tokens, True))),
        coverage=everywhere("One point of each T tells the two functions apart."),
        formula=r"L_{\mathrm{Eq.\,10}}(T)\ne L(T),\quad T=2,3",
    ),
    mathematical(
        "kv.fig2.two_tokens.loss", SOURCE,
        "At T = 2 predicting the previous token suffices for a low loss: L = log(1 + e^{-D}) with "
        "D = (beta1 (B - 2A) + beta2 (A - B))/(2A + B), and (1, 0), which attends to its own token and reads out "
        "the one before, is the minimiser on the box.",
        symbolic("the lead D against one-hot attention, and L by D", lambda: _lead_is(A - B), ONCE,
                 Control("a sign", lambda: _lead_is(B - A))),
        symbolic("slopes of D along both sides beta1 = 0, 1", _slope, ({"end": 0}, {"end": 1}),
                 Control("twice the slope", lambda end: _slope(end, 2))),
        exact("D at (1, 0), (e - 1)/(2e + 1), exceeds D at the other side's best, (e - 2)/(e + 2), and 0, D of a "
              "uniform guess", _better, tuple({"first": PREVIOUS_TOKEN, "second": b} for b in (INDUCTION, UNIFORM)),
              Control("the other way round", points=({"first": INDUCTION, "second": PREVIOUS_TOKEN},)),
              Control("(0, 0), which reads out the wrong token", points=({"first": (0, 0), "second": UNIFORM},))),
        coverage=everywhere("D is affine in beta1 and monotone in alpha1 on either side; their ends are compared."),
        formula=r"L=\log(1+e^{-D}),\ D=\frac{\beta_1(B-2A)+\beta_2(A-B)}{2A+B}",
    ),
    mathematical(
        "kv.fig2.two_tokens.not_induction", SOURCE,
        "The head that T = 2 prefers is not an induction head: on A B C A it predicts C.",
        exact("leads of C at (1, 0), and of B at the induction head (0, 1)", _leads,
              (*_wins(PREVIOUS_TOKEN, 3), *_wins(INDUCTION, 2)),
              Control("the induction head predicts B", points=_wins(INDUCTION, 3)),
              Control("(1, 0) for B over C", points=({"head": PREVIOUS_TOKEN, "winner": 2, "over": 3},))),
        coverage=ENUMERATED,
        formula=r"l_C>\max(l_A,l_B)\ \mathrm{at}\ (\alpha_1,\beta_1)=(1,0)",
    ),
    mathematical(
        "kv.fig2.two_tokens.learns", SOURCE + ", our addition",
        "Projected descent on T = 2 ([A][B][A] -> [B]) ends at the previous-token head from 63 % of the starts of a "
        "grid of the box, from the others at the induction head (0, 1), a second local minimum.",
        sampled("projected descent from 41 x 41 starts: 62.9 % end at (1, 0), 37.1 % at (0, 1)", _share,
                ({"corner": PREVIOUS_TOKEN, "share": 0.629}, {"corner": INDUCTION, "share": 0.371}),
                Control("all of them", points=({"corner": PREVIOUS_TOKEN, "share": 1.0},))),
        symbolic("(0, 1) is a strict local minimiser too: D falls along beta1 = 1 and rises with beta1 at alpha1 = 0",
                 lambda: worst([_slope(1), identity(sp.diff(LEAD, beta1).subs(alpha1, 0), 2 * sp.E - 3)]), ONCE,
                 Control("2 e - 6 < 0", lambda: identity(sp.diff(LEAD, beta1).subs(alpha1, 0), 2 * sp.E - 6))),
        is_correction=True, coverage=SAMPLES,
        formula=r"(\alpha_1,\beta_1)\to(1,0),\quad T=2",
    ),
)  # fmt: skip

