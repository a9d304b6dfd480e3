"""For each check a mistake that it alone finds of its subject: without the check, the suite would let it through.

SOLE: class -> (where it goes wrong, the check).
"""

import numpy as np

from proofs_check.conform import CHECKS
from tests.proofs_check.conform.planting import asked, out, plant
from tests.proofs_check.conform.right import InTorch, Right, Stateless
from tests.proofs_check.conform.unseen import one_buffer

SOLE = {}
ATTENTION = {
    "together": "segments is not None and window is not None",
    "several": "sum([queries < keys, heads > groups, rows > 1, mask is not None, segments is not None, "
               "window is not None]) > 1",
    "causal": "abs(k).max() > 100",
    "large_logits": "abs(q).max() > 15",
    "decode": "queries == 1 < keys",
    "chunks": "queries < keys",
    "grouped": "heads > groups",
    "right_padding": "mask is not None and not mask[:, -1].all()",
    "left_padding": "mask is not None",
    "packed": "segments is not None",
    "window": "window is not None",
    "batch": "rows > 1 and keys < 10",
    "whole": "rows == 1 and keys > 40",
}
SHIFT = {
    "together": "len(x) > 1 and len(weights) > 2",
    "several": "sum([len(x) > 1, len(weights) > 2, state is not None, mask is not None, segments is not None]) > 1",
    "causal": "abs(x).max() > 200",
    "widest": "len(weights) > 4",
    "wider": "len(weights) > 2",
    "steps": "state is not None and tokens == 1",
    "chunks": "state is not None",
    "packed": "segments is not None",
    "left_padding": "mask is not None",
    "batch": "len(x) > 1",
    "whole": "width % 4",
}
# Of each subject the mistake of a check is where its condition is the first that holds.
FIRST = {
    "alibi_slopes": {"any_head_count": "n_heads & (n_heads - 1)", "powers_of_two": "True"},
    "alibi_bias": {
        "left_padding": "mask is not None",
        "any_head_count": "n_heads & (n_heads - 1)",
        "decode": "n_queries == 1 < n_keys",
        "chunks": "n_queries < n_keys",
        "whole": "True",
    },
    "attention": ATTENTION,
    "alibi_attention": {"any_head_count": "heads & (heads - 1)"} | ATTENTION,
    "sink_attention": {"no_sink": "sinks.max() < -30", "large_sink": "sinks.min() > 60"} | ATTENTION,
    "shift": SHIFT,
    "shifted_keys": {"order": "keys.shape[1] > 8"} | {k: when.replace("x)", "keys)") for k, when in SHIFT.items()},
    "rope": {
        "together": "len(x) > 1 and base != 1e4",
        "several": "tokens == 1 or sum([positions.min() > 250, len(x) > 1, (np.diff(positions) != 1).any(), "
                   "base != 1e4, dims is not None]) > 1",
        "angles": "x.shape[1] > 8",
        "far": "positions.min() > 250",
        "rows": "len(x) > 1",
        "any_order": "(np.diff(positions) != 1).any()",
        "bases": "base != 1e4",
        "partial": "dims is not None",
        "offset": "positions.min() > 9",
    },
    "evicting_attention": {
        "together": "heads > groups and max(chunks[1:]) > 1",
        "grouped": "heads > groups",
        "chunks": "max(chunks[1:]) > 1",
        "output": "True",
    },
    "razor_attention": {
        "together": "compensation and rows > 1",
        "several": "keys == 1 or "
                   "sum([len(k) > 1, rows > 1, heads > groups, len(chunks) > 1, compensation]) > 1",
        "every_layer": "len(k) > 1",
        "batch": "rows > 1",
        "grouped": "heads > groups",
        "chunks": "len(chunks) > 1",
        "compensation": "compensation",
        "whole_heads": "whole.any()",
        "local_heads": "True",
    },
    "logits": {"batch": "rows > 1"},
    "decoded": {
        "ragged_chunks": "chunk and len({*map(len, prompts)}) > 1",
        "batch_chunks": "chunk and len(prompts) > 1",
        "chunks": "chunk",
        "ragged": "len({*map(len, prompts)}) > 1",
        "batch": "len(prompts) > 1",
        "steps": "True",
    },
}
STATELESS = ["shift.batch", "shift.wider", "shift.left_padding", "shifted_keys.batch", "shifted_keys.wider"]
NAMES = [check.name for check in CHECKS]


def layers(some):
    return lambda found: [x * (1.01 if at in some else 1) for at, x in enumerate(found)]


def kept(place, value):
    """What is kept is other than it should be, and the outputs are by it."""

    def found(self, q, k, v, found):
        sees = found[1].copy()
        sees[place] = asked(value, {"sees": sees, "k": k})
        return self.masked(q, k, v, sees), sees

    return found


KEPT = {
    "own_token": kept(np.s_[..., -1, -1], lambda: False),
    "causal": kept(np.s_[..., -2, -1], lambda: True),
    "gone_for_good": kept(np.s_[..., -2:, 0], lambda: (False, True)),
    "hindsight": kept(np.s_[..., -4:, 0], lambda sees, k: (
        sees[..., -4, 0] & (k[..., -1, 0] < k[..., -2, 0]))[..., None]),
    "batch": kept(np.s_[:], lambda sees: sees[:1]),
}
for subject, conditions in FIRST.items():
    first = ""
    for name, when in conditions.items():
        if (check := f"{subject}.{name}") in NAMES:
            plant(SOLE, when, check, when=f"{first}({when})", found=out(lambda x: 1.01 * x + 0.01),
                  right=Stateless if check in STATELESS else Right)
        first += f"not ({when}) and "
for subject in ("shift", "shifted_keys"):
    plant(SOLE, "two streams", f"{subject}.streams", found=one_buffer)
for name, found in {
    "value_residual.first_layer": layers(range(1)),
    "value_residual.factors": layers(range(1, 2)),
    "value_residual.later_layers": layers(range(2, 99)),
    "logits.causal": lambda self, tokens, found: (
        found + 0.1 * (self.table[tokens[:, -1:]] @ self.table.T) * np.eye(len(tokens[0]))[:, :1]),
}.items():
    plant(SOLE, "always", name, found=found)
plant(SOLE, "always", "value_residual.gradient", right=InTorch, values=lambda values: [values[0].detach(), *values[1:]],
      found=lambda values, found: [values[0], *found[1:]])
for name, found in KEPT.items():
    plant(SOLE, name, f"evicting_attention.{name}", when="heads == groups and max(chunks[1:]) == 1", found=found)
