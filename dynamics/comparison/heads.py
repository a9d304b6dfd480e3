"""Which heads the comparison keeps whole: the paper's shares by induction and echo scores, or as many at random."""

from collections.abc import Iterator

import numpy as np

from dynamics.comparison.record import Heads
from dynamics.heads.scores import head_scores
from dynamics.heads.selection import ECHO_SHARE, INDUCTION_SHARE, kept_count
from dynamics.model.decoder import InductionModel
from dynamics.tasks.needles import FIRST_KEY, VOCAB

DRAWS = 12  # a spawn key that no other stream uses
PRINTABLE = range(32, FIRST_KEY - 1)


def rank_heads(model: InductionModel, score_k: int, seed: int) -> Heads:
    """Scores of all heads on `score_k` distinct printable bytes, four times over, and the order of protection."""
    # Bytes that the text does not have say nothing about heads that were trained on it.
    excluded = [byte for byte in range(VOCAB) if byte not in PRINTABLE]
    scores = head_scores(model, k=score_k, repeats=4, prompts=4, seed=0, excluded=excluded)
    total = scores.induction.size
    return Heads(
        seed=seed,
        echo=tuple(tuple(round(float(x), 5) for x in row) for row in scores.echo),
        induction=tuple(tuple(round(float(x), 5) for x in row) for row in scores.induction),
        ranking=tuple(ranking(scores.induction, scores.echo)),
        protected=kept_count(total, INDUCTION_SHARE) + kept_count(total, ECHO_SHARE),
    )


def ranking(induction: np.ndarray, echo: np.ndarray) -> Iterator[tuple[int, int]]:
    """All heads (layer, head): the paper's share by induction, then its share by echo, then the rest by induction."""
    order, echoing = (np.argsort(-scores, axis=None, kind="stable").tolist() for scores in (induction, echo))
    first = order[: kept_count(induction.size, INDUCTION_SHARE)]
    first += [head for head in echoing if head not in first][: kept_count(echo.size, ECHO_SHARE)]
    for head in [*first, *(head for head in order if head not in first)]:
        yield divmod(head, induction.shape[1])


def chosen_heads(heads: Heads, count: int, draw: int | None) -> list[tuple[int, int]]:
    """The first `count` of the ranking, or with `draw` as many of all heads at random: one draw, one set."""
    if draw is None:
        return list(heads.ranking[:count])
    rng = np.random.default_rng(np.random.SeedSequence(heads.seed, spawn_key=(DRAWS, draw)))
    return [heads.ranking[index] for index in sorted(rng.choice(len(heads.ranking), count, replace=False).tolist())]
