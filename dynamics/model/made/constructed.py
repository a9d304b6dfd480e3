"""The heads of KV shifting's Section 3.1 by two programs, `theory` and torch, held to their bounds on many inputs.

A `Row` is one kind of input: the largest error beside its bound, and the input that comes closest to it. Random inputs
are drawn here; patterns that come close are those of the claim named in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.positions import Layout, alibi_bias
from dynamics.model.shift import shift_mix
from theory import induction
from theory.checked import NONNEGATIVE, POSITIVE, choice, real, reals, whole
from theory.induction.constructed import Matrices, broken_hypotheses, closest_case, paper_matrices, rounding
from theory.induction.family import MIDDLE
from theory.induction.network import copied_stream

Array = NDArray[np.float64]
KEYS, OWN, BEFORE = (0.0, 1.0), (1.0, 0.0), (0.0, 1.0)
LARGEST = 2**23  # numbers in the tokens of all random inputs
# what a theorem takes beside length, dim and sigma, its least dim, and its length if there is one
THEOREMS = {
    "def3.1": (("slope",), 2, None),
    "thm3.2": (("slope", "copy_slope", "matrices"), 1, None),
    "thm3.3": (("slope", "matrices"), 1, None),
    "k-only": (("matrices",), 3, None),
    "v-only": (("matrices",), 5, 6),
}
NAMES = ("w_q", "w_k", "w_v", "w_o")


class Setting(NamedTuple):
    """A theorem and its parameters; slope None is every slope, matrices None are the paper's, copy_slope None is 8."""

    theorem: str
    length: int | None = None
    dim: int | None = None
    sigma: float = 0.5
    slope: float | None = None
    copy_slope: float | None = None
    matrices: Matrices | None = None
    inputs: int = 1000
    seed: int = 0


class Row(NamedTuple):
    """One kind of input. `error` and `bound` are those of the input that comes closest, which is in `at`.

    The bound holds if no error exceeds its own by more than `rounding`; `apart` is how far theory and torch differ.
    """

    inputs: str
    measure: str
    claim: str
    count: int
    error: float
    bound: float
    rounding: float
    apart: float
    holds: bool
    at: dict[str, Array]


class Verified(NamedTuple):
    """What was run, its rows, and the hypotheses that the given matrices break."""

    setting: Setting
    rows: tuple[Row, ...]
    broken: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.broken and all(row.holds for row in self.rows)


def verify(setting: Setting) -> Verified:
    """Build the head of a theorem twice, and run both. Raises ValueError for parameters that the theorem has not.

    Sources: Definition 3.1; Theorems 3.2 and 3.3 with Appendices A and B; heads that shift keys alone or values alone.
    """
    s = _checked(setting)
    layer = "second" if s.theorem == "thm3.2" else "one"
    broken = () if s.matrices is None else broken_hypotheses(layer, s.matrices, s.dim, s.sigma)
    if s.theorem == "v-only":
        broken = ()  # its claim is about all matrices
    return Verified(s, tuple(ROWS[s.theorem](s, np.random.default_rng(s.seed))), broken)


def _checked(s: Setting) -> Setting:
    takes, least, only = THEOREMS[choice("theorem", s.theorem, tuple(THEOREMS))]
    for name in ("slope", "copy_slope", "matrices"):
        if getattr(s, name) is not None and name not in takes:
            raise ValueError(f"{s.theorem} takes no {name}")
    length = whole("length", (only or 8) if s.length is None else s.length, only or 3, only)
    dim = whole("dim", max(4, least) if s.dim is None else s.dim, least)
    if whole("inputs", s.inputs, 1) * length * dim > LARGEST:
        raise ValueError(f"inputs x length x dim must be at most {LARGEST}, got {s.inputs} x {length} x {dim}")
    real("sigma", s.sigma, POSITIVE)
    real("slope", s.slope or 0.0, NONNEGATIVE)
    copy_slope = real("copy_slope", 8.0 if s.copy_slope is None else s.copy_slope, NONNEGATIVE)
    given = s.matrices
    if given is not None:
        if set(given) != set(NAMES):
            raise ValueError(f"matrices must be {', '.join(NAMES)}, got {', '.join(sorted(given)) or 'none'}")
        given = {name: np.ascontiguousarray(reals(name, given[name])) for name in NAMES}
    return s._replace(length=length, dim=dim, copy_slope=copy_slope, matrices=given)


def attention(
    x: Tensor, sigma: float, slope: Tensor, inner: bool, alpha, beta, matrices: Matrices
) -> tuple[Tensor, Tensor]:
    """The head at the last place in torch: weights (batch, length) and outputs (batch, d_out).

    Keys and values are projected, then shifted (Eq. 4 and 5); ALiBi, a mask and a softmax follow. Nothing is shared
    with `theory`. Args: x (batch, length, width), slope (batch,), inner: whether it attends to {2..L-1} alone.
    """
    query, key, value = (F.linear(x, torch.tensor(matrices[name])) for name in ("w_q", "w_k", "w_v"))
    key, value = (
        shift_mix(rows[:, :, None], torch.tensor([mix], dtype=x.dtype))[:, :, 0]
        for rows, mix in ((key, alpha), (value, beta))
    )
    distance = torch.arange(x.shape[1] - 1, -1, -1, dtype=x.dtype)
    scores = (key @ query[:, -1, :, None])[..., 0] / sigma - slope[:, None] * distance
    if inner:
        scores[:, [0, -1]] = -torch.inf
    weights = scores.softmax(-1)
    return weights, F.linear((weights[:, None] @ value)[:, 0], torch.tensor(matrices["w_o"]))


def stream(x: Tensor, copy_slope: float) -> Tensor:
    """What layer 1 of Theorem 3.2 leaves, (batch, length, 2 dim): an ordinary causal ALiBi layer, one place later."""
    bias = alibi_bias(torch.tensor([copy_slope], dtype=x.dtype), Layout(0, x.shape[1], x.device))[0, 0]
    mean = bias.masked_fill(torch.ones_like(bias).triu(1).bool(), -torch.inf).softmax(-1) @ x
    return torch.cat([x, F.pad(mean[:, :-1], (0, 0, 1, 0))], dim=-1)


def _row(s: Setting, told: tuple[str, str, str], x: Array, slope, found, torch_found, error, bound, matrices) -> Row:
    """The row of inputs x (n, length, dim) whose outputs by theory and torch are `found` and `torch_found`."""
    bound = np.broadcast_to(np.asarray(bound, dtype=float), error.shape)
    room = rounding(x, slope, s.sigma, matrices)
    best = int(np.argmax(np.divide(error, bound, out=error.copy(), where=bound > 0)))
    apart = float(np.abs(found - torch_found.numpy()).max())
    good = bool((error <= bound + room).all()) and apart <= room
    at = {"x": x[best], "slope": np.broadcast_to(slope, error.shape)[best]}
    return Row(*told, len(x), float(error[best]), float(bound[best]), room, apart, good, at)


def _both(s: Setting, x: Array, slope: Array, support: str, alpha, beta, matrices: Matrices, given: Matrices | None):
    """Outputs by theory and by torch, and the weights of torch; theory takes W = I where no matrices are given."""
    own = given or {}
    found = induction.kv_shift_head(x, s.sigma, slope, support, alpha=alpha, beta=beta, **own)
    run = attention(torch.tensor(x), s.sigma, torch.tensor(slope), support == "inner", alpha, beta, matrices)
    return found, run[1], run[0].numpy()


def _slopes(s: Setting, rng: np.random.Generator, top: float) -> Array:
    """One slope an input: the given one, or drawn between top/1000 and top."""
    drawn = top * 10.0 ** rng.uniform(-3, 0, s.inputs)
    return drawn if s.slope is None else np.full(s.inputs, s.slope)


def _tokens(s: Setting, rng: np.random.Generator, domain: str) -> Array:
    """Random inputs of a domain, (inputs, length, dim); "any" has sizes from .01 to 100."""
    shape = (s.inputs, s.length, s.dim)
    if domain in ("unit", "symmetric"):
        return rng.uniform(0.0 if domain == "unit" else -1.0, 1.0, shape)
    rows = rng.normal(size=shape)
    if domain == "any":
        return rows * 10.0 ** rng.uniform(-2, 2, (s.inputs, 1, 1))
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True) * rng.uniform(0, 1, (s.inputs, s.length, 1))


def _theorem_32(s: Setting, rng: np.random.Generator) -> Iterator[Row]:
    for domain, words in (("unit", "[0, 1]^d"), ("symmetric", "[-1, 1]^d"), ("ball", "the unit ball")):
        case = closest_case(s.length, s.dim, s.sigma, s.copy_slope, domain, s.slope)
        bound = induction.copy_error_bound(s.dim, s.sigma, s.copy_slope, domain)
        draws = (
            (f"random in {words}", "kv.thm3.2.sharp", _tokens(s, rng, domain), _slopes(s, rng, 2 * s.dim / s.sigma)),
            (f"low and high in {words}", "kv.thm3.2.attained", case.x[None], np.array([case.slope])),
        )
        for inputs, claim, x, slope in draws:
            yield _two_layers(s, (inputs, "error", claim), x, slope, bound)


def _two_layers(s: Setting, told: tuple[str, str, str], x: Array, slope: Array, bound: Array) -> Row:
    matrices = paper_matrices("second", s.dim, s.sigma) if s.matrices is None else s.matrices
    head = s._replace(sigma=1.0)  # the key matrix holds 1/sigma
    if s.matrices is None:
        found = induction.two_layer_alibi(x, s.sigma, slope, s.copy_slope)
    else:
        layer = {"alpha": OWN, "beta": OWN, **matrices}
        found = induction.kv_shift_head(copied_stream(x, s.copy_slope), 1.0, slope, "inner", **layer)
    run = attention(stream(torch.tensor(x), s.copy_slope), 1.0, torch.tensor(slope), True, OWN, OWN, matrices)[1]
    error = np.abs(induction.induction_head(x, s.sigma, slope) - found).max(-1)
    return _row(head, told, x, slope, found, run, error, bound, matrices)


def _theorem_33(s: Setting, rng: np.random.Generator) -> Iterator[Row]:
    matrices = paper_matrices("one", s.dim) if s.matrices is None else s.matrices
    worst = np.repeat([-1.0, 1.0], [s.length - 2, 2])[:, None] * np.eye(s.dim)[0]
    one = np.array([s.slope or 0.0])
    for words, x, slope in (
        ("random tokens", _tokens(s, rng, "any"), _slopes(s, rng, 10.0)),
        ("-u, .., -u, u, u", worst[None], one),
    ):
        found, run, _ = _both(s, x, slope, "inner", KEYS, OWN, matrices, s.matrices)
        error = np.abs(found - induction.induction_head(x, s.sigma, slope)).max(-1)
        told = (f"{words}, places 2..L-1", "difference from IH", "kv.thm3.3.corrected")
        yield _row(s, told, x, slope, found, run, error, 0.0, matrices)
    for words, x, slope in (
        ("random in the unit ball", _tokens(s, rng, "ball"), _slopes(s, rng, 1 / (s.sigma * s.length))),
        ("-u, .., -u, u, u", worst[None], one),
    ):
        found, run, weights = _both(s, x, slope, "causal", KEYS, OWN, matrices, s.matrices)
        told = (f"{words}, causal mask", "weight of the tokens 1 and L", "kv.thm3.3.discrepancy.ball")
        bound = induction.ball_discrepancy_bound(s.length, s.sigma, slope)
        yield _row(s, told, x, slope, found, run, weights[:, 0] + weights[:, -1], bound, matrices)


def _definition(s: Setting, rng: np.random.Generator) -> Iterator[Row]:
    words = rng.integers(0, s.dim, (s.inputs, s.length))
    words[:, -1] = np.take_along_axis(words, rng.integers(0, s.length - 2, (s.inputs, 1)), axis=1)[:, 0]
    words[:, -2] = (words[:, -1] + rng.integers(1, s.dim, s.inputs)) % s.dim
    close = np.zeros((1, s.length), dtype=int)
    close[:, -2] = 1
    slopes = _slopes(s, rng, 1 / (s.sigma * s.length))  # the bound says nothing once m L exceeds 1/sigma
    draws = (("random words", words, slopes), ("q, .., q, b, q", close, np.array([s.slope or 0.0])))
    matrices = paper_matrices("one", s.dim)
    for inputs, tokens, slope in draws:
        x = np.eye(s.dim)[tokens]
        found = induction.induction_head(x, s.sigma, slope)
        _, run = attention(torch.tensor(x), s.sigma, torch.tensor(slope), True, KEYS, OWN, matrices)
        match, gap = _latest(tokens)
        error = np.abs(found - np.take_along_axis(x, match[:, None, None], axis=1)[:, 0]).max(-1)
        bound = 1.0 - induction.latest_successor_bound(s.length, match, gap, s.sigma, slope)
        told = (inputs, "distance of IH from the successor", "kv.sec3.1.any_context.corrected")
        yield _row(s, told, x, slope, found, run, error, bound, matrices)


def _latest(words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The latest place i <= L - 2 of the last word, from 1, and its distance to the place before; i if none is."""
    places = np.where(words[:, :-2] == words[:, -1:], np.arange(1, words.shape[1] - 1), 0)
    match = places.max(1)
    return match, match - np.where(places < match[:, None], places, 0).max(1)


def _keys_only(s: Setting, rng: np.random.Generator) -> Iterator[Row]:
    words = rng.integers(1, s.dim, (s.inputs, s.length))
    place = rng.integers(0, s.length - 2, s.inputs)
    words[np.arange(s.inputs), place] = words[:, -1] = 0
    close = np.array([[0, 1, *[2] * (s.length - 3), 0]])
    matrices = paper_matrices("one", s.dim) if s.matrices is None else s.matrices
    bound = induction.key_shift_error(s.length, 0.0, 1.0 / s.sigma)
    for inputs, tokens, match in (("random sentences", words, place), ("q, b, c, .., c, q", close, np.array([0]))):
        x, slope = np.eye(s.dim)[tokens], np.zeros(len(tokens))
        found, run, _ = _both(s, x, slope, "causal", KEYS, OWN, matrices, s.matrices)
        error = np.abs(found - np.take_along_axis(x, match[:, None, None] + 1, axis=1)[:, 0]).max(-1)
        told = (inputs, "distance from the successor", "kv.beyond.family.attention")
        yield _row(s, told, x, slope, found, run, error, bound, matrices)


def _values_only(s: Setting, rng: np.random.Generator) -> Iterator[Row]:
    """The least lead of the right token over the sentences of `MIDDLE` with all names: no weights bring it above 0."""
    words = np.concatenate([np.array([q, 1, 2, u, v])[np.array(MIDDLE)] for q, u, v in permutations((0, 3, 4))])
    own = [(paper_matrices("one", s.dim) if s.matrices is None else s.matrices, BEFORE)]
    drawn = [(_drawn(s.dim, rng), tuple(rng.normal(size=2))) for _ in range(s.inputs)]
    given = "the identity" if s.matrices is None else "the given matrices"
    for told, tries in ((f"{given}, values of the token before", own), ("random matrices and values", drawn)):
        found = [_least_lead(s, words, *each) for each in tries]
        lead, room, apart = np.array(found).T
        best, good = int(lead.argmax()), bool((lead <= room).all() and (apart <= room).all())
        at = {**tries[best][0], "beta": np.array(tries[best][1])}
        numbers = (float(lead[best]), 0.0, float(room[best]), float(apart.max()))
        yield Row(told, "least lead of the right token", "kv.beyond.family.middle", len(tries), *numbers, good, at)


def _drawn(dim: int, rng: np.random.Generator) -> dict[str, Array]:
    return {name: rng.normal(size=(dim, dim)) for name in NAMES}


def _least_lead(s: Setting, words: NDArray[np.int64], matrices: Matrices, beta) -> tuple[float, float, float]:
    x, slope, target = np.eye(s.dim)[words], np.zeros(len(words)), words[:, 1:2]
    found, run, _ = _both(s, x, slope, "causal", OWN, beta, matrices, matrices)
    others = np.where(np.arange(s.dim) == target, -np.inf, found)
    lead = np.take_along_axis(found, target, axis=1)[:, 0] - others.max(1)
    room = rounding(x, 0.0, s.sigma, matrices) * (1 + np.abs(beta).sum())
    return float(lead.min()), room, float(np.abs(found - run.numpy()).max())


ROWS: dict[str, Callable[[Setting, np.random.Generator], Iterator[Row]]] = {
    "def3.1": _definition,
    "thm3.2": _theorem_32,
    "thm3.3": _theorem_33,
    "k-only": _keys_only,
    "v-only": _values_only,
}
