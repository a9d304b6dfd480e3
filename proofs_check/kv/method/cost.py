"""Section 2.2 and footnote 1 of the KV-shifting paper: added parameters, and operations counted one by one."""

from collections.abc import Callable

import numpy as np

from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.tables.models import models, of
from proofs_check.ledger.claim import INSTANCES, Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.records import Rule, rule

SECTION = "KV shifting (both versions), Section 2.2"


class _Number:
    """A number that counts: each addition, product, quotient or exponential adds one to `spent`."""

    spent = 0

    def combine(self, *_: "_Number") -> "_Number":
        _Number.spent += 1
        return self

    __add__ = __mul__ = __truediv__ = combine
    exp = combine


def _numbers(*shape: int) -> np.ndarray:
    return np.full(shape, _Number())


def _equation5(length: int, width: int, window: int = 2, tensors: int = 2) -> None:
    """`window` products and window - 1 sums an entry of each tensor (the padded zeros are multiplied too)."""
    (_numbers(window, tensors, length, width) * _Number()).sum(axis=0)


def _equation6(length: int, width: int, read_out: bool = True) -> None:
    raised = np.exp(_numbers(length, width) @ _numbers(width, length) / _Number())
    output = raised / raised.sum(axis=1, keepdims=True) @ _numbers(length, width)
    if read_out:
        output @ _numbers(width, width)


def _count(run: Callable[..., None], *arguments: int, **options: int) -> int:
    before = _Number.spent
    run(*arguments, **options)
    return _Number.spent - before


def _shift_cost(length: int, width: int, per_entry: int = 6, **options: int) -> Margin:
    """Operations of Eq. 5, 6 for each entry: two products and a sum for K and as many for V."""
    return same(_count(_equation5, length, width, **options), per_entry * length * width)


def _grouped_cost(length: int, pairs: int, dim: int, group: int = 1) -> Margin:
    """Keys and values have `pairs` heads of size `dim`; with group > 1 every query head would be shifted on its own."""
    return same(_count(_equation5, length, pairs * dim * group), 6 * length * pairs * dim)


def _attention_cost(length: int, width: int, read_out: bool = True) -> Margin:
    """Eq. 6 in full: 2 N D^2 + 4 N^2 D, and 3 N^2 - N - 2 N D for scale, softmax and sums of one less."""
    n, d = length, width
    total = 2 * n * d * d + 4 * n * n * d + 3 * n * n - n - 2 * n * d
    return same(_count(_equation6, n, d, read_out=read_out), total)


POLYNOMIAL = everywhere(
    "The loops make the count a polynomial of degree at most 2 in each size, which the sizes computed determine."
)
SIZES = [{"length": n, "width": d} for n in range(1, 6) for d in range(1, 6)]
GROUPS = [{"length": n, "pairs": h, "dim": d} for n in (1, 2, 3) for h in (1, 2, 3) for d in (1, 2, 3)]

# Operations of Eq. 5, and the leading ones of Eq. 6, at the longest context.
SHIFT = 6 * of("max_length") * of("kv_heads") * of("hidden") / of("heads")
ATTENTION = 2 * of("max_length") * of("hidden") ** 2 + 4 * of("max_length") ** 2 * of("hidden")
HEADS = (1, 4, 16, 32, 40)

CLAIMS: tuple[Claim | Rule, ...] = (
    mathematical(
        "kv.sec2.2.parameters",
        f"{SECTION}, after Eq. 6",
        "4 learnable parameters are added, per head: 4 h.",
        exact(
            "entries of the two coefficient arrays of the listing; 1 head, and the heads of the five models",
            lambda kv_heads, columns=2, tensors=2: same(tensors * kv_heads * columns, 4 * kv_heads),
            [{"kv_heads": heads} for heads in HEADS],
            Control("the gated variant, one logit a tensor", points=[{"kv_heads": n, "columns": 1} for n in HEADS]),
            Control("Q shifted as well", points=[{"kv_heads": n, "tensors": 3} for n in HEADS]),
        ),
        formula="4h",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.sec2.2.cost_shift",
        f"{SECTION}, after Eq. 6",
        "Eq. 5 costs O(N D) operations: 6 N D exactly.",
        exact(
            "operations counted one by one, N and D = 1..5",
            _shift_cost,
            SIZES,
            Control("three tokens mixed", lambda length, width: _shift_cost(length, width, window=3)),
            Control("Q shifted as well", lambda length, width: _shift_cost(length, width, tensors=3)),
        ),
        formula=r"6ND",
        coverage=POLYNOMIAL,
    ),
    mathematical(
        "kv.fn1.cost",
        f"{SECTION}, footnote 1",
        "Under grouped queries Eq. 5 costs O(N h_1 d_1), h_1 pairs of dimension d_1: 6 N h_1 d_1 exactly.",
        exact(
            "operations counted one by one, N, h_1, d_1 = 1..3",
            _grouped_cost,
            GROUPS,
            Control(
                "the number of query heads for h_1", lambda length, pairs, dim: _grouped_cost(length, pairs, dim, 2)
            ),
        ),
        formula=r"6Nh_1d_1",
        coverage=POLYNOMIAL,
    ),
    mathematical(
        "kv.sec2.2.cost_attention",
        f"{SECTION}, after Eq. 6",
        "Eq. 6 costs O(N D^2 + N^2 D) operations, the N D^2 being its W_o: 2 N D^2 + 4 N^2 D and lower orders exactly.",
        exact(
            "operations counted one by one, N and D = 1..5, no use made of the mask",
            _attention_cost,
            SIZES,
            Control("without W_o", lambda length, width: _attention_cost(length, width, False)),
        ),
        formula=r"2ND^2+4N^2D",
        coverage=POLYNOMIAL,
    ),
    rule("kv.sec2.2.cost_share", "Section 2.2, Table 1 (both versions)", models(1000 * SHIFT < ATTENTION),
         why="Much smaller is meant of models in use, here of the five trained ones."),
    mathematical(
        "kv.sec4.5.window_cost",
        "KV shifting (both versions), Section 4.5 (first version: 4.7), on longer shifts",
        "A longer shift window costs more: 2 (2 w - 1) N D operations for w tokens, 6, 10 and 14 N D for w = 2, 3, 4.",
        exact(
            "operations counted one by one, N and D = 1..5, w = 2, 3, 4",
            _shift_cost,
            [{**size, "window": w, "per_entry": 4 * w - 2} for size in SIZES for w in (2, 3, 4)],
            Control("a sum for every product", points=[{**size, "window": 3, "per_entry": 12} for size in SIZES]),
            Control("the window of Eq. 5 throughout", points=[{**size, "per_entry": 10} for size in SIZES]),
        ),
        formula=r"2(2w-1)ND",
        coverage=POLYNOMIAL,
    ),
)
