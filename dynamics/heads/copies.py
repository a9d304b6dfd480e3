"""Prompts with a segment that comes twice, and for each its twin, in which the segment comes once.

A prompt is `filler | segment | gap | segment again`, after the tokenizer's first token if it has one. The lengths of
filler, segment and gap are drawn for each prompt, so that a head that looks a fixed number of tokens back meets the
right key in few of them. The twin has other tokens in place of the first segment, none of them at its own place.

Tokens are drawn without replacement where the vocabulary is large enough for filler, segment and gap, else with. A row
is kept if its last m tokens, all in the second copy, occur exactly once before; m is the least number that keeps half
of the rows. The first and the last token of a segment are never looked for.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.heads.batched import Integers
from dynamics.heads.scores import allowed_tokens

SHORTEST = 12


class Prompts(NamedTuple):
    """tokens, twins (prompts, length). Of each row that is kept: its prompt, its place, and `back`, the distance from
    its token to the earlier copy of it. order: m. distinct: whether tokens were drawn without replacement.
    """

    tokens: Integers
    twins: Integers
    prompt: Integers
    row: Integers
    back: Integers
    order: int
    distinct: bool


def draw(
    vocab: int,
    length: int,
    prompts: int,
    seed: Collection[int],
    first: int | None = None,
    excluded: Collection[int] = (),
) -> Prompts:
    """`prompts` prompts of `length` tokens each, as above.

    Args: seed, whole numbers for numpy's generator; first, the tokenizer's first token; excluded, ids never drawn.
    Raises: ValueError for a length below 12, excluded ids outside the vocabulary, and too few ids to draw from.
    """
    if length < SHORTEST:
        raise ValueError(f"a prompt must have at least {SHORTEST} tokens, got {length}")
    ids = allowed_tokens(vocab, {*excluded} if first is None else {*excluded, first})
    if len(ids) < 4:
        raise ValueError(f"at least 4 ids must be left to draw from, got {len(ids)}")
    rng, lead = np.random.default_rng(tuple(seed)), [] if first is None else [first]
    drawn = [_prompt(rng, ids, length - len(lead)) for _ in range(prompts)]
    tokens, twins = (np.array([[*lead, *one[index]] for one in drawn]) for index in (0, 1))
    for order in range(1, length // 4):
        kept, rows = [], 0
        for index, (_, _, segment, back) in enumerate(drawn):
            places = np.arange(length - segment + 1, length - 2)
            rows += len(places)
            once = _once(tokens[index], order)
            kept += [(index, place, back) for place in places[max(0, order - 2) :] if once[place]]
        if 2 * len(kept) >= rows:
            return Prompts(tokens, twins, *np.array(kept).T, order, _suffice(ids, length - len(lead)))
    raise ValueError(f"{len(ids)} ids are too few: hardly any run of tokens occurs exactly once before its copy")


def _suffice(ids: Integers, length: int) -> bool:
    """Whether the ids suffice for all prompts of `length` tokens without replacement."""
    return length - max(4, length // 4) <= len(ids)


def _prompt(rng: np.random.Generator, ids: Integers, length: int) -> tuple[Integers, Integers, int, int]:
    """A prompt, its twin, the length of its segment, and the distance between the copies."""
    segment = int(rng.integers(max(4, length // 4), max(4, 3 * length // 8) + 1))
    gap = int(rng.integers(1, length - 2 * segment - 1))
    start, alone = length - 2 * segment - gap, _suffice(ids, length)
    index = rng.choice(len(ids), length - segment, replace=not alone)
    once = index[start : start + segment]
    if alone:
        others = np.setdiff1d(np.arange(len(ids)), once)
        fresh = rng.choice(others, segment, replace=len(others) < segment)
    else:
        fresh = (once + rng.integers(1, len(ids), segment)) % len(ids)
    tokens = np.concatenate([index, once])
    twin = np.concatenate([tokens[:start], fresh, tokens[start + segment :]])
    return ids[tokens], ids[twin], segment, segment + gap


def _once(tokens: Integers, order: int) -> NDArray[np.bool_]:
    """For each place, whether the `order` tokens that end there have occurred exactly once before."""
    _, kind = np.unique(np.lib.stride_tricks.sliding_window_view(tokens, order), axis=0, return_inverse=True)
    places = np.argsort(kind, kind="stable")
    same = np.concatenate([[False, False], np.diff(kind[places]) == 0])  # as the run before, in this order
    once = np.zeros(len(kind), bool)
    once[places] = same[1:] & ~same[:-1]
    return np.concatenate([np.zeros(order - 1, bool), once])
