"""Heads as matrices in an .npz file: read, and their scopes as a table and as JSON."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np

from theory import alibi
from theory.checked import POSITIVE, SHARE, real, reals, shown

from .cli import aligned
from .scope_report import ARITHMETIC, finite, number

NAMES = (*alibi.Head._fields, "slope")
LARGEST = 2**30  # bytes of all arrays of a file
COLUMNS = ("head", "slope", "range D", "self gap", "scope", "printed", "spectral")
LEGEND = (
    "range D: the most by which two logits of a query differ; self gap: the most by which one exceeds the query's own",
    "scope: its bound is valid; printed: RazorAttention's L_h, not valid in general; spectral: its valid repair",
)
SQUARE = (
    "the matrices are square, so their shapes do not tell W x from x @ W; they were read as W x, "
    "and the last column is the range D of x @ W"
)


def report(path: str, slope: float | None, eps: float) -> tuple[str, str]:
    """The text and the JSON of a file of heads. Raises ValueError of one line for a bad file, and OSError for none."""
    eps = real("eps", eps, SHARE)
    try:
        rows = [_measured(*one, eps) for one in _heads(_arrays(path), slope)]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    square = "logit_range_transposed" in rows[0]
    widest = number(max(row["scope"] for row in rows))
    said = f"from distance {widest} on no token weighs more than {eps:g}, in any of {len(rows)} heads and any context"
    cells = [(str(head), *map(number, row.values())) for head, row in enumerate(rows)]
    table = aligned([COLUMNS + ("D of x @ W",) * square, *cells])
    text = "\n".join([said, "", *table, "", *LEGEND, *[SQUARE] * square, ARITHMETIC])
    heads = [{"head": head} | finite(row) for head, row in enumerate(rows)]
    content = {"matrices": path, "eps": eps, "arithmetic": ARITHMETIC.removeprefix("arithmetic: "), "heads": heads}
    return text, json.dumps(content, indent=1, allow_nan=False) + "\n"


def _measured(head: alibi.Head, slope: float, eps: float) -> dict[str, Any]:
    """The numbers of a head; where d_head is d_model, the range of its transposed matrices too."""
    row = {"slope": slope} | alibi.head_scope(head, slope, eps)._asdict()
    if len(head.w_q) == len(head.gamma):
        row["logit_range_transposed"] = alibi.logit_range(head._replace(w_q=head.w_q.T, w_k=head.w_k.T))
    return row


def _heads(found: dict[str, np.ndarray], slope: float | None) -> list[tuple[alibi.Head, float]]:
    """Each head with its slope: one of w_q (d_head, d_model), or those of w_q (heads, d_head, d_model)."""
    if (slope is None) == ("slope" not in found):
        raise ValueError("the slope must be given once, in the file or by --slope")
    each = {name: found[name] for name in ("w_q", "w_k", "query_bias") if name in found}
    if found["w_q"].ndim != 3:
        each = {name: values[None] for name, values in each.items()}
    count = len(each["w_q"])
    for name, values in each.items():
        if not count or values.shape[:1] != (count,):
            raise ValueError(f"{name} has shape {found[name].shape}: expected as many heads as w_q, at least one")
    slopes = reals("slope", found["slope"] if slope is None else slope, POSITIVE)
    if slopes.shape not in ((), (count,)):
        raise ValueError(f"slope has shape {slopes.shape}: expected () or ({count},)")
    shared = {name: found[name] for name in ("gamma", "norm_bias") if name in found}
    norm = str(found.get("norm", np.array("rms")).squeeze())
    heads = [{name: values[i] for name, values in each.items()} for i in range(count)]
    slopes = np.broadcast_to(slopes, count).tolist()
    return [(alibi.Head(**shared, **one, norm=norm), slope) for one, slope in zip(heads, slopes, strict=True)]


def _arrays(path: str) -> dict[str, np.ndarray]:
    """The arrays of the file by name; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename.removesuffix(".npy"): entry.file_size for entry in archive.infolist()}
        if wrong := (set(sizes) - set(NAMES)) | (set(NAMES[:3]) - set(sizes)):
            names = f"must hold {', '.join(NAMES[:3])} and may hold {', '.join(NAMES[3:])}"
            raise ValueError(f"{shown(sorted(wrong))} missing or unknown: it {names}")
        if sum(sizes.values()) > LARGEST:
            raise ValueError(f"its arrays have {sum(sizes.values())} bytes, more than {LARGEST}")
        with np.load(path, allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in sizes}
    except OSError:
        raise
    except Exception as error:  # damaged, pickled and encrypted arrays raise errors of many classes
        raise ValueError(str(error)) from None
