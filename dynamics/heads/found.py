"""Which heads do induction, in any causal model: by the size of their attention, against baselines, and by cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics.heads.cause import Ablation, Cause, Gate, gate, looks
from dynamics.heads.kinds import KINDS, SIZE, WHOLE, Array, Over, Score, Source, choose
from dynamics.heads.returned import Returning
from dynamics.heads.rows import longest, returned_by
from dynamics.model.decoder import InductionModel
from dynamics.statistics.estimate import Estimate

if TYPE_CHECKING:
    from torch import nn

LENGTHS, USUAL = (24, 48, 96, 192), 48
TESTED = 32  # prompts on which losses are compared
MUCH = 0.75  # of the largest gain: prompts that reach a little beyond the trained positions are copied in part
UNKNOWN = Estimate(nan, nan, nan)


class Found(NamedTuple):
    """What is known of a model's heads. gates: by length of the prompts. length, order, distinct: of those scored.

    scores: by kind. sink (layers, heads): attention to key 0. causes: by kind of `WHOLE` with any head chosen, None
    where outputs cannot be zeroed or there are no losses. carriers, looks: of a model that copies without such heads.
    """

    gates: tuple[Gate, ...]
    length: int
    order: int
    distinct: bool
    scores: dict[str, Score]
    sink: Array
    causes: dict[str, Cause | None]
    carriers: Cause | None
    looks: dict[tuple[int, int], tuple[int, float, float]]
    n_kv_heads: int

    @property
    def copies(self) -> bool:
        """Whether the model copies at the length that the scores are of."""
        return any(one.copies for one in self.gates if one.length == self.length)

    def heads(self, kind: str) -> list[tuple[int, int]]:
        """The heads (layer, head) that are called by a kind: chosen, and not known to be idle."""
        cause = self.causes.get(kind)
        return [] if cause is not None and not cause.needed else self.attending(kind)

    def attending(self, kind: str) -> list[tuple[int, int]]:
        """The heads that are chosen by their attention alone."""
        found = np.argwhere(self.scores[kind].chosen) if kind in self.scores else np.empty((0, 2))
        return [(layer, head) for layer, head in found.tolist()]

    @property
    def whole_heads(self) -> list[tuple[int, int]]:
        """The query heads (layer, head) for which a cache keeps all tokens, as `RazorPlan.for_heads` takes them."""
        return sorted({head for kind in WHOLE for head in self.heads(kind)})

    @property
    def whole(self) -> list[tuple[int, int]]:
        """The key-value heads (layer, key-value head) of these heads."""
        group = self.sink.shape[1] // self.n_kv_heads
        return sorted({(layer, head // group) for layer, head in self.whole_heads})

    @property
    def why(self) -> str:
        """The answer in sentences: induction heads or none, whether the model copies, heads of the other kinds."""
        told = [self._induction()]
        if self.gates and not self.heads("induction"):
            tried = _names(one.length for one in self.gates if one.copies == self.copies)
            told.append(f"the model {'copies' if self.copies else 'does not copy'} (prompts of {tried} tokens)")
        if self.carriers is not None and not self.carriers.needed:
            told.append("no set of heads explains it")
        elif self.carriers is not None:
            hurt = f"loses {self.carriers.hurt.value:.2g} nats more than the first"
            told.append(f"without {_names(self.carriers.heads)} the second copy {hurt}")
            there = {head: at for head, at in self.looks.items() if at[1] >= at[2] + SIZE}
            for head, (step, share, even) in there.items():
                beside = f"({share:.2g}; even attention {even:.2g})"
                apart = f"key {abs(step)} {'after' if step > 0 else 'before'} the right one" if step else "right key"
                told.append(f"{_names([head])} looks most at the {apart} {beside}")
            if len(there) < len(self.looks):
                them = "the others of these" if there else "these heads"
                told.append(f"{them} put less than {SIZE:g} above even attention on each key near the right one")
        told += [f"{kind}: {_names(self.heads(kind))}" for kind in KINDS[1:] if self.heads(kind)]
        return "; ".join(told)

    def _induction(self) -> str:
        if named := self.heads("induction"):
            tested = "" if self.causes["induction"] else " (attend to the right key, cause not tested)"
            return f"{len(named)} induction head{'s' * (len(named) > 1)} (layer.head): {_names(named)}{tested}"
        idle = self.attending("induction")
        beside = f" (not needed: the attention of {_names(idle)} to the right key)" if idle else ""
        return f"no induction heads found{beside}"


def _names(items: Iterable) -> str:
    return ", ".join(f"{one[0]}.{one[1]}" if isinstance(one, tuple) else str(one) for one in items)


def find(
    model: nn.Module | Returning,
    *,
    first: int | None = None,
    excluded: Collection[int] = (),
    text: Sequence[ArrayLike] = (),
    seeds: int = 10,
    length: int | None = None,
    seed: int = 0,
    over: Over = lambda items, **_: items,
) -> Found:
    """Score, choose and test all heads of a causal model.

    Args: model, an `InductionModel`, a model of transformers, or a `Returning`; first, the tokenizer's first token;
        excluded, ids that are never drawn, such as special ones; text, pieces of tokens (n,) for the previous-token
        score; seeds, how many sets of 8 prompts there are, in nine of ten of which a head has to pass; length, tokens
        of a prompt, None for one at which the model copies; over(items, desc=..), a progress bar.
    Raises: ValueError for an encoder, a model in training mode, a length beyond the positions, too few ids, and as
        `dynamics.heads.copies` and `dynamics.heads.returned`.
    """
    if getattr(model, "training", False) and not isinstance(model, InductionModel):
        raise ValueError("the model is in training mode: use model.eval()")
    source = Source(model, first, excluded, tuple(np.asarray(piece, np.int64) for piece in text), seed)
    tried = {one: source.prompts(TESTED, one, 1) for one in lengths(model, length)}
    source.windows(min(tried), 0)
    returning = returned_by(model)
    scored = over(tried.values() if _has_logits(model) else [], desc="lengths of prompts")
    gates = tuple(gate(model, one) for one in scored)
    most = max((one.gain.value for one in gates if one.copies), default=nan)
    copying = [one.length for one in gates if one.copies and one.gain.value >= MUCH * most]
    at = max(tried, key=lambda one: _preference(one, tried[one].distinct, one in copying))
    prompts = source.prompts(TESTED, at, 2)
    scores, sink = choose(source, at, seeds, over)
    groups = _kv_heads(model, sink.shape[1])
    known = Found(gates, at, prompts.order, prompts.distinct, scores, sink, {}, None, {}, groups)
    right = tuple(sorted({*known.attending("induction"), *known.attending("retrieval")}))  # cover for each other
    sets = {kind: tuple(some) if kind == "duplicate" else right for kind in WHOLE if (some := known.attending(kind))}
    if not gates or returning is not None:
        return known._replace(causes=dict.fromkeys(sets))
    if at not in copying:
        return known._replace(causes={kind: Cause(heads, UNKNOWN, nan, (), True) for kind, heads in sets.items()})
    ablation = Ablation(model, prompts, sink.shape, seed, over)
    by_set = {heads: ablation.cause(heads) for heads in dict.fromkeys(sets.values())}
    known = known._replace(causes={kind: by_set[heads] for kind, heads in sets.items()})
    if known.whole_heads:
        return known
    carriers = ablation.carriers()
    return known._replace(carriers=carriers, looks=looks(model, prompts, carriers.heads))


def lengths(model: nn.Module | Returning, length: int | None) -> list[int]:
    """The lengths of prompts that are tried, all within the model's positions. Raises: ValueError for one beyond."""
    most = longest(model)
    if length is None:
        return [one for one in LENGTHS if most is None or one <= most] or [most]
    if most is not None and length > most:
        raise ValueError(f"a prompt of {length} tokens is beyond the {most} positions of the model")
    return [length]


def _preference(length: int, distinct: bool, copies: bool) -> tuple[bool, bool, int]:
    """The longest at which the model copies well, of prompts without replacement if there are any; else about 48."""
    return copies, distinct, length if copies else -abs(length - USUAL)


def _has_logits(model: nn.Module | Returning) -> bool:
    if isinstance(model, InductionModel | Returning):
        return isinstance(model, InductionModel)
    return model.get_output_embeddings() is not None


def _kv_heads(model: nn.Module | Returning, n_heads: int) -> int:
    if isinstance(model, InductionModel):
        return model.blocks[0].attention.n_kv_heads
    if returned_by(model) is not None:
        config = getattr(model, "config", None)
        return getattr(config and config.get_text_config(), "num_key_value_heads", None) or n_heads
    from dynamics.hf import families

    return families.heads(model).n_kv_heads
