"""Generation of a transformers model with the Razor cache and a receipt for every step, layer and head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch import Tensor
from transformers import PreTrainedModel

from dynamics.hf.cache import GenerationCache, razor
from dynamics.razor.plan import RazorPlan
from dynamics.razor.receipt import Receipt, Receipts
from dynamics.razor.receipt_layer import Weighed


class WithReceipts:
    """The cache to generate with, and what it has said: `cache` for `generate`, `receipt()` at any time."""

    def __init__(self, cache: GenerationCache, weighed: Sequence[Weighed] | None, measure: bool) -> None:
        self.cache, self.weighed, self.measure = cache, weighed, measure
        self._forget = cache.reset
        cache.reset = self.reset
        self._begin()

    def _begin(self) -> None:
        # the one place where receipts meet the cache: it calls what it holds, and never asks what that is
        self.receipts = Receipts(self.cache.razor_cache, self.weighed, self.measure)
        self.cache.razor_cache = self.receipts

    def reset(self) -> None:
        """Forget all tokens and what was said of them."""
        self._forget()
        self._begin()

    def receipt(self) -> Receipt:
        """By (batch, steps, layers, heads), a prompt's tokens being steps too. Raises: ValueError before any."""
        return self.receipts.receipt()


@contextmanager
def receipts(
    model: PreTrainedModel,
    plan: RazorPlan,
    weighed: Sequence[Weighed] | None = None,
    measure: bool = False,
    centres: Mapping[int, Tensor] | None = None,
) -> Iterator[WithReceipts]:
    """As `cache.razor`, with a receipt beside each output, which stays what it is.

    with receipts(model, plan, weighed(open_checkpoint(folder))) as held:
        model.generate(ids, past_key_values=held.cache, max_new_tokens=100)
        held.receipt().layers
    Args: weighed, from `dynamics.scope.receipt`, None for receipts from the extents of evicted tokens alone; measure:
        keep everything, and compute the full attention beside each output. Raises: ValueError as `razor`, `Receipts`.
    """
    with razor(model, plan, centres) as cache:
        yield WithReceipts(cache, weighed, measure)
