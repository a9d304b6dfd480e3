"""What the KV-shifting paper cites, or says of its own data and runs: quoted, beside what can be checked of it."""

import itertools

import numpy as np

from dynamics.tasks.hop import hop
from proofs_check.evidence.margin import Margin, same
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Effort
from proofs_check.ledger.exact_claim import BOTH, FINAL, unsettled_claim
from proofs_check.ledger.mathematical import exact, mathematical


def _induction(word: tuple[int, ...], place: int) -> int:
    """The place after the latest earlier occurrence of the letter at `place`, -1 where there is none."""
    places = [s + 1 for s in range(place) if place >= 0 and word[s] == word[place]]
    return places[-1] if places else -1


def _iterated(word: tuple[int, ...], hops: int, again: int = 0) -> Margin:
    """The k-hop task from every place of the word, against induction done k + again times."""
    places = range(len(word))
    rows = np.array([word] * len(word))
    found = hop(rows, np.array(places), np.full(len(word), hops)).tolist()
    wanted = list(places)
    for _ in range(hops + again):
        wanted = [_induction(word, place) for place in wanted]
    return same(found, wanted)


def _words_and_hops(effort: Effort) -> list[dict]:
    longest = 5 if effort is Effort.QUICK else 7
    words = itertools.chain(*(itertools.product(range(3), repeat=n) for n in range(2, longest + 1)))
    return [{"word": word, "hops": hops} for word in words for hops in range(4)]


CLAIMS: tuple[Claim, ...] = (
    unsettled_claim(
        "kv.abstract.icl",
        f"{BOTH}, Abstract and Section 1",
        "Induction heads, which use repeating patterns, are the basis of in-context learning in large models.",
        note="Cited: it takes large models with their induction heads ablated, against other heads.",
    ),
    unsettled_claim(
        "kv.sec1.multi_step",
        f"{BOTH}, Section 1",
        "Induction heads are crucial in multi-step reasoning.",
        note="Cited (Sanford et al., 2024b), there for k-hop, which is induction k times (kv.sec1.multi_step.hops): it "
        "takes such heads ablated in models that reason.",
    ),
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
    unsettled_claim(
        "kv.sec4.1.private_data",
        f"{BOTH}, Section 4.1, Datasets",
        "The models are trained on non-public private data.",
        note="Only the authors can show it; Appendix N names a public part, Fineweb-edu, so it is the mixture that is "
        "private.",
    ),
    unsettled_claim(
        "kv.sec4.1.filtering",
        f"{BOTH}, Section 4.1, Datasets",
        "The data were collected and filtered by methods similar to those of FineWeb-edu.",
        note="It takes the data or the filters.",
    ),
    unsettled_claim(
        "kv.sec4.1.single_runs",
        f"{BOTH}, Section 4.1, Evaluation",
        "Almost all experiments were run only once, except where it is said otherwise.",
        note="Only the authors can show it; several seeds are named for Figure 4 and its footnote alone.",
    ),
    unsettled_claim(
        "kv.fn8",
        f"{BOTH}, footnote on the learning rate (8 in the final version)",
        "Large learning rates improve generalisation.",
        note="Cited (Lobacheva et al.): it takes several rates on a fixed training set, with a test set.",
    ),
    unsettled_claim(
        "kv.appE.mathematics",
        f"{FINAL}, Appendix E.2",
        "Learning mathematics problems is a more direct manifestation of induction ability.",
        note="It takes a model trained on such problems with its induction heads ablated.",
    ),
    unsettled_claim(
        "kv.appE.corollary",
        f"{FINAL}, Appendix E.3",
        "That the bottleneck of n-grams is width or MLP parameters is a corollary of Rajaraman et al. (2024).",
        note="It takes their theorem; by its title it is on Markov data estimated in context, and the task here is a "
        "fixed table held in the weights.",
    ),
)
