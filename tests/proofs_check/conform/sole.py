"""For each check a mistake that it alone finds: without the check, the suite would let it through.

SOLE: class -> (when it goes wrong, the check).
"""

from tests.proofs_check.conform.unseen import unseen

SOLE = {}


def sole(check, when, method=None, found=lambda found: 1.01 * found, **changes):
    unseen(when, check, method or check.split(".")[0], into=SOLE, when=when, found=found, **changes)


ASKED = ("queries == 1 < keys", "1 < queries < keys", "heads > groups", "rows > 1", "mask is not None",
         "segments is not None", "window is not None", "abs(q).max() > 15", "abs(k).max() > 100")


def alone(asked=None):
    """One thing is asked for, and nothing else; or nothing at all."""
    return " and ".join(f"({each})" if each == asked else f"not ({each})" for each in ASKED)


for kind in ("attention", "alibi_attention", "sink_attention"):
    sole(f"{kind}.whole", f"keys > 64 and {alone()}")
    sole(f"{kind}.causal", alone(ASKED[8]))
    sole(f"{kind}.decode", f"keys > 64 and {alone(ASKED[0])}")
    sole(f"{kind}.chunks", f"keys > 64 and {alone(ASKED[1])}")
    sole(f"{kind}.grouped", f"heads != 12 and {alone(ASKED[2])}")
    sole(f"{kind}.batch", f"rows > 4 and {alone(ASKED[3])}")
    sole(f"{kind}.large_logits", ASKED[7])
    sole(f"{kind}.left_padding", f"mask is not None and mask[:, -1].all() and {alone(ASKED[4])}")
    sole(f"{kind}.right_padding", f"mask is not None and not mask[:, -1].all() and {alone(ASKED[4])}")
    sole(f"{kind}.packed", alone(ASKED[5]))
    sole(f"{kind}.window", alone(ASKED[6]))
    sole(f"{kind}.together", f"{ASKED[5]} and {ASKED[6]}")
sole("alibi_attention.any_head_count", "heads & (heads - 1)")
sole("sink_attention.no_sink", "sinks.max() < -30")
sole("sink_attention.large_sink", "sinks.min() > 60", found=lambda found: found + 0.01)
