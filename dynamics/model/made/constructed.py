"""The heads of KV shifting's Section 3.1 by two programs, `theory` and torch, held to their bounds on many inputs."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.shift import shift_mix
from theory import induction
from theory.checked import POSITIVE, real, reals, whole
from theory.induction import constructed
from theory.induction.network import Array, copied_stream

OWN, BEFORE = (1.0, 0.0), (0.0, 1.0)
LARGEST = 2**23  # numbers in the tokens of the random inputs
# an option -> the theorems that take it
TAKES = {
    "length": ("def3.1", "thm3.2", "thm3.3", "k-only"),
    "slope": ("def3.1", "thm3.2", "thm3.3"),
    "copy_slope": ("thm3.2",),
    "matrices": ("thm3.2", "thm3.3", "k-only", "v-only"),
}
MIXING = {"thm3.2": (OWN, OWN), "v-only": (OWN, BEFORE)}  # alpha and beta, of the others (BEFORE, OWN)
LEAST_DIM = {"def3.1": 2, "k-only": 3, "v-only": 5}


class Setting(NamedTuple):
    """A theorem and its parameters. None: 8 tokens, every slope, copy slope 8, the paper's matrices."""

    theorem: str
    length: int | None = None
    dim: int = 6
    sigma: float = 0.5
    slope: float | None = None
    copy_slope: float | None = None
    matrices: constructed.Matrices | None = None
    inputs: int = 1000
    seed: int = 0


class Row(NamedTuple):
    """The input x of a case that comes closest to its bound, or with the largest error where rounding is more.

    share: error / bound, 0 where rounding is more. holds: no error exceeds its bound by more than `rounding`, and
    theory and torch are no further `apart`.
    """

    inputs: str
    claim: str
    error: float
    bound: float
    share: float
    rounding: float
    apart: float
    holds: bool
    x: list[list[float]]
    slope: float


def verify(s: Setting) -> tuple[list[Row], list[str]]:
    """A row for each case of a theorem, whose head is built twice, and the hypotheses that the given matrices break.

    Theorems: def3.1, Definition 3.1; thm3.2 and thm3.3 with Appendices A and B; k-only and v-only, one causal layer
    without positions that shifts keys alone, or values alone.
    Raises ValueError for parameters that the theorem has not.
    """
    for name, theorems in TAKES.items():
        if getattr(s, name) is not None and s.theorem not in theorems:
            raise ValueError(f"{s.theorem} takes no {name}")
    copy_slope = 8.0 if s.copy_slope is None else s.copy_slope
    s = s._replace(length=8 if s.length is None else s.length, copy_slope=copy_slope)
    whole("dim", s.dim, LEAST_DIM.get(s.theorem, 1))
    whole("inputs x length x dim", s.inputs * s.length * s.dim, 1, LARGEST)
    real("sigma", s.sigma, POSITIVE)
    wanted = constructed.paper_matrices(s.dim, s.sigma if s.theorem == "thm3.2" else None)
    given = wanted if s.matrices is None else s.matrices
    if set(given) != set(wanted) or np.shape(given["w_o"])[:1] != (s.dim,):
        raise ValueError(f"matrices must be w_q, w_k, w_v, and w_o of {s.dim} rows, got {', '.join(given) or 'none'}")
    matrices = {name: np.array(reals(name, given[name])) for name in wanted}
    rows = [_row(s, matrices, *case) for case in CASES[s.theorem](s, np.random.default_rng(s.seed))]
    return rows, [] if s.theorem == "v-only" else constructed.broken_hypotheses(matrices, wanted)


def attention(x: Tensor, sigma, slope, support, alpha, beta, **matrices) -> Tensor:
    """`induction.kv_shift_head` in torch: projected, shifted (Eq. 4 and 5), ALiBi, mask, softmax."""
    weights = {name: torch.tensor(matrix) for name, matrix in matrices.items()}

    def mixed(name, coefficients):
        return shift_mix(F.linear(x, weights[name])[:, :, None], x.new_tensor([coefficients])).squeeze(2)

    query, distance = F.linear(x[:, -1:], weights["w_q"]), torch.arange(x.shape[1] - 1, -1, -1)
    scores = (mixed("w_k", alpha) @ query.mT).squeeze(2) / sigma - torch.tensor(slope)[:, None] * distance
    if support == "inner":
        scores[:, [0, -1]] = -torch.inf
    return F.linear((scores.softmax(-1)[:, None] @ mixed("w_v", beta)).squeeze(1), weights["w_o"])


def stream(x: Tensor, copy_slope: float) -> Tensor:
    """`copied_stream` in torch: an ordinary causal ALiBi layer, one place later."""
    place = torch.arange(x.shape[1], dtype=x.dtype)
    behind = place[:, None] - place
    mean = (-copy_slope * behind).masked_fill(behind < 0, -torch.inf).softmax(-1) @ x
    return torch.cat([x, F.pad(mean[:, :-1], (0, 0, 1, 0))], dim=-1)


def _row(s: Setting, matrices, inputs, claim, x: Array, slope: Array, wanted, bound, support="inner") -> Row:
    """Run a case: inputs x (n, length, dim), slopes (n,), and a bound on the distance of outputs from the wanted ones.

    Where `wanted` is bool, (n, dim), the error is the least lead of the entries that it marks over the others.
    """
    second = s.theorem == "thm3.2"
    sigma = 1.0 if second else s.sigma  # the second layer's key matrix holds 1/sigma
    alpha, beta = MIXING.get(s.theorem, (BEFORE, OWN))

    def run(head, layer, x):
        x = layer(x, s.copy_slope) if second else x
        return head(x, sigma, slope, support, alpha=alpha, beta=beta, **matrices)

    found = run(induction.kv_shift_head, copied_stream, x)
    apart = np.abs(found - run(attention, stream, torch.tensor(x)).numpy()).max(-1)
    errors = _least_lead(found, wanted) if wanted.dtype == bool else np.abs(found - wanted).max(-1)
    bounds, rooms = np.broadcast_to(bound, errors.shape), constructed.rounding(x, slope, sigma, matrices)
    if rooms.max() > 1e-3:
        raise ValueError(f"the scores are too large to tell anything: rounding can reach {rooms.max():.1g}")
    shares = np.divide(errors, bounds, out=errors.copy(), where=bounds > rooms)
    best = np.argmax(np.where(errors > bounds + rooms, np.inf, shares))  # one that exceeds its bound before all others
    error, bound, room, m = (float(each[best]) for each in (errors, bounds, rooms, slope))
    holds = bool(((errors <= bounds + rooms) & (apart <= rooms)).all())
    share = error / bound if bound > room else 0.0
    return Row(inputs, claim, error, bound, share, room, float(apart.max()), holds, x[best].tolist(), m)


def _least_lead(found: Array, right) -> Array:
    lead = found[right] - np.where(right, -np.inf, found).max(-1)
    return np.where(lead == lead.min(), lead, -np.inf)


def _slopes(s: Setting, rng, top: float, last: float = 0.0) -> Array:
    """One slope an input: the given one, or drawn between top/1000 and top, and the last one."""
    drawn = np.append(top * 10.0 ** rng.uniform(-3, 0, s.inputs), last)
    return drawn if s.slope is None else np.full_like(drawn, s.slope)


# Each yields cases, which `_row` takes.


def _two_layers(s: Setting, rng):
    """Random tokens, and low and high ones that come close."""
    for domain, words in (("unit", "[0, 1]^d"), ("symmetric", "[-1, 1]^d"), ("ball", "the unit ball")):
        bound = induction.copy_error_bound(s.dim, s.sigma, s.copy_slope, domain)
        close, last = constructed.closest_case(s.length, s.dim, s.sigma, s.copy_slope, domain, s.slope)
        x = rng.uniform(0.0 if domain == "unit" else -1.0, 1.0, (s.inputs + 1, *close.shape))
        x /= np.sqrt(s.dim) if domain == "ball" else 1.0
        x[-1], slope = close, _slopes(s, rng, 2 * s.dim / s.sigma, last)
        head = induction.induction_head(x, s.sigma, slope)
        yield f"tokens in {words}", "kv.thm3.2.sharp, kv.thm3.2.attained", x, slope, head, bound


def _one_layer(s: Setting, rng):
    """Random tokens, and u, -u, .., -u, u, where the causal head is off by epsilon times the range."""
    x = rng.normal(size=(s.inputs + 1, s.length, s.dim)) * 10.0 ** rng.uniform(-2, 0.5, (s.inputs + 1, 1, 1))
    x[-1] = -np.sqrt(s.sigma / s.dim)
    x[-1, [0, -1]] *= -1
    slope = _slopes(s, rng, 3.0)
    head = induction.induction_head(x, s.sigma, slope)
    gap = induction.discrepancy(x, s.sigma, slope).epsilon * np.ptp(x, axis=1).max(-1)
    yield "tokens, places 2..L-1", "kv.thm3.3.corrected", x, slope, head, 0.0
    yield "tokens, causal mask", "kv.thm3.3.discrepancy.range", x, slope, head, gap, "causal"


def _words(s: Setting, rng):
    """Orthonormal words, the last of which stands once before, at the place i; at last q, b, c, .., c, q."""
    words, match = rng.integers(1, s.dim, (s.inputs + 1, s.length)), rng.integers(1, s.length - 1, s.inputs + 1)
    words[-1], words[-1, 1], match[-1] = min(2, s.dim - 1), 1, 1
    each = np.arange(len(words))
    words[each, match - 1] = words[:, -1] = 0
    x = np.eye(s.dim)[words]
    after = x[each, match]
    if s.theorem == "k-only":
        bound = induction.key_shift_error(s.length, 0.0, 1.0 / s.sigma)
        yield "words", "kv.beyond.family.attention", x, np.zeros(len(x)), after, bound, "causal"
        return
    slope = _slopes(s, rng, 1 / (s.sigma * s.length))  # the bound says nothing once m L exceeds 1/sigma
    weight = induction.latest_successor_bound(s.length, match, match, s.sigma, slope)
    yield "words", "kv.sec3.1.any_context.corrected", x, slope, after, 1.0 - weight


def _values_only(s: Setting, _):
    """q b u c b q and q c b u b q, all names: no weights let the right word lead on each of them."""
    pairs = permutations((0, 3, 4), 2)
    words = np.array([word for q, u in pairs for word in ((q, 1, u, 2, 1, q), (q, 2, 1, u, 1, q))])
    one_hot = np.eye(s.dim)
    x, slope, wanted = one_hot[words], np.zeros(len(words)), one_hot[words[:, 1]] == 1
    yield "least lead of the right word", "kv.beyond.family.middle", x, slope, wanted, 0.0, "causal"


CASES = {"def3.1": _words, "thm3.2": _two_layers, "thm3.3": _one_layer, "k-only": _words, "v-only": _values_only}
