"""What a user of Appendix M's listing must add: document borders, left pads, beams."""

import sympy as sp

from proofs_check.evidence.margin import Margin, identity
from proofs_check.kv.listings import appendix_m_leaks as leaks
from proofs_check.ledger.claim import INSTANCES, Control, Severity, Verdict
from proofs_check.ledger.mathematical import mathematical, symbolic
from proofs_check.records import runs

SOURCE = "KV shifting (both versions), Appendix M (first version: Appendix F)"
ADDED = "added to Appendix M (first version: Appendix F)"
ANGLE = sp.Symbol("theta", real=True)  # what one position turns a pair of components by


def _turn(position: int) -> sp.Matrix:
    return sp.rot_ccw_axis3(position * ANGLE)[:2, :2]


def _score(cached: int, query: int, key: int, offset: int) -> Margin:
    """Score of a query, `query` tokens after the cached ones and rotated from `offset`, with key `key` of the cache.

    Rotary embedding of one pair of components.
    """
    q, k = (sp.Matrix(sp.symbols(f"{name}_1:3", real=True)) for name in "qk")
    return identity((_turn(offset + query) * q).dot(_turn(key) * k), q.dot(_turn(key - cached - query) * k))


CACHES = [{"cached": c, "query": q, "key": s, "offset": c} for c in (1, 2) for q in (0, 1) for s in range(c)]

LENGTHS, PADS, BEAMS = ((1, 1), (3, 2), (2, 3)), (1, 2, 3), ((1, 0), (2, 0, 1), (0, 0), (1, 1, 2))

CLAIMS = (
    mathematical(
        "kv.appM.offset",
        SOURCE,
        "q and k are rotated with seqlen_offset=0.",
        symbolic(
            "scores of the queries of a first pass, which depend on the distance alone; angle free",
            _score,
            [{"cached": 0, "query": q, "key": s, "offset": 0} for q in range(3) for s in range(q + 1)],
            Control("decoding with offset 0", points=[{**p, "offset": 0} for p in CACHES]),
        ),
        symbolic(
            "scores of decoded queries with the keys of the cache, the offset being the number of cached tokens",
            _score,
            CACHES,
            Control("one token too far", points=[{**p, "offset": p["cached"] + 1} for p in CACHES]),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("nothing is cached",),
        note="Missing: without a past. In decoding the offset is the number of cached tokens.",
        formula=r"q_t\mapsto R_{0+t}\,q_t,\quad k_s\mapsto R_{0+s}\,k_s",
        reading="The listing is the one of training, which has no past.",
        severity=Severity.READING,
        coverage=INSTANCES,
    ),
    runs("kv.appM.packed", ADDED, leaks.packed, leaks.last_key, leaks.cases("lengths", LENGTHS),
         broken=[{"knows_the_documents": True}]),
    runs("kv.appM.padding", ADDED, leaks.padded, leaks.pad_key, leaks.cases("pads", PADS),
         broken=[{"pads_are_erased": True}]),
    runs("kv.appM.beams", ADDED, leaks.reordered, leaks.stale_key, leaks.cases("order", BEAMS),
         broken=[{"last_k_is_reordered": True}]),
)
