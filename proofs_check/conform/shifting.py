"""The token shift y[t] = sum_j w_j x[t - j], whole = chunks = steps = packed = padded; keys shifted and rotated."""

from __future__ import annotations

from typing import Any

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.adapter import plain
from proofs_check.conform.attending import PAD, spelt
from proofs_check.conform.case import Case
from proofs_check.conform.check import LENGTHS, RUNS, WIDTHS, Check, checks, spelt_chunks

KEYS = "shifted_keys"
AXES = {"shift": ("row", "token", "channel"), KEYS: ("row", "head", "token", "channel")}
BASE, LATE = 100.0, 1e3


def _case(given, cut, back=1, rows=1, heads=2, width=8, base=BASE, streams=1, late=0, **more: Any):
    """Of `cut`, the lengths of chunks, and 1 + back weights; late: how many of the last tokens are very large."""
    length = sum(cut)
    x = given.normal(rows * streams, *((heads,) if given.subject == KEYS else ()), length, width)
    weights = given.adapter.rounded(np.float32(given.normal(1 + back))).tolist()  # no rounding is left to the adapter
    real = more.get("mask", np.ones((1, length), dtype=bool)).reshape(-1, *[1] * (x.ndim - 3), length, 1)
    early = np.arange(length)[:, None] < length - late
    x = np.where(real, np.where(early, x, LATE * x), PAD)

    def mixed(x, **more: Any):
        return np.swapaxes(reference.shifted(np.swapaxes(x, 1, -2), weights, **more), 1, -2)

    def turned(x):
        return x if x.ndim == 3 else reference.rotated(x, np.arange(length)[None], base, given.adapter.pairs)

    def mistakes():
        edge = mixed(np.concatenate([*[x[..., :1, :]] * back, x], -2))[..., back:, :]
        alone = [mixed(part) for part in np.split(x, np.cumsum(cut)[:-1], -2)]
        return {
            "the numbers with the first token in place of what is before it": turned(edge),
            "the numbers of chunks without a past": turned(np.concatenate(alone, -2)),
            "the numbers of one document": turned(mixed(x)),
            "the numbers rotated before they are shifted": mixed(turned(x)),
        }

    told = [spelt(name, value) for name, value in more.items()] + [f"{streams} streams by turns"] * (streams > 1)
    told += [f"batch {rows}, {f'{heads} heads of ' * (x.ndim > 3)}{width} channels, {length} tokens"]
    told += [spelt_chunks(cut)] * (len(cut) > 1) + [f"base {base:g}"] * (x.ndim > 3)
    told += [f"the last {late} very large"] * (late > 0) + [f"weights {', '.join(f'{w:g}' for w in weights)}"]
    return Case(
        ", ".join(told), lambda: _fed(given, x, weights, cut, streams, base, more),
        lambda: turned(mixed(x, **more)), AXES[given.subject], np.broadcast_to(real & early, x.shape),
        mistakes=mistakes, sizes={"rows": rows, "tokens": length, "channels": width, "weights": len(weights)},
    )  # fmt: skip


def _fed(given, x, weights, cut, streams, base, more):
    """Through the function itself, whose states are handed on as they came: one a stream."""
    found, states, of = [], [None] * streams, given.adapter
    for end, size in zip(np.cumsum(cut), cut, strict=True):
        here, row = slice(end - size, end), []
        for i, own in enumerate(np.split(x[..., here, :], streams)):
            told = {name: value[:, here] for name, value in more.items()}
            told |= {"state": states[i]} if len(cut) > 1 else {}
            at = (np.tile(np.arange(end - size, end), (len(own), 1)), base) if given.subject == KEYS else ()
            out = of.raw(given.subject, own, weights, *at, **told)
            if given.takes("state"):
                if not isinstance(out, tuple) or len(out) != 2:
                    kind = type(out).__name__
                    raise TypeError(f"a function with a parameter state returns (output, state), got a {kind}")
                out, states[i] = out
            row.append(plain(out))
        found.append(np.concatenate(row))
    return np.concatenate(found, -2)


def _sizes(given):
    """Lengths around the edges of tiles, widths and numbers of heads, one at a time."""
    for length in LENGTHS:
        yield _case(given, [length])
    for width in WIDTHS if given.subject == KEYS else sorted({*range(1, 68), *WIDTHS, 192, 255, 257, 300}):
        yield _case(given, [3], width=width)
    for heads in range(1, 33) if given.subject == KEYS else ():
        yield _case(given, [3], heads=heads)


def _drawn(given, features, length, wide):
    """What is fed comes in chunks and steps, or in those alone that are asked for."""
    if {"segments", "fed"} <= features:  # nothing says which document a state is of
        return
    length = max(length, 1 + bool({"mask", "segments", "late"} & features))
    cut, more = [], dict[str, Any]()
    if "fed" in features and "steps" not in features:
        cut += [given.one_of([n for n in RUNS if 1 < n < length + 3]) for _ in range(given.between(1, 3))]
    if "fed" in features and "chunks" not in features:
        cut += [1] * given.one_of((1, 2, 3, 33 if wide else 4))
    cut = [length, *given.draw.permutation(cut).astype(int).tolist()]
    rows = given.rows(min(sum(cut), RUNS[-1])) if "rows" in features else 1
    if "mask" in features:  # pads are in the first chunk, and its last token is none
        pads = ((0, 0), (0, sum(cut) - length))
        more["mask"] = np.pad(given.padded(rows, length), pads, constant_values=True)
    if "segments" in features:
        more["segments"] = given.documents(rows, length)
    if wide:
        more |= {"width": given.one_of(WIDTHS), "heads": given.between(1, 8), "base": given.one_of((BASE, 10000.0))}
    least = 4 if "widest" in features else 2
    back = given.between(least, 2 * least - 1) if {"wider", "widest"} & features else 1
    late = given.between(1, length - 1) if "late" in features else 0
    yield _case(given, cut, back, rows, streams=1 + ("streams" in features), late=late, **more)


FEATURES = {"rows": None, "wider": None, "mask": "mask", "segments": "segments", "fed": "state"}
SHARED = (
    ("causal", "what comes later changes nothing, however large it is", "late"),
    ("batch", "each row of a batch is as if alone", "rows"),
    ("wider", "so it is with three and four weights", "wider"),
    ("widest", "so it is with five to eight weights", "widest"),
    ("chunks", "chunk after chunk gives what the whole gives", "fed", "chunks"),
    ("steps", "token after token gives what the whole gives", "fed", "steps"),
    ("streams", "a state serves its own tokens, with others read in between", "rows", "fed", "streams"),
)
WHOLE = "y[t] = w_0 x[t] + w_1 x[t - 1], and before the first token stands nothing, at any size"

CHECKS = (
    Check("shift.whole", WHOLE, _sizes),
    *checks(
        "shift", _drawn, FEATURES,
        ("packed", "nothing is mixed across the start of a document", "segments"),
        ("left_padding", "no pad is mixed into a token", "mask"),
        *SHARED,
    ),
    Check("shifted_keys.order", "a key is shifted first and then rotated, at any size", _sizes),
    *checks(KEYS, _drawn, FEATURES, *SHARED),
)  # fmt: skip
