"""Generation of a transformers model with the Razor cache: `model.generate` with past_key_values that drop tokens.

Needs the extra `[hf]`; supported models are those of `dynamics.hf.families`. transformers asks its cache for positions
and for lengths, and offers it the new keys; these go on to the attention untouched, and only the Razor cache keeps any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn

from dynamics.hf import attention, families
from dynamics.hf.read import Read
from dynamics.hf.versions import Cache, CacheLayerMixin, PreTrainedModel
from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan
from dynamics.weights.families import FAMILIES

GROWING_ANGLES = ("dynamic", "longrope")


@contextmanager
def razor(
    model: PreTrainedModel, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None
) -> Iterator[GenerationCache]:
    """The model with a Razor cache in place of its attention, and the cache to generate with.

    with razor(model, plan) as cache:
        model.generate(ids, past_key_values=cache, max_new_tokens=100)
    Greedy search, sampling, beams, chunked prefill and a further call on a longer text give what the model's own masked
    full attention (`dynamics.razor.masked`) gives on the whole text at each step; of a padded batch each sequence as if
    it were alone, if its position_ids are (`generate` makes them so). A call of the model takes pads on either side;
    `generate` goes on from the last column, so its pads stand on the left. A layer with a sliding window keeps that,
    for every head, and the plan has no say in it.
    A call of `generate` on a used cache must be on a text that begins with what was read. It is compared by token ids;
    not compared is a call of the model itself, a text of which only the new part is given (with an attention_mask for
    all of it), and what follows embeddings given in place of ids. A copy (`copy.deepcopy`) goes on by itself, so that
    texts may share what they begin with.
    On exit the model has its own attention again and the cache and its copies can no longer be used.
    Raises: ValueError as `attention.replaced`, for a plan of another shape than the model's, for a model that is not
        causal, for compensation "alibi" without slopes, and for rotary angles that change with the length of the text;
        `generate` for pads on the right, and for more tokens than a model with learned positions has places for.
    """
    with kept(model, plan, lambda: RazorCache(plan, centres)) as cache:
        yield cache


@contextmanager
def kept(model: PreTrainedModel, plan: RazorPlan, make: Callable[[], Any]) -> Iterator[GenerationCache]:
    """As `razor`, with what `make` makes in place of the Razor cache of this plan."""
    found = families.heads(model)
    shape = len(plan.full), plan.n_heads, plan.n_kv_heads
    if shape != (found.n_layers, found.n_heads, found.n_kv_heads):
        raise ValueError(
            f"the plan is for {shape[0]} layers of {shape[1]} heads and {shape[2]} key-value heads, "
            f"the model has {found.n_layers} of {found.n_heads} and {found.n_kv_heads}"
        )
    if not found.causal:
        raise ValueError(f"a token of {found.family} sees those after it: a cache is for causal attention")
    if plan.compensation == "alibi" and found.slopes is None:
        raise ValueError(f"compensation 'alibi' needs slopes, {found.family} has none")
    for rotation in _rotations(getattr(model.config, "rope_parameters", None) or {}):
        if rotation in GROWING_ANGLES:
            raise ValueError(
                f"rotary angles of type {rotation!r} change with the length: kept keys would be turned wrongly"
            )
    place = _Place()
    cache = place.current = GenerationCache(place, plan, make)
    settings = getattr(model, "generation_config", None)
    guard = model.register_forward_pre_hook(place.check_call, with_kwargs=True)
    before = vars(model).get("generate")
    try:
        if hasattr(model, "generate"):
            model.generate = _watched(model, place)
        if settings is not None:
            # MPT's is False.
            model.generation_config = copy(settings)
            model.generation_config.use_cache = True
        with attention.replaced(model, place):
            place.active = True
            yield cache
    finally:
        place.active = False
        guard.remove()
        vars(model).pop("generate", None)
        if before is not None:
            model.generate = before
        if settings is not None:
            model.generation_config = settings


def _watched(model: PreTrainedModel, place: _Place) -> Callable:
    """The same call, refused if its text does not go on from what the cache has read, or cannot be gone on with."""
    generate = model.generate

    @wraps(generate)
    def checked(inputs: Tensor | None = None, *arguments: Any, **named: Any) -> Any:
        prompt = named.get("input_ids") if inputs is None else inputs
        mask = named.get("attention_mask")
        cache = place.given(named)
        used = cache is not None and cache.get_seq_length()
        if used and prompt is not None and (mask is None or mask.shape[1] <= prompt.shape[1]):
            cache.read.check_prompt(prompt)
        if cache is not None and mask is not None and not mask[:, -1].all():
            raise ValueError("a sequence ends in a pad, and generate would go on from there: pad on the left")
        if cache is not None and prompt is not None:
            _check_room(model, prompt.shape[1] if mask is None else int(mask.sum(1).max()), *arguments[:1], **named)
        return generate(inputs, *arguments, **named)

    return checked


def _check_room(model: PreTrainedModel, length: int, config: Any = None, **named: Any) -> None:
    """Raise ValueError where a text of this length and its new tokens outrun learned positions; others have no end."""
    if FAMILIES[model.config.model_type].positions is None:
        return
    config = config or named.get("generation_config") or model.generation_config
    new, total = (named.get(name, getattr(config, name)) for name in ("max_new_tokens", "max_length"))
    total = (total or 0) if new is None else length + new
    most = model.config.max_position_embeddings
    if total - 1 > most:  # the last token is not read
        asked = f"{length} tokens and up to {total - length} new ones need {total - 1} positions"
        raise ValueError(f"{asked}, the model has {most}: ask for fewer new tokens")


def _rotations(given: Mapping[str, object]) -> list[object]:
    """The types of rotary angles, of all layers or by kind of layer."""
    return [given.get("rope_type"), *(one.get("rope_type") for one in given.values() if isinstance(one, Mapping))]


class _Place:
    """The `AttentionFunction` of the model: a cache that was made for it, or a copy of one, reads what is offered."""

    stateful = True

    def __init__(self) -> None:
        self.active = False
        self.current: GenerationCache  # of the call that is being read
        self.offered: tuple[GenerationCache, Tensor] | None = None

    def __deepcopy__(self, memo: dict) -> _Place:
        """Itself: copies of a cache are read by the same model."""
        return self

    def given(self, named: Mapping[str, Any]) -> GenerationCache | None:
        """The cache among the arguments of a call, if it was made here."""
        found = (named.get(name) for name in ("past_key_values", "cache"))  # "cache" is the name since 5.24
        return next((one for one in found if isinstance(one, GenerationCache) and one.place is self), None)

    def check_call(self, model: nn.Module, arguments: tuple, named: dict) -> None:
        """See which ids are next. Raise ValueError where the whole text would be read on top of what is held."""
        if (cache := self.given(named)) is None:
            return
        if named.get("use_cache") is False:
            raise ValueError("use_cache is False: the whole text would be read again at every step, and counted twice")
        self.current, cache.coming = cache, named.get("input_ids", arguments[0] if arguments else None)

    def check_pads(self, mask: Tensor | None, seen: int, new: int) -> None:
        """Raise ValueError where a token that was read is a pad now, or the other way round."""
        self.current.read.check_pads(mask, seen, new)

    @torch.compiler.disable  # what is held grows with each step, and each would be compiled anew
    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor, **more: Any) -> Tensor:
        offered, self.offered = self.offered, None
        if offered is None or offered[1] is not key:
            raise ValueError("the model was called without this cache: give it as past_key_values")
        cache = offered[0]
        found = cache.razor_cache(layer, query, key, value, **more)
        if layer == 0:
            cache.read.note(cache.coming)
            cache.coming = None
        return found


class GenerationCache(Cache):
    """A transformers cache without keys of its own: what its model reads goes on to the Razor cache behind it.

    Made by `razor`; `razor_cache` says how many tokens were seen (`n_tokens`) and what is held (`nbytes`).
    """

    def __init__(self, place: _Place, plan: RazorPlan, make: Callable[[], Any]) -> None:
        self.place, self.plan, self.make = place, plan, make
        self.razor_cache, self.read = make(), Read()
        self.coming: Tensor | None = None  # ids of the call that is about to be read
        super().__init__(layers=[_Layer(self, layer) for layer in range(len(plan.full))])

    def __copy__(self) -> GenerationCache:
        """As `copy.deepcopy`: two caches of the same tokens would both go on with both texts."""
        return deepcopy(self)

    def nbytes(self) -> int:
        """Bytes stored, `plan.razor_bytes` of them; allocated are at most `plan.spare_bytes` more."""
        return self.razor_cache.nbytes()

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Replace sequence b by sequence beam_idx[b]."""
        self.razor_cache.reorder(beam_idx)
        self.read.reorder(beam_idx)

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep these sequences, in this order."""
        self.reorder_cache(indices)

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Refused: the prompt is repeated before it is read."""
        raise ValueError("a Razor cache is not repeated: repeat the prompt")

    def reset(self) -> None:
        """Forget all tokens."""
        self.razor_cache, self.read = self.make(), Read()

    def crop(self, tokens_to_remove: int) -> None:
        """Refused: tokens that the cache has dropped cannot be restored when a later token is removed."""
        raise ValueError("a Razor cache cannot be cropped: generate without an assistant and without lookup")


class _Layer(CacheLayerMixin):
    """What transformers asks of one layer: how many tokens it has seen; new keys pass through."""

    def __init__(self, cache: GenerationCache, layer: int) -> None:
        super().__init__()
        self.cache, self.layer = cache, layer

    def update(self, key_states: Tensor, value_states: Tensor, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        if not self.cache.place.active:
            raise ValueError("this Razor cache is used outside of its `with razor(model, plan)`")
        before, first = self.get_seq_length(), self.cache.razor_cache.n_tokens(0)
        if self.layer and before + key_states.shape[2] != first:
            raise ValueError(f"layer {self.layer} has {before} tokens, layer 0 {first}: a call broke off, use reset()")
        self.cache.place.offered = self.cache, key_states
        return key_states, value_states

    def get_seq_length(self) -> int:
        return self.cache.razor_cache.n_tokens(self.layer)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.get_seq_length() + query_length, 0

    def get_max_length(self) -> int:
        return -1

    get_max_cache_shape = get_max_length  # its name in earlier versions

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None: ...
