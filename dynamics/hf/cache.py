"""Generation of a transformers model with the Razor cache: `model.generate` with past_key_values that drop tokens.

Needs the extra `[hf]`; supported models are those of `dynamics.hf.families`. transformers asks its cache for positions
and for lengths, and offers it the new keys; these go on to the attention untouched, and only the Razor cache keeps any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy

from torch import Tensor, nn

from dynamics.hf import attention, families
from dynamics.hf.versions import Cache, CacheLayerMixin, PreTrainedModel
from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan

GROWING_ANGLES = ("dynamic", "longrope")


@contextmanager
def razor(
    model: PreTrainedModel, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None
) -> Iterator[GenerationCache]:
    """The model with a Razor cache in place of its attention, and the cache to generate with.

    with razor(model, plan) as cache:
        model.generate(ids, past_key_values=cache, max_new_tokens=100)
    Greedy search, sampling, beams, chunked prefill and a further call on a longer text give what the model's own masked
    full attention (`dynamics.razor.masked`) gives on the whole text at each step. All sequences of a batch are
    equally long. On exit the model has its own attention again and the cache can no longer be used.
    Raises: ValueError as `attention.replaced`, for a plan of another shape than the model's, for compensation
        "alibi" without slopes, and for rotary angles that change with the length of the text.
    """
    found = families.heads(model)
    shape = len(plan.full), plan.n_heads, plan.n_kv_heads
    if shape != (found.n_layers, found.n_heads, found.n_kv_heads):
        raise ValueError(
            f"the plan is for {shape[0]} layers of {shape[1]} heads and {shape[2]} key-value heads, "
            f"the model has {found.n_layers} of {found.n_heads} and {found.n_kv_heads}"
        )
    if plan.compensation == "alibi" and found.slopes is None:
        raise ValueError(f"compensation 'alibi' needs slopes, {found.family} has none")
    for rotation in _rotations(getattr(model.config, "rope_parameters", None) or {}):
        if rotation in GROWING_ANGLES:
            raise ValueError(
                f"rotary angles of type {rotation!r} change with the length: kept keys would be turned wrongly"
            )
    cache = GenerationCache(plan, centres)
    settings = getattr(model, "generation_config", None)
    guard = model.register_forward_pre_hook(cache.check_call, with_kwargs=True)
    try:
        if settings is not None:
            # MPT's is False.
            model.generation_config = copy(settings)
            model.generation_config.use_cache = True
        with attention.replaced(model, cache):
            cache.active = True
            yield cache
    finally:
        cache.active = False
        guard.remove()
        if settings is not None:
            model.generation_config = settings


def _rotations(given: Mapping[str, object]) -> list[object]:
    """The types of rotary angles, of all layers or by kind of layer."""
    return [given.get("rope_type"), *(one.get("rope_type") for one in given.values() if isinstance(one, Mapping))]


class GenerationCache(Cache):
    """A transformers cache without keys of its own, and the `AttentionFunction` that reads the Razor cache behind it.

    Made by `razor`; `razor_cache` says how many tokens were seen (`n_tokens`) and what is held (`nbytes`).
    """

    stateful = True

    def __init__(self, plan: RazorPlan, centres: Mapping[int, Tensor] | None = None) -> None:
        self.plan, self.centres = plan, centres
        self.active = False
        self.razor_cache = RazorCache(plan, centres)
        super().__init__(layers=[_Layer(self, layer) for layer in range(len(plan.full))])

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        offered, self.layers[layer].offered = self.layers[layer].offered, None
        if offered is not key:
            raise ValueError("the model was called without this cache: give it as past_key_values")
        return self.razor_cache(layer, query, key, value, scale=scale, slopes=slopes)

    def check_call(self, model: nn.Module, arguments: tuple, named: dict) -> None:
        """Raise ValueError where `generate` is about to read the whole text again on top of what is held."""
        # "cache" is the name since 5.24.
        if any(named.get(name) is self for name in ("past_key_values", "cache")) and named.get("use_cache") is False:
            raise ValueError("use_cache is False: the whole text would be read again at every step, and counted twice")

    def nbytes(self) -> int:
        """Bytes held, `plan.razor_bytes` of them."""
        return self.razor_cache.nbytes()

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Replace sequence b by sequence beam_idx[b]."""
        self.razor_cache.reorder(beam_idx)

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep these sequences, in this order."""
        self.razor_cache.reorder(indices)

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Refused: the prompt is repeated before it is read."""
        raise ValueError("a Razor cache is not repeated: repeat the prompt")

    def reset(self) -> None:
        """Forget all tokens."""
        self.razor_cache = RazorCache(self.plan, self.centres)

    def crop(self, tokens_to_remove: int) -> None:
        """Refused: what a token made the cache drop does not come back when the token is taken back."""
        raise ValueError("a Razor cache cannot be cropped: generate without an assistant and without lookup")


class _Layer(CacheLayerMixin):
    """What transformers asks of one layer: how many tokens it has seen; new keys pass through."""

    def __init__(self, cache: GenerationCache, layer: int) -> None:
        super().__init__()
        self.cache, self.layer = cache, layer
        self.offered: Tensor | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        if not self.cache.active:
            raise ValueError("this Razor cache is used outside of its `with razor(model, plan)`")
        before, first = self.get_seq_length(), self.cache.razor_cache.n_tokens(0)
        if self.layer and before + key_states.shape[2] != first:
            raise ValueError(f"layer {self.layer} has {before} tokens, layer 0 {first}: a call broke off, use reset()")
        self.offered = key_states
        return key_states, value_states

    def get_seq_length(self) -> int:
        return self.cache.razor_cache.n_tokens(self.layer)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.get_seq_length() + query_length, 0

    def get_max_length(self) -> int:
        return -1

    get_max_cache_shape = get_max_length  # its name in earlier versions

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None: ...
