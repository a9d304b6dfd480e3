"""What the KV-shifting paper cites, or says of its own data and runs: quoted, beside what can be checked of it."""

import numpy as np

from dynamics.tasks.hop import hop
from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.induction.depth_width import after_match, words
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort
from proofs_check.ledger.exact_claim import BOTH
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.records import quoted


def _iterated(word: tuple[int, ...], hops: int, again: int = 0) -> Margin:
    """The k-hop task from every place of the word, against induction done k + again times."""
    places = range(len(word))
    rows = np.array([word] * len(word))
    found = hop(rows, np.array(places), np.full(len(word), hops)).tolist()
    wanted = list(places)
    for _ in range(hops + again):
        wanted = [after_match(word[: place + 1]) if place >= 0 else -1 for place in wanted]
    return same(found, wanted)


def _words_and_hops(effort: Effort) -> list[dict]:
    found = words(2, 5 if effort is Effort.QUICK else 7)
    return [{"word": word, "hops": hops} for word in found for hops in range(4)]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec1.multi_step.hops",
        f"{BOTH}, Section 1, our addition",
        "k-hop, the task of the work cited for multi-step reasoning, is induction done k times.",
        exact(
            "every place of every word of 2..5 tokens (full: 2..7) over 3 letters, k = 0..3",
            _iterated,
            _words_and_hops,
            Control("once more", lambda word, hops: _iterated(word, hops, 1)),
        ),
        is_correction=True,
        formula=r"\mathrm{hop}_k=\mathrm{hop}_1\circ\cdots\circ\mathrm{hop}_1",
        coverage=INSTANCES,
    ),
    *quoted(__file__),
)
