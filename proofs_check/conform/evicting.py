"""Caches that forget: equal to full attention masked by what they say they keep, and RazorAttention by its own rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, groupby
from typing import Any

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import WIDTHS, Cases, Check, Given
from proofs_check.conform.reference import Array, Yes

AXES = ("layer", "row", "head", "query", "channel")
KEPT = ("row", "group", "query", "key")
# Tokens of a prompt and after it, rows, groups, channels: past 32, 64 and 128 tokens, read at once and step by step.
SIZES = ((8, 8, 1, 2, 8), (20, 12, 2, 1, 16), (12, 30, 5, 2, 8), (33, 6, 1, 16, 8), (9, 60, 1, 3, 80),
         (65, 9, 3, 3, 64), (130, 6, 1, 2, 128), (9, 130, 2, 2, 8))  # fmt: skip
LENGTHS = (*range(1, 13), 17, 33, 34, 40, 66, 100, 129, 150)
VERY = 8.0  # how much larger tokens are that are very different; a power of two needs no rounding


@dataclass
class Text:
    """Queries, keys and values that are fed in chunks; of one that forgets the answer is asked for once."""

    given: Given
    chunks: list[int]
    tokens: list[Array]

    def case(self, told: str, *what: Any, **more: Any) -> Case:
        q, k, _ = self.tokens
        sizes = dict(zip(("layers", "rows", "heads", "tokens", "channels")[-q.ndim :], q.shape, strict=True))
        sizes["groups"] = k.shape[-3]
        words = [f"{name} {n}" for name, n in sizes.items()]
        runs = ((n, len([*same])) for n, same in groupby(self.chunks))
        chunks = [f"{n}{f' ({times} times)' * (times > 1)}" for n, times in runs]
        return Case(f"{', '.join(words)}, chunks of {', '.join(chunks)}{told}", *what, sizes=sizes, **more)

    @cached_property
    def answer(self) -> tuple[Array, Yes]:
        """The outputs, and what was kept. Raises NotImplementedError if nothing was dropped: then nothing was tried."""
        found, (rows, groups, length, _) = self.given.call(*self.tokens, list(self.chunks)), self.tokens[1].shape
        shape, kept = (rows, groups, length, length), found[1] if isinstance(found, tuple) and len(found) == 2 else None
        if not isinstance(kept, np.ndarray) or kept.dtype != bool or kept.shape != shape:
            raise TypeError(f"evicting_attention returns (output, kept), kept True or False for {shape}")
        if (kept | ~np.tri(length, dtype=bool)).all():
            raise NotImplementedError(f"nothing was dropped of {length} tokens: give the cache less room")
        return found

    @property
    def kept(self) -> Yes:
        return self.answer[1]

    def exchanged(self, told: str, where: Yes) -> Case:
        """Other tokens, where it is said for (rows, 1, tokens, 1), change nothing of what the rest keeps."""
        size = self.given.one_of((1.0, VERY))
        tokens = [np.where(where, self.given.normal(*x.shape, size=size), x) for x in self.tokens]
        other = Text(self.given, self.chunks, tokens)
        return self.case(f", {told} exchanged", lambda: other.kept, lambda: self.kept, KEPT, ~where)


def _text(given: Given, chunks: list[int], groups: int, share: int, width: int, *front: int) -> Text:
    sizes = (share * groups, groups, groups)
    return Text(given, chunks, [given.normal(*front, heads, sum(chunks), width) for heads in sizes])


def _cut(given: Given, tokens: int) -> list[int]:
    """Chunks of so many tokens in all, two and more where there are two tokens."""
    ends = given.draw.choice((1, 2, 3, 6, 32, 33, 64), tokens).cumsum()
    return np.diff(np.unique([0, given.between(1, max(1, tokens - 1)), *ends.clip(max=tokens)])).tolist()


# What must hold of a text: cases that call the adapter with it, and with what differs from it.

Property = Callable[[Text], Iterator[Case]]


def _output(text: Text) -> Iterator[Case]:
    q, k, v = text.tokens
    yield text.case("", lambda: text.answer[0],
                    lambda: reference.attention(q, k, v, np.repeat(text.kept, q.shape[1] // k.shape[1], axis=1)),
                    AXES[1:])  # fmt: skip


def _never(told: str, wrong: Callable[[Yes, Array], Yes]) -> Property:
    """wrong(kept, back): where it is not as it must be, of keys so many tokens back."""

    def cases(text: Text) -> Iterator[Case]:
        at = np.arange(sum(text.chunks))
        yield text.case(told, lambda: wrong(text.kept, at[:, None] - at), lambda: np.zeros(text.kept.shape), KEPT)

    return cases


def _hindsight(text: Text) -> Iterator[Case]:
    """A policy may treat a chunk as it likes: what is exchanged begins with one."""
    starts = np.cumsum(text.chunks)[:-1]
    for at in (starts[len(starts) // 2], text.given.one_of(starts)):
        yield text.exchanged(f"tokens from {at} on", np.arange(sum(text.chunks))[:, None] >= at)


def _batch(text: Text) -> Iterator[Case]:
    """Alone, another routine may round otherwise, and so choose otherwise: only how many are kept is compared."""
    rows = np.arange(len(text.tokens[0]))[:, None, None, None]
    one = [text.given.between(0, len(rows) - 1)]
    alone = Text(text.given, text.chunks, [x[one] for x in text.tokens])
    turned = Text(text.given, text.chunks, [x[::-1] for x in text.tokens])
    yield text.exchanged(f"all rows but {one[0]}", rows != one)
    yield text.case(", rows in the other order", lambda: turned.kept[::-1], lambda: text.kept, KEPT)
    yield text.case(f", how many row {one[0]} keeps alone", lambda: alone.kept.sum((1, 3)).astype(float),
                    lambda: text.kept[one].sum((1, 3)), KEPT[::2])  # fmt: skip


PROPERTIES: dict[str, tuple[str, Property]] = {
    "output": ("outputs are those of full attention, masked by what the cache says that it keeps", _output),
    "own_token": ("a query sees its own token", _never(", own ones dropped", lambda kept, back: ~kept & (back == 0))),
    "causal": ("nothing is kept before it comes", _never(", later ones kept", lambda kept, back: kept & (back < 0))),
    "gone_for_good": ("what was dropped does not return",
                      _never(", dropped ones kept", lambda kept, back: kept & (back > 0) & ~np.roll(kept, 1, axis=2))),
    "hindsight": ("what comes later changes nothing that was kept before", _hindsight),
    "batch": ("a row of a batch keeps the same among others, at any place and once more, and as much alone", _batch),
}  # fmt: skip


def _holds(*names: str, grouped: bool = False, chunked: bool = False) -> Cases:
    def cases(given: Given) -> Iterator[Case]:
        for prompt, later, rows, groups, width in SIZES:
            chunks = [prompt, *(_cut(given, later) if chunked else [1] * later)]
            text = _text(given, chunks, groups, given.between(2, 4) if grouped else 1, width, rows)
            for name in names:
                yield from PROPERTIES[name][1](text)

    return cases


FEATURES = {
    "local_heads": "a local head sees sinks and its window; what is dropped weighs nothing, however large its logit",
    "whole_heads": "a retrieval head sees all",
    "every_layer": "so it is in every layer, not in the first alone",
    "grouped": "a group is whole or not, and its heads with it",
    "batch": "each row of a batch is as if alone",
    "chunks": "chunks and steps give what the whole gives",
    "compensation": "N_d dropped tokens stand together as their mean, which counts N_d times",
}


def _razor(given: Given, length: int, asked: tuple[str, ...]) -> Case:
    """asked: names of FEATURES. Some groups are whole, but for local heads; often a dropped key is very large."""
    layers = given.between(2, 5) if "every_layer" in asked else 1
    rows = given.between(2, 4) if "batch" in asked else 1
    groups, share = given.one_of((1, 2, 3, 8)), given.between(2, 3) if "grouped" in asked else 1
    chunks = _cut(given, length) if "chunks" in asked else [length]
    text = _text(given, chunks, groups, share, given.one_of(WIDTHS[:-2]), layers, rows)
    q, k, v = text.tokens
    sinks, window = given.between(0, 5), given.between(1, length + 3)
    keep = (given.draw.random((layers, groups)) < 0.5) & ("local_heads" not in asked)
    keep[:1, :1] |= "whole_heads" in asked
    if given.between(0, 1):  # the last query looks for the first key that is no sink
        k[..., min(sinks, length - 1), :] = VERY * q[:, :, ::share, -1]
    expected, compensated = partial(reference.razor, q, k, v, sinks, window), "compensation" in asked
    told = f", sinks {sinks}, window {window}, whole {[row.nonzero()[0].tolist() for row in keep]}, {', '.join(asked)}"
    more = {"compensation": True} if compensated else {}
    return text.case(
        told, lambda: given.call(q, k, v, keep, sinks, window, chunks, **more), partial(expected, keep, compensated),
        AXES, mistakes=lambda: {"those of full attention": expected(np.ones_like(keep), False),
                                "those without compensation": expected(keep, False)},
    )  # fmt: skip


def _asked(*names: str) -> Cases:
    return lambda given: (_razor(given, length, names) for length in LENGTHS)


def _together(given: Given) -> Iterator[Case]:
    """Every combination of what the adapter takes, two at a time and then more, short and then long."""
    names = [name for name in list(FEATURES)[2:] if name != "compensation" or given.takes(name)]
    for least, most in ((6, 12), (33, 64), (65, 140)):
        for several in range(2, len(names) + 1):
            for asked in combinations(names, several):
                yield _razor(given, given.between(least, most), asked)


CHECKS = (
    *(Check(f"evicting_attention.{name}", says, _holds(name)) for name, (says, _) in PROPERTIES.items()),
    *(
        Check(f"evicting_attention.{name}", says, _holds(*PROPERTIES, grouped=grouped, chunked=chunked))
        for name, says, grouped, chunked in (
            ("grouped", "all this holds with several heads to a group", True, False),
            ("chunks", "so it does where later tokens come in chunks", False, True),
            ("together", "so it does with both", True, True),
        )
    ),
    *(
        Check(f"razor_attention.{name}", says, _asked(name), ("compensation",) * (name == "compensation"))
        for name, says in FEATURES.items()
    ),
    Check("razor_attention.together", "so it is where several of these are asked for at once, at any size", _together),
)
