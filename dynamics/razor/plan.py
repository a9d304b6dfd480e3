"""Which tokens a Razor cache keeps, and how many bytes that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

from theory.cache.size import BUFFER_SHARE, LEAST_BUFFER
from theory.checked import index

Compensation = Literal["none", "mean", "alibi", "centred"]
MEAN_ITEMSIZE = 8  # the running means are float64
ROOM = 64  # most steps that a layer is laid out for, with a row for each; a window of fewer tokens turns over before


@dataclass(frozen=True)
class RazorPlan:
    """Key-value heads that keep every token, and what the others keep: sinks, a recent window, a compensation token.

    With n tokens seen, the query's own included, a head that is not full sees the tokens j < sinks and j >= start(n),
    start(n) = n - max(buffer, ceil(share n)), and one token for the N_d dropped ones, sinks <= j < start(n).
    Source: RazorAttention, Section 3.2 and Table 2, whose buffer max(4000, N/5) is the default: of up to 4000 tokens it
    drops none (`drops`; `for_heads` takes the model's context into account). A fixed window is share = 0.
    Args:
        n_heads, n_kv_heads: of every layer; query head h reads key-value head h // (n_heads // n_kv_heads).
        full: the full key-value heads of each layer.
        sinks, buffer: tokens, >= 0 and >= 1; share: in [0, 1], an exact number.
        compensation: "none" drops; "mean" is Eq. 4, plain means with the log mass ln N_d (under ALiBi with the mean
            bias); "alibi" weighs each dropped token by e^{-slope distance}; "centred" by e^{q_0.k}, and by the former
            where there are slopes.
        prompt: the first `prompt` queries see all tokens; nothing is dropped before.
        centre_queries: q_0 is the mean of this many last queries of the prompt, scaled, unless the cache is given one.
    Raises: ValueError for an argument outside these.
    """

    n_heads: int
    n_kv_heads: int
    full: tuple[frozenset[int], ...]
    sinks: int = 4
    buffer: int = LEAST_BUFFER
    share: Fraction = BUFFER_SHARE
    compensation: Compensation = "mean"
    prompt: int = 0
    centre_queries: int = 16

    def __post_init__(self) -> None:
        for name, least in (
            ("n_heads", 1), ("n_kv_heads", 1), ("sinks", 0), ("buffer", 1), ("prompt", 0), ("centre_queries", 1)
        ):  # fmt: skip
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, got {number!r}")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"n_heads must be a multiple of n_kv_heads, got {self.n_heads} and {self.n_kv_heads}")
        if isinstance(self.share, bool) or not isinstance(self.share, int | Fraction) or not 0 <= self.share <= 1:
            raise ValueError(f"share must be a Fraction in [0, 1], got {self.share!r}")
        if self.compensation not in get_args(Compensation):
            known = ", ".join(get_args(Compensation))
            raise ValueError(f"compensation must be one of {known}, got {self.compensation!r}")
        if not self.full:
            raise ValueError("full must hold one set of key-value heads a layer, got none")
        outside = [head for heads in self.full for head in heads if head not in range(self.n_kv_heads)]
        if outside:
            raise ValueError(f"full must name key-value heads 0..{self.n_kv_heads - 1}, got {outside[0]}")

    @classmethod
    def for_heads(
        cls,
        retrieval: Iterable[tuple[int, int]],
        n_layers: int,
        n_heads: int,
        n_kv_heads: int,
        *,
        context: int | None = None,
        **settings,
    ) -> RazorPlan:
        """The plan that keeps every group whole in which at least one query head is a retrieval head.

        Args: retrieval, pairs (layer, query head); context, the tokens of the longest text, from which the buffer
            follows where none is given: a fifth of them, and at most Table 2's 4000. That is Table 2's own window,
            max(4000, N/5), for every N >= 20,000; at fewer tokens 4000 would save less than the table says, at 4000
            nothing. settings, the other fields.
        Raises: ValueError for a head that does not exist, and a context below 1.
        """
        if context is not None:
            fifth = math.ceil(BUFFER_SHARE * index("context", context, 1))
            settings = {"buffer": min(LEAST_BUFFER, fifth)} | settings
        chosen: list[set[int]] = [set() for _ in range(n_layers)]
        group = max(1, n_heads // max(1, n_kv_heads))
        for layer, head in retrieval:
            if layer not in range(n_layers) or head not in range(n_heads):
                raise ValueError(f"retrieval heads lie in layers 0..{n_layers - 1}, heads 0..{n_heads - 1}: "
                                 f"got ({layer}, {head})")  # fmt: skip
            chosen[int(layer)].add(int(head) // group)
        return cls(n_heads, n_kv_heads, tuple(frozenset(heads) for heads in chosen), **settings)

    def sliding(self, window: int) -> RazorPlan:
        """What a layer keeps whose own queries see `window` tokens at most: these, for every head, and no token."""
        none = tuple(frozenset[int]() for _ in self.full)
        kept = {"full": none, "sinks": 0, "buffer": window, "share": Fraction(0), "prompt": 0}
        return replace(self, compensation="none", **kept)

    @property
    def n_means(self) -> int:
        """Compensation tokens of a key-value head: one, or one for each of its query heads, whose weights differ."""
        return {"none": 0, "mean": 1}.get(self.compensation, self.group)

    @property
    def group(self) -> int:
        """Query heads of one key-value head."""
        return self.n_heads // self.n_kv_heads

    def check_centres(self, layers: Iterable[int]) -> None:
        """Raise ValueError if "centred" has no prompt to take q_0 from and `layers`, whose q_0 is given, miss one."""
        if unknown := sorted(set(layers) - set(range(len(self.full)))):
            raise ValueError(f"centres must be of layers 0..{len(self.full) - 1}, got {unknown[0]}")
        if self.compensation == "centred" and not self.prompt and len(set(layers)) < len(self.full):
            raise ValueError("compensation 'centred' needs a prompt of at least 1 token, or a centre for every layer")

    @cached_property
    def _ratio(self) -> tuple[int, int]:
        return self.share.numerator, self.share.denominator

    def start(self, n: int) -> int:
        """First token of the window with n tokens seen; never falling, so what is dropped is never needed again."""
        part, whole = self._ratio
        return max(0, n - max(self.buffer, -(-n * part // whole)))

    def seen_from(self, n: int) -> int:
        """First token of the window of the n-th query: 0 in the prompt, start(n) after it."""
        return 0 if n <= self.prompt else self.start(n)

    def kept_from(self, n: int) -> int:
        """First token of the window that is still stored once n tokens are in: the prompt is dropped at its end."""
        return 0 if n < self.prompt else self.start(n)

    @cached_property
    def closing(self) -> range:
        """The last tokens of the prompt, from whose queries q_0 is taken; what it drops is dropped after the last."""
        count = self.centre_queries if self.compensation == "centred" else 1
        return range(max(0, self.prompt - count), self.prompt)

    def n_kept(self, n: int) -> int:
        """Tokens that a head which is not full stores after n, the compensation token aside."""
        return n - max(0, self.kept_from(n) - self.sinks)

    def drops(self, n: int) -> bool:
        """Whether any head has forgotten a token after n; if not, the cache saves nothing at this length."""
        return self.n_kept(n) < n and any(len(heads) < self.n_kv_heads for heads in self.full)


def razor_bytes(
    plan: RazorPlan,
    n_tokens: int,
    head_dim: int,
    itemsize: int,
    *,
    value_dim: int | None = None,
    batch: int = 1,
    windows: Sequence[int | None] = (),
) -> int:
    """Bytes that a `RazorCache` stores after n_tokens >= 1, its `nbytes`.

    batch sum over layers of [f n + l n_kept] (d_k + d_v) itemsize + l m (d_k + d_v + 1) 8, with f full and l other
    key-value heads; m tokens a head: 0 without compensation, 1 for "mean", else one for each of its g query heads,
    whose slopes and centres differ. "centred" adds the centres, l g d_k 8. A layer with a sliding window (windows, by
    layer) keeps min(n, window) tokens of every head, and none of the rest.
    """
    value_dim = head_dim if value_dim is None else value_dim
    width, total = head_dim + value_dim, 0
    for layer in range(len(plan.full)):
        own = _of_layer(plan, layer, windows)
        full = len(own.full[layer])
        local = own.n_kv_heads - full
        total += (full * n_tokens + local * own.n_kept(n_tokens)) * width * itemsize
        total += local * own.n_means * (width + 1) * MEAN_ITEMSIZE
        total += local * own.group * head_dim * MEAN_ITEMSIZE * (own.compensation == "centred")
    return batch * total


def spare_bytes(
    plan: RazorPlan,
    n_tokens: int,
    head_dim: int,
    itemsize: int,
    *,
    value_dim: int | None = None,
    batch: int = 1,
    windows: Sequence[int | None] = (),
) -> int:
    """Most bytes that a `RazorCache` allocates beyond `razor_bytes`, while tokens come one by one.

    By layer: ROOM + 1 rows for each key-value head, m + ROOM + 1 for one that is not full, since what leaves keeps its
    row until the layer is laid out again; 2 + ROOM whole numbers for each. What layers of one window have in common:
    two tables of ROOM numbers of the type of logits for each row, a number for each row of all their heads, and little
    else; once, or once a sequence if there are pads. That is of layers that were given the same chunks: those that were
    not have less in common.
    """
    width, total = head_dim + (head_dim if value_dim is None else value_dim), 0
    kind = max(4, itemsize)
    for layer in range(len(plan.full)):
        own = _of_layer(plan, layer, windows)
        local = own.n_kv_heads - len(own.full[layer])
        total += batch * (own.n_kv_heads * (ROOM + 1) + local * own.n_means) * width * itemsize
        total += batch * own.n_kv_heads * (ROOM + 2) * 8
    for own in {_of_layer(plan, layer, windows) for layer in range(len(plan.full))}:
        full = sum(len(heads) for heads in own.full)
        local, heads = len(own.full) * own.n_kv_heads - full, len(own.full) * own.n_heads
        rows, full_rows = own.n_kept(n_tokens) + own.n_means + ROOM + 1, n_tokens + ROOM
        total += batch * kind * (2 * ROOM * rows + 2 * (full_rows + ROOM) + heads)
        total += batch * kind * own.group * (local * rows + full * full_rows)
        total += batch * 8 * (3 * ROOM + len(own.full) * own.n_kv_heads)
    return total


def _of_layer(plan: RazorPlan, layer: int, windows: Sequence[int | None]) -> RazorPlan:
    window = windows[layer] if windows else None
    return plan if window is None else plan.sliding(window)
