"""A decode step of a whole model with the Razor cache, against transformers' DynamicCache; and the peak of a prefill.

Models: the shipped text model (ALiBi, as many key-value heads as query heads), whose baseline keeps its keys in a
DynamicCache and reads them by torch's fused attention; a random Llama of 8 layers, 512 wide, with one or two
key-value heads. 15 % of the heads, rounded up, are kept whole, spread over the layers; the others keep 4 sinks, a
window of max(128, n / 5) and one token for the rest. "default" is the plan's own window, max(4000, n / 5).
A step is the median one. A layer is laid out anew once in ROOM steps, which the median does not see: so ROOM steps are
timed, and their sum is reported beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from math import ceil
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from benchmarks.row import Comparison, Guard, Limit, Row, compare
from benchmarks.timing import interleave, peak_in_fresh_process
from dynamics.hf.cache import razor
from dynamics.model.attention_function import replaced
from dynamics.model.cache import KVCache
from dynamics.razor.cache import RazorCache
from dynamics.razor.logits import Logits
from dynamics.razor.plan import ROOM, RazorPlan
from dynamics.training.checkpoint import shipped

SHARE = 0.15  # of the heads, kept whole
CONTEXTS = (256, 512, 2048, 4096)
TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
KV_HEADS = (1, 2)
PREFILL = {"fp32": 4096, "fp16": 1024, "bf16": 4096}  # half precision without its instructions is slow
Step = Callable[[], Tensor]


def measure(quick: bool) -> Row:
    contexts, types = ((24,), ("fp32",)) if quick else (CONTEXTS, tuple(TYPES))
    rounds = 3 if quick else ROOM
    comparisons = []
    with torch.no_grad():
        for name in types:
            for kv_heads in KV_HEADS:
                own = llama(kv_heads, TYPES[name], quick)
                ours = shared(own)
                for n in contexts:
                    label = f"8 layers, {kv_heads} kv, {name}, {n}"
                    comparisons += compared(label, n, rounds, llama_steps(own, ours, n, {"buffer": 128}))
                if kv_heads == 2 and name == "fp32" and not quick:
                    for n in (2048, 4096):
                        label = f"the same, default, {name}, {n}"
                        comparisons += compared(label, n, rounds, llama_steps(own, ours, n, {}))
            for n in contexts:
                comparisons += compared(f"text model, {name}, {n}", n, rounds, text_steps(TYPES[name], n))
        guards = [Guard("logits, nothing dropped", unlike(quick), 1e-3)]
    limits = [prefill_limit(name, 64 if quick else PREFILL[name]) for name in types]
    return Row("razor", comparisons, limits, guards)


def compared(label: str, n: int, rounds: int, opened: Any) -> list[Comparison]:
    """The median step, and all of them."""
    with opened as steps:
        times = interleave(steps, rounds)
    step = compare(times, "DynamicCache", label, 1 / 1.05 if n < 2048 else 1.0)
    own, ours = (sum(times.rounds[name]) for name in ("DynamicCache", "ours"))
    return [step, Comparison(f"{label}, {rounds} steps", own, ours, own / ours)]


def prefill_limit(name: str, n: int) -> Limit:
    """Peak of a prefill over that with a DynamicCache, each in a process of its own."""
    own, ours = (peak_in_fresh_process("benchmarks.razor", "prefill", kind, name, str(n)) for kind in ("own", "razor"))
    return Limit(f"DynamicCache's peak, {n} tokens, {name}", ours / own, 1.2)


def prefill(kind: str, name: str, n: str) -> Callable[[], object]:
    """A prefill of the model with two key-value heads, ready to run once."""
    model, ids = llama(2, TYPES[name]), tokens(int(n))
    model(tokens(8))  # what is allocated once

    def run() -> object:
        with torch.no_grad():
            if kind == "own":
                cache = DynamicCache(config=model.config)
                return model(ids, past_key_values=cache, logits_to_keep=1).logits, cache
            with razor(model, plan_of(8, 8, 2, int(n), {"buffer": 128})) as cache:
                return model(ids, past_key_values=cache, logits_to_keep=1).logits, cache

    return run


def plan_of(n_layers: int, n_heads: int, n_kv_heads: int, prompt: int, settings: dict[str, Any]) -> RazorPlan:
    """15 % of the key-value heads whole, spread over the layers."""
    total = n_layers * n_kv_heads
    chosen = [i * total // ceil(SHARE * total) for i in range(ceil(SHARE * total))]
    full = tuple(frozenset(i % n_kv_heads for i in chosen if i // n_kv_heads == layer) for layer in range(n_layers))
    return RazorPlan(n_heads, n_kv_heads, full, prompt=prompt, **settings)


def llama(n_kv_heads: int, dtype: torch.dtype, small: bool = False) -> Any:
    width = 64 if small else 512
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=1024, hidden_size=width, intermediate_size=4 * width, num_hidden_layers=8, num_attention_heads=8,
        num_key_value_heads=n_kv_heads, max_position_embeddings=8192, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config).to(dtype).eval()


def shared(model: Any) -> Any:
    """A copy of the model with the same weights in memory."""
    return deepcopy(model, {id(weight): weight for weight in model.parameters()})


def tokens(length: int, vocab: int = 1000) -> Tensor:
    return torch.randint(vocab, (1, length), generator=torch.Generator().manual_seed(0))


@contextmanager
def llama_steps(own: Any, ours: Any, n: int, settings: dict[str, Any]) -> Iterator[dict[str, Step]]:
    """The next step of a decode after n random keys, with either cache."""
    heads = own.config.num_key_value_heads
    with razor(ours, plan_of(8, 8, heads, n, settings)) as cache:
        whole, token = DynamicCache(config=own.config), tokens(1)
        for layer in range(8):
            query, key, value = random_states(8, heads, n, own.config.head_dim, own.dtype, layer)
            whole.update(key, value, layer)
            hold(cache.razor_cache, layer, query, key, value)
        yield {
            "DynamicCache": lambda: own(token, past_key_values=whole).logits,
            "ours": lambda: ours(token, past_key_values=cache).logits,
        }


def hold(cache: Any, layer: int, query: Tensor, key: Tensor, value: Tensor) -> None:
    """The state of a layer after a prompt, without the attention of its queries."""
    (part,), n = cache._opened(layer, 1, None, None), key.shape[2]
    part.append(key, value)
    part.held(query[:, :, -1:].unflatten(1, (key.shape[1], -1)), Logits(0.1), range(n - 1, n))
    part.n_tokens = cache._seen[layer] = n


def random_states(n_heads: int, n_kv_heads: int, n: int, dim: int, dtype: torch.dtype, seed: int) -> list[Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(1, heads, n, dim, generator=draw).to(dtype) for heads in (n_heads, n_kv_heads, n_kv_heads)]


class OverDynamicCache:
    """Full attention with ALiBi over transformers' DynamicCache: an `AttentionFunction` with memory."""

    stateful = True

    def __init__(self) -> None:
        self.cache, self.bias = DynamicCache(), torch.zeros(())

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        key, value = self.cache.update(key, value, layer)
        if slopes is not None and layer == 0:  # one bias a step, as in transformers
            count, n = query.shape[2], key.shape[2]
            distance = torch.arange(n - count, n)[:, None] - torch.arange(n)
            self.bias = (-slopes[:, None, None] * distance).masked_fill(distance < 0, -torch.inf).to(query.dtype)[None]
        return F.scaled_dot_product_attention(query, key, value, attn_mask=self.bias, scale=scale)


@contextmanager
def text_steps(dtype: torch.dtype, n: int) -> Iterator[dict[str, Step]]:
    model = shipped("alibi-text").model.to(dtype).eval()
    config, words = model.config, tokens(n + 1, 150)
    plan = plan_of(config.n_layers, config.n_heads, config.n_kv_heads or config.n_heads, n, {"buffer": 128})
    steps: dict[str, Step] = {}
    with ExitStack() as stack:
        for name, function in (("DynamicCache", OverDynamicCache()), ("ours", RazorCache(plan))):
            twin, caches = deepcopy(model), [KVCache() for _ in model.blocks]
            stack.enter_context(replaced(twin, function))
            twin(words[:, :-1], caches=caches)
            steps[name] = lambda twin=twin, caches=caches: twin(words[:, -1:], caches=caches)
        yield steps


def unlike(quick: bool) -> float:
    """Largest difference of a logit of the two caches, nothing being dropped."""
    model, ids = llama(2, torch.float32, quick), tokens(40)
    whole = DynamicCache(config=model.config)
    expected = by_parts(model, ids, whole)
    with razor(model, plan_of(8, 8, 2, 0, {})) as cache:
        return float((by_parts(model, ids, cache) - expected).abs().max())


def by_parts(model: Any, ids: Tensor, cache: Any) -> Tensor:
    """Logits of a prompt of 30 tokens and of ten steps."""
    return torch.cat([model(part, past_key_values=cache).logits for part in ids.split([30, *[1] * 10], dim=1)], 1)
