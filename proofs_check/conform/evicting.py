"""Caches that forget: equal to full attention masked by what they say they keep, and RazorAttention by its own rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import WIDTHS, Check, Given, checks, spelt_chunks
from proofs_check.conform.reference import Array, Yes

AXES = ("layer", "row", "head", "query", "channel")
KEPT = ("row", "group", "query", "key")
# Tokens of a prompt and after it, rows, groups, channels: past 32, 64 and 128 tokens, read at once and step by step.
SIZES = ((8, 8, 1, 2, 8), (20, 12, 2, 1, 16), (12, 30, 5, 2, 8), (33, 6, 1, 16, 8), (9, 60, 1, 3, 80),
         (65, 9, 3, 3, 64), (130, 6, 1, 2, 128), (9, 130, 2, 2, 8))  # fmt: skip
VERY = 8.0  # how much larger tokens are that are very different; a power of two needs no rounding


@dataclass
class Text:
    """Queries, keys and values that are fed in chunks; of one that forgets the answer is asked for once."""

    given: Given
    chunks: list[int]
    tokens: list[Array]

    def case(self, told, *what, **more: Any):
        q, k, _ = self.tokens
        sizes = dict(zip(("layers", "rows", "heads", "tokens", "channels")[-q.ndim :], q.shape, strict=True))
        sizes["groups"] = k.shape[-3]
        words = [f"{name} {n}" for name, n in sizes.items()] + [spelt_chunks(self.chunks)]
        return Case(", ".join(words) + told, *what, sizes=sizes, **more)

    @cached_property
    def answer(self) -> tuple[Array, Yes]:
        """The outputs, and what was kept. Raises NotImplementedError if nothing was dropped: then nothing was tried."""
        found, (*few, length, _) = self.given.call(*self.tokens, [*self.chunks]), self.tokens[1].shape
        shape, kept = (*few, length, length), found[1] if isinstance(found, tuple) and len(found) == 2 else None
        if not isinstance(kept, np.ndarray) or kept.dtype != bool or kept.shape != shape:
            raise TypeError(f"evicting_attention returns (output, kept), kept True or False for {shape}")
        if (kept | ~np.tri(length, dtype=bool)).all():
            raise NotImplementedError(f"nothing was dropped of {length} tokens: give the cache less room")
        return found

    @property
    def kept(self) -> Yes:
        return self.answer[1]

    def exchanged(self, told, where):
        """Other tokens, where it is said for (rows, 1, tokens, 1), change nothing of what the rest keeps."""
        size = self.given.one_of((1.0, VERY))
        tokens = [np.where(where, self.given.normal(*x.shape, size=size), x) for x in self.tokens]
        other = replace(self, tokens=tokens)
        return self.case(f", {told} exchanged", lambda: other.kept, lambda: self.kept, KEPT, ~where)


def _text(given, chunks, groups, share, width, *front: int):
    sizes = (share * groups, groups, groups)
    return Text(given, chunks, [given.normal(*front, heads, sum(chunks), width) for heads in sizes])


def _cut(given, tokens):
    """Chunks of so many tokens in all, two and more."""
    ends = given.draw.choice((1, 2, 3, 6, 32, 33, 64), tokens).cumsum()
    return np.diff(np.unique([0, given.between(1, tokens - 1), *ends.clip(max=tokens)])).tolist()


# What must hold of a text: cases that call the adapter with it, and with what differs from it.


def _output(text):
    q, k, v = text.tokens
    yield text.case("", lambda: text.answer[0],
                    lambda: reference.attention(q, k, v, np.repeat(text.kept, q.shape[1] // k.shape[1], axis=1)),
                    AXES[1:])  # fmt: skip


def _never(told, wrong):
    """wrong(kept, back): where it is not as it must be, of keys so many tokens back."""

    def cases(text):
        at = np.arange(sum(text.chunks))
        yield text.case(told, lambda: wrong(text.kept, at[:, None] - at), lambda: np.zeros(text.kept.shape), KEPT)

    return cases


def _hindsight(text):
    """A policy may treat a chunk as it likes: what is exchanged begins with one."""
    starts = np.cumsum(text.chunks)[:-1]
    for at in (starts[len(starts) // 2], text.given.one_of(starts)):
        yield text.exchanged(f"tokens from {at} on", np.arange(sum(text.chunks))[:, None] >= at)


def _batch(text):
    """Alone, another routine may round otherwise, and so choose otherwise: only how many are kept is compared."""
    rows = np.arange(len(text.tokens[0]))[:, None, None, None]
    one = [text.given.between(0, len(rows) - 1)]
    alone = replace(text, tokens=[x[one] for x in text.tokens])
    turned = replace(text, tokens=[x[::-1] for x in text.tokens])
    yield text.exchanged(f"all rows but {one[0]}", rows != one)
    yield text.case(", rows in the other order", lambda: turned.kept[::-1], lambda: text.kept, KEPT)
    yield text.case(f", how many row {one[0]} keeps alone", lambda: alone.kept.sum((1, 3)).astype(float),
                    lambda: text.kept[one].sum((1, 3)), KEPT[::2])  # fmt: skip


PROPERTIES = {
    "output": ("outputs are those of full attention, masked by what the cache says that it keeps", _output),
    "own_token": ("a query sees its own token", _never(", own ones dropped", lambda kept, back: ~kept & (back == 0))),
    "causal": ("nothing is kept before it comes", _never(", later ones kept", lambda kept, back: kept & (back < 0))),
    "gone_for_good": ("what was dropped does not return",
                      _never(", dropped ones kept", lambda kept, back: kept & (back > 0) & ~np.roll(kept, 1, axis=2))),
    "hindsight": ("what comes later changes nothing that was kept before", _hindsight),
    "batch": ("a row of a batch keeps the same among others, at any place and once more, and as much alone", _batch),
}  # fmt: skip


def _holds(*names: str, grouped=False, chunked=False):
    def cases(given):
        for prompt, later, rows, groups, width in SIZES:
            chunks = [prompt, *(_cut(given, later) if chunked else [1] * later)]
            text = _text(given, chunks, groups, given.between(2, 4) if grouped else 1, width, rows)
            for name in names:
                yield from PROPERTIES[name][1](text)

    return cases


def _razor(given, features, length, wide):
    """Some groups are whole, but for local heads; often a dropped key is very large."""
    layers = given.between(2, 5) if "every_layer" in features else 1
    rows = given.rows(length) if "batch" in features else 1
    groups, share = given.one_of((1, 2, 3, 8)), given.between(2, 3) if "grouped" in features else 1
    length = max(length, 1 + ("chunks" in features))
    chunks = _cut(given, length) if "chunks" in features else [length]
    text = _text(given, chunks, groups, share, given.one_of(WIDTHS[:-2]) if wide else 8, layers, rows)
    q, k, v = text.tokens
    sinks, window = given.between(0, 5), given.between(1, length + 3)
    keep = (given.draw.random((layers, groups)) < 0.5) & ("local" not in features)
    keep[:1, :1] |= "whole" in features
    if given.between(0, 1):  # the last query looks for the first key that is no sink
        k[..., min(sinks, length - 1), :] = VERY * q[:, :, ::share, -1]
    expected, compensated = partial(reference.razor, q, k, v, sinks, window), "compensation" in features
    more = {"compensation": True} if compensated else {}
    told = f", sinks {sinks}, window {window}, whole {[row.nonzero()[0].tolist() for row in keep]}"
    yield text.case(
        told + ", with compensation" * compensated, lambda: given.call(q, k, v, keep, sinks, window, chunks, **more),
        partial(expected, keep, compensated), AXES,
        mistakes=lambda: {"the numbers of full attention": expected(np.ones_like(keep), False),
                          "the numbers without compensation": expected(keep, False)},
    )  # fmt: skip


CHECKS = (
    *(Check(f"evicting_attention.{name}", says, _holds(name)) for name, (says, _) in PROPERTIES.items()),
    Check("evicting_attention.grouped", "all this holds with several heads to a group",
          _holds(*PROPERTIES, grouped=True)),
    Check("evicting_attention.chunks", "so it does where later tokens come in chunks",
          _holds(*PROPERTIES, chunked=True)),
    Check("evicting_attention.together", "so it does with both", _holds(*PROPERTIES, grouped=True, chunked=True)),
    *checks(
        "razor_attention", _razor,
        {"every_layer": None, "grouped": None, "batch": None, "chunks": None, "compensation": "compensation"},
        ("local_heads",
         "a local head sees sinks and its window; what is dropped weighs nothing, however large its logit", "local"),
        ("whole_heads", "a retrieval head sees all", "whole"),
        ("every_layer", "so it is in every layer, not in the first alone", "every_layer"),
        ("grouped", "a group is whole or not, and its heads with it", "grouped"),
        ("batch", "each row of a batch is as if alone", "batch"),
        ("chunks", "chunks and steps give what the whole gives", "chunks"),
        ("compensation", "N_d dropped tokens stand together as their mean, which counts N_d times", "compensation"),
    ),
)  # fmt: skip
