"""Generation of a transformers model with a receipt for every step, or with a cache that keeps what it must."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dynamics.hf import attention, families
from dynamics.hf.cache import GenerationCache, kept
from dynamics.hf.families import Heads
from dynamics.hf.versions import PreTrainedModel
from dynamics.razor.cache import RazorCache
from dynamics.razor.plan import RazorPlan
from dynamics.razor.promise import PromiseCache
from dynamics.razor.receipt import Receipts
from dynamics.razor.weighed import Weighed, fixed_state


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
    Raises: ValueError as `razor` and `Receipts`, and as `check_weighed`.
    """
    if weighed is not None:
        check_weighed(model, weighed)
    with kept(model, plan, lambda: Receipts(RazorCache(plan, centres), weighed, measure)) as cache:
        yield cache


@contextmanager
def promised(model: PreTrainedModel, weighed: Sequence[Weighed], error: float) -> Iterator[GenerationCache]:
    """The model with a `PromiseCache`: `cache.razor_cache.kept_words()` says what it had to keep.

    Args: weighed, from `dynamics.scope.receipt`; error, as `PromiseCache`. Raises: ValueError as `razor` and
    `PromiseCache`, and as `check_weighed`.
    """
    found = check_weighed(model, weighed)
    every = frozenset(range(found.n_kv_heads))
    plan = RazorPlan(found.n_heads, found.n_kv_heads, (every,) * found.n_layers, compensation="none")
    with kept(model, plan, lambda: PromiseCache(weighed, found.n_kv_heads, error)) as cache:
        yield cache


def check_weighed(model: PreTrainedModel, weighed: Sequence[Weighed]) -> Heads:
    """The attention of the model. Raises: ValueError unless it runs the weights that were weighed.

    What each layer makes of one fixed state is compared head by head, to a thousandth or as far as the type in which
    the model computes can tell: norms, adapters and quantised weights all change it.
    """
    found = families.heads(model)
    shape = len(weighed), len(weighed[0].queries.centre) if weighed else 0
    if shape != (found.n_layers, found.n_heads):
        raise ValueError(f"the weights are of {shape[0]} layers of {shape[1]} heads, the model has {found.n_layers} of "
                         f"{found.n_heads}")  # fmt: skip

    def compared(layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, **_: Any) -> Tensor:
        _compare(layer, weighed[layer], scale, {"queries": query, "keys": key, "values": value})
        return value.repeat_interleave(query.shape[1] // key.shape[1], dim=1)

    with ExitStack() as stack:
        for block in model.modules():
            if any(child in found.modules for child in block.children()):
                hook = block.register_forward_pre_hook(_entering_fixed, with_kwargs=True)
                stack.callback(hook.remove)
        stack.enter_context(attention.replaced(model, compared))
        stack.enter_context(torch.no_grad())
        model(torch.zeros(1, 1, dtype=torch.long, device=next(model.parameters()).device), use_cache=False)
    return found


def _entering_fixed(_: nn.Module, args: tuple, named: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The fixed state in place of what a layer would be given."""
    states = args[0] if args else named.pop("hidden_states")
    return (torch.from_numpy(fixed_state(states.shape[-1])).to(states).expand_as(states), *args[1:]), named


def _compare(layer: int, weighed: Weighed, scale: float, given: Mapping[str, Tensor]) -> None:
    if (probed := weighed.probed) is None:
        return
    runs = given["queries"].dtype
    if (unit := torch.finfo(runs).eps) > torch.finfo(getattr(torch, probed.dtype)).eps:
        runs = str(runs).removeprefix("torch.")
        raise ValueError(f"the weights were weighed for a model in {probed.dtype}, this one computes in {runs}: use "
                         f"weighed(checkpoint, {runs!r})")  # fmt: skip
    for role, wanted in weighed.expected(scale).items():
        found = given[role][0, :, 0].double().cpu().numpy()
        size = np.linalg.norm(wanted, axis=1)
        usual = np.maximum(size, np.sqrt((size**2).mean()))
        close = found.shape == wanted.shape and np.linalg.norm(found - wanted, axis=1) <= (8 * unit + 1e-3) * usual
        if not np.all(close):
            norms = f"{np.linalg.norm(found):.4g}, not {np.linalg.norm(wanted):.4g}"
            raise ValueError(f"layer {layer}: {role} are not those of the weights that were weighed (norm {norms}): "
                             "weigh the model as it runs")  # fmt: skip
