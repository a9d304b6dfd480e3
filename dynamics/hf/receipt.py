"""Generation of a transformers model with a receipt for every step, or with a cache that keeps what it must."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch import Tensor

from dynamics.hf import families
from dynamics.hf.cache import GenerationCache, razor
from dynamics.hf.versions import PreTrainedModel
from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan
from dynamics.razor.promise import PromiseCache
from dynamics.razor.receipt import Receipts
from dynamics.razor.receipt_layer import Weighed


@contextmanager
def receipts(
    model: PreTrainedModel,
    plan: RazorPlan,
    weighed: Sequence[Weighed] | None = None,
    measure: bool = False,
    centres: Mapping[int, Tensor] | None = None,
) -> Iterator[GenerationCache]:
    """As `cache.razor`, with a receipt beside each output, which stays what it is.

    with receipts(model, plan, weighed(open_checkpoint(folder))) as cache:
        model.generate(ids, past_key_values=cache, max_new_tokens=100)
        cache.razor_cache.receipt().layers
    A prompt's tokens are steps too. Args: weighed, from `dynamics.scope.receipt`, None for receipts from the extents of
    evicted tokens alone; measure: keep everything, and compute the full attention beside each output.
    Raises: ValueError as `razor` and `Receipts`.
    """
    with razor(model, plan, centres) as cache:
        _in_place(cache, lambda held: Receipts(held, weighed, measure))
        yield cache


@contextmanager
def promised(model: PreTrainedModel, weighed: Sequence[Weighed], error: float) -> Iterator[GenerationCache]:
    """The model with a `PromiseCache`: `cache.razor_cache.kept_share()` says what it had to keep.

    Args: weighed, from `dynamics.scope.receipt`; error, as `PromiseCache`. Raises: ValueError as `razor` and
    `PromiseCache`, and for another number of layers or heads.
    """
    found = families.heads(model)
    shape = len(weighed), len(weighed[0].queries.centre) if weighed else 0
    if shape != (found.n_layers, found.n_heads):
        raise ValueError(f"the weights are of {shape[0]} layers of {shape[1]} heads, the model has {found.n_layers} of "
                         f"{found.n_heads}")  # fmt: skip
    every = frozenset(range(found.n_kv_heads))
    plan = RazorPlan(found.n_heads, found.n_kv_heads, (every,) * found.n_layers, compensation="none")
    with razor(model, plan) as cache:
        _in_place(cache, lambda _: PromiseCache(weighed, found.n_kv_heads, error))
        yield cache


def _in_place(cache: GenerationCache, make: Callable[[RazorCache], Receipts | PromiseCache]) -> None:
    """Put make(the Razor cache) in its place, and again after each reset: nothing else knows what is called there."""
    forget = cache.reset

    def reset() -> None:
        forget()
        cache.razor_cache = make(cache.razor_cache)

    cache.reset = reset
    cache.razor_cache = make(cache.razor_cache)
