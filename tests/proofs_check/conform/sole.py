"""For each check a mistake that it alone finds of its subject: without the check, the suite would let it through.

SOLE: class -> (what is asked for where it goes wrong, the check).
"""

import numpy as np

from tests.proofs_check.conform.planting import asked, out, plant
from tests.proofs_check.conform.right import InTorch, Right, Stateless
from tests.proofs_check.conform.unseen import one_buffer

SOLE = {}

ATTENTION = {"one": "queries == 1 < keys", "some": "1 < queries < keys", "groups": "heads > groups", "rows": "rows > 1",
             "pads": "mask is not None", "right": "mask is not None and not mask[:, -1].all()",
             "documents": "segments is not None", "window": "window is not None", "large": "abs(q).max() > 15",
             "late": "abs(k).max() > 100", "long": "keys > 9"}
OF_ATTENTION = {"whole": "long", "causal": "late", "decode": "one", "chunks": "some", "grouped": "groups", "batch": "rows",
                "large_logits": "large", "left_padding": "pads", "right_padding": "pads right", "packed": "documents",
                "window": "window", "together": "documents window"}
SHIFT = {"state": "state is not None", "single": "state is not None and tokens == 1", "pads": "mask is not None",
         "documents": "segments is not None", "wider": "2 < len(weights) < 5", "widest": "len(weights) > 4"}
OF_SHIFT = {"wider": "wider", "widest": "widest", "batch": "rows", "causal": "large", "chunks": "state",
            "steps": "state single", "together": "rows wider"}
# Subject: what may be asked for; check: what is asked for where the mistake is, and no more.
ASKED = {
    "alibi_slopes": ({"other": "n_heads & (n_heads - 1)"}, {"powers_of_two": "", "any_head_count": "other"}),
    "alibi_bias": (
        {"other": "n_heads & (n_heads - 1)", "one": "n_queries == 1 < n_keys", "some": "1 < n_queries < n_keys",
         "pads": "mask is not None"},
        {"whole": "", "any_head_count": "other", "decode": "one", "chunks": "some", "left_padding": "pads"}),
    "attention": (ATTENTION, OF_ATTENTION),
    "alibi_attention": (ATTENTION | {"other": "heads & (heads - 1)"}, OF_ATTENTION | {"any_head_count": "other"}),
    "sink_attention": (ATTENTION | {"least": "sinks.max() < -30", "most": "sinks.min() > 60"},
                       OF_ATTENTION | {"no_sink": "least", "large_sink": "most"}),
    "shift": (SHIFT | {"rows": "len(x) > 1", "large": "abs(x).max() > 200", "width": "width % 4"},
              OF_SHIFT | {"whole": "width", "packed": "documents", "left_padding": "pads"}),
    "shifted_keys": (SHIFT | {"rows": "len(keys) > 1", "large": "abs(keys).max() > 200", "heads": "keys.shape[1] > 8"},
                     OF_SHIFT | {"order": "heads"}),
    "rope": (
        {"single": "tokens == 1", "later": "positions[0, 0] > 9", "far": "positions.min() > 250", "rows": "len(x) > 1",
         "jumps": "(np.diff(positions) != 1).any()", "base": "base != 1e4", "dims": "dims is not None",
         "heads": "x.shape[1] > 8"},
        {"angles": "heads", "offset": "later", "bases": "base", "rows": "rows later", "any_order": "jumps",
         "far": "later far", "partial": "dims", "together": "rows later base"}),
    "evicting_attention": (
        {"groups": "heads > groups", "chunks": "max(chunks[1:]) > 1"},
        {"output": "", "grouped": "groups", "chunks": "chunks", "together": "groups chunks"}),
    "razor_attention": (
        {"single": "keys == 1", "layers": "len(k) > 1", "rows": "rows > 1", "groups": "heads > groups",
         "chunks": "len(chunks) > 1", "token": "compensation", "whole": "whole.any()"},
        {"local_heads": "", "whole_heads": "whole", "every_layer": "layers", "grouped": "groups", "batch": "rows",
         "chunks": "chunks", "compensation": "token", "together": "rows token"}),
    "logits": ({"rows": "rows > 1"}, {"batch": "rows"}),
    "decoded": (
        {"rows": "len(prompts) > 1", "ragged": "len({*map(len, prompts)}) > 1", "chunk": "chunk"},
        {"steps": "", "batch": "rows", "ragged": "rows ragged", "chunks": "chunk", "batch_chunks": "rows chunk",
         "ragged_chunks": "rows ragged chunk"}),
}


def sole(check, words="", found=out(lambda x: 1.01 * x + 0.01), **more):
    features, _ = ASKED.get(check.split(".")[0], ({}, {}))
    when = " and ".join(f"({each})" if word in words.split() else f"not ({each})" for word, each in features.items())
    plant(SOLE, f"{check}: {words}", check, when=when or "True", found=found, **more)


def layers(first, last):
    return lambda found: [*found[:first], *(1.01 * x for x in found[first:last]), *found[last:]]


def kept(place, value):
    """What is kept is other than it should be, and the outputs are by it."""

    def found(self, q, k, v, found):
        sees = found[1].copy()
        sees[place] = asked(value, {"sees": sees, "k": k})
        return self.masked(q, k, v, sees), sees

    return found


STATELESS = ("shift.batch", "shift.wider", "shift.left_padding", "shifted_keys.batch", "shifted_keys.wider")
for subject, (_, checks) in ASKED.items():
    for name, words in checks.items():
        check = f"{subject}.{name}"
        sole(check, words, right=Stateless if check in STATELESS else Right)
for subject in ("shift", "shifted_keys"):
    plant(SOLE, "", f"{subject}.streams", found=one_buffer)
sole("value_residual.first_layer", found=layers(0, 1))
sole("value_residual.factors", found=layers(1, 2))
sole("value_residual.later_layers", found=layers(2, None))
sole("value_residual.gradient", right=InTorch, values=lambda values: [values[0].detach(), *values[1:]],
     found=lambda values, found: [values[0], *found[1:]])
sole("evicting_attention.own_token", found=kept(np.s_[..., -1, -1], lambda: False))
sole("evicting_attention.causal", found=kept(np.s_[..., -2, -1], lambda: True))
sole("evicting_attention.gone_for_good", found=kept(np.s_[..., -2:, 0], lambda: (False, True)))
sole("evicting_attention.hindsight", found=kept(np.s_[..., -4:, 0], lambda sees, k: (
    sees[..., -4, 0] & (k[..., -1, 0] < k[..., -2, 0]))[..., None]))
sole("evicting_attention.batch", found=kept(np.s_[:], lambda sees: sees[:1]))
plant(SOLE, "", "logits.causal", found=lambda self, tokens, found: (
    found + 0.1 * (self.table[tokens[:, -1:]] @ self.table.T) * np.eye(len(tokens[0]))[:, :1]))
