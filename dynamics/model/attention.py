"""KV-shift attention: softmax attention whose keys and values are mixed with those of the tokens before."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from dynamics.model import arguments, coefficients, forward
from dynamics.model.cache import KVCache
from dynamics.model.config import PROJECTED, Latent, Own, Past, Residual, Values, check_attention
from dynamics.model.heads import COEFFICIENTS
from dynamics.model.past import beginnings, parameter
from dynamics.model.positions import Layout
from dynamics.model.shift import document_runs
from dynamics.model.values import Earlier, has_projection, projects_keys, reads, shifts
from theory import alibi

OWN = Own()
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "latent_proj")
OTHERS = ("sinks", "lambdas", "share_vectors", "head_norm", "q_norm", "k_norm", "latent_norm")


class KVShiftAttention(nn.Module):
    """Softmax(scale Q K'^T + causal) V' W_o with K' = sum_j alpha_j Shift^j(K), V' = sum_j beta_j Shift^j(V).

    Source: KV shifting attention, Eq. 4-6 (the printed mask multiplies; an additive one is meant), Appendix M for the
    order shift then rotate, footnote 10 for windows 3 and 4, Appendix F.1 for "gate" and "clip", G for "qkv".
    Args:
        width, n_heads, n_kv_heads, head_dim: model width; query heads; key-value heads (default n_heads); width of a
            head (default width / n_heads).
        window: tokens mixed, 1..4, the token itself included.
        shift: what is mixed: "none", "k", "v", "kv" or "qkv".
        parameters: "free"; "gate" (sigmoid a, 1 - sigmoid a; window 2); "clip" (min(max(., 0), 1)).
        initial: law of the initial coefficients, "paper" or "matched" (as `coefficients.initial`).
        position: "rope", "alibi" or "none".
        sliding_window: keys that a query sees at most, its own included (sliding-window attention); None for all.
        scale: multiplies the scores, default 1 / sqrt(head_dim), of half in "differential"; the paper's 1 / sigma.
        weights: "softmax"; "plus_one", e^x / (1 + sum e^x); "sink", e^x / (e^s + sum e^x), s (n_heads,) learnt, at
            first 0; "gate", softmax whose output is multiplied by sigmoid(W x), one number a head; "differential", two
            softmaxes of half the head's channels each, the second subtracted lambda times, and the head's output normed
            (arXiv:2410.05258); "selective", logits of all heads lowered by what the first gave a key so far
            (arXiv:2410.02703).
        causal: whether a token sees those up to itself alone, or all.
        values, layer: what layer number `layer`, from 0, reads of earlier ones; `dynamics.model.values`.
        start: what is found before the first token of a document: "zero"; "carried", what is shifted, and no more, goes
            on from the document before in the row; "learnt", one vector at every place before, at first 0, of raw
            projections (in window 2 the vector for queries has no effect if the first token attends to one key and
            there is no sink, since its softmax is then 1).
        past: how projected queries, keys and values are mixed with those before; `dynamics.model.past`.
        qk_norm: whether queries and keys are normed before they are rotated, each head (in differential attention each
            half of one) by its root mean square, with a gain a channel for all heads.
        latent: what keys and values are projected from, if not from x (`config.Latent`).
        generator: draws every initial value.
    alpha and beta have shape (n_kv_heads, window), gamma (n_heads, window), column 0 for the token itself; a gate has
    one column. What is not shifted has None. Initially alpha_1.. ~ U(0, 1) and the last is 1 - the sum of the others.
    Raises: ValueError for an argument outside these.
    """

    def __init__(
        self,
        width: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        head_dim: int | None = None,
        window: int = 2,
        shift: str = "kv",
        parameters: str = "free",
        initial: str = "paper",
        position: str = "rope",
        rope_base: float = 10000.0,
        sliding_window: int | None = None,
        scale: float | None = None,
        weights: str = "softmax",
        causal: bool = True,
        values: Values = OWN,
        layer: int = 0,
        past: tuple[Past, ...] = (),
        start: str = "zero",
        qk_norm: bool = False,
        latent: Latent | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads, head_dim = arguments.sizes(width, n_heads, n_kv_heads, head_dim)
        chosen = window, shift, parameters, position, head_dim, rope_base, scale, sliding_window, weights, causal, start
        arguments.choices(*chosen)
        check_attention(weights, head_dim, position, causal, values, qk_norm, latent)
        coefficients.check_law(initial)
        self.width, self.n_heads, self.n_kv_heads, self.head_dim = width, n_heads, n_kv_heads, head_dim
        self.window, self.shift, self.parameters_kind = window, shift, parameters
        self.position, self.rope_base, self.sliding_window = position, rope_base, sliding_window
        size = head_dim / (2 if weights == "differential" else 1)
        self.scale = 1.0 / math.sqrt(size) if scale is None else float(scale)
        own, keys = partial(has_projection, values, layer), projects_keys(values, layer)
        self.q_proj = _linear(width, n_heads * head_dim, generator) if own("query") else None
        source, key_dim = (width, head_dim) if latent is None else (latent.size, head_dim - latent.rope)
        self.k_proj = _linear(source, n_kv_heads * key_dim, generator) if own("key") else None
        self.v_proj = _linear(source, n_kv_heads * head_dim, generator) if own("value") else None
        self.o_proj = _linear(n_heads * head_dim, width, generator)
        for name, letter in zip(COEFFICIENTS.values(), "kvq", strict=True):
            shifted, heads = shift != "none" and letter in shift, n_heads if letter == "q" else n_kv_heads
            shifted = shifted and (letter != "v" or shifts(values, layer)) and (letter != "k" or keys)
            drawn = coefficients.initial(heads, window, parameters, generator, initial) if shifted else None
            self.register_parameter(name, nn.Parameter(drawn) if shifted else None)
        self.kind, self.causal, self.values, self.layer = weights, causal, values, layer
        self.gate_proj = _linear(width, n_heads, generator) if weights == "gate" else None
        self.sinks = nn.Parameter(torch.zeros(n_heads)) if weights == "sink" else None
        self.pasts = tuple(mixing for mixing in past if mixing.at in PROJECTED)
        sizes = {"query": n_heads * head_dim, "key": n_kv_heads * head_dim, "value": n_kv_heads * head_dim}
        started = {mixing.at: parameter(mixing, sizes[mixing.at]) for mixing in self.pasts}
        self.past = nn.ParameterDict({name: weight for name, weight in started.items() if weight is not None})
        self.start_kind, self.past_start = start, beginnings(start, {name: sizes[name] for name in started})
        mixed = {name: getattr(self, held) is not None and window > 1 for name, held in COEFFICIENTS.items()}
        self.start = beginnings(start, {name: (sizes[name] // head_dim, head_dim) for name in mixed if mixed[name]})
        learnt = isinstance(values, Residual) and values.learnt and reads(values, layer)
        self.lambdas = nn.Parameter(torch.tensor([values.lambda1, values.lambda2])) if learnt else None
        self.qk_norm, self.latent = qk_norm, latent
        self._extra(keys, generator)
        # Python floats: a buffer would be rounded to float32 on its way to a float64 model.
        self.slopes = alibi.slopes(n_heads) if position == "alibi" else None
        # Set by `attention_function.replaced`: partial(function, layer).
        self.function: partial[Tensor] | None = None

    def _extra(self, keys: bool, generator: torch.Generator | None) -> None:
        """What differential attention, normed queries and keys, and latents have; keys: whether any are projected."""
        halves = self.head_dim // (2 if self.kind == "differential" else 1)
        latent = self.latent if keys else None
        size = 0 if latent is None else latent.size + latent.rope
        self.latent_proj = None if latent is None else _linear(self.width, size, generator)
        vectors = torch.empty(4, halves).normal_(0, 0.1, generator=generator) if self.kind == "differential" else None
        gains = {
            "head_norm": self.head_dim if self.kind == "differential" else 0,
            "q_norm": halves if self.qk_norm else 0,
            "k_norm": halves if self.qk_norm and keys else 0,
            "latent_norm": 0 if latent is None or not latent.norm else latent.size,
        }
        self.share_vectors = None if vectors is None else nn.Parameter(vectors)
        for name, channels in gains.items():
            self.register_parameter(name, nn.Parameter(torch.ones(channels)) if channels else None)

    def alpha_mix(self) -> Tensor:
        """Effective key coefficients, (n_kv_heads, window); (1, 0, ..) where keys are not shifted."""
        return self._mixture(self.alpha, self.n_kv_heads)

    def beta_mix(self) -> Tensor:
        """Effective value coefficients, (n_kv_heads, window); (1, 0, ..) where values are not shifted."""
        return self._mixture(self.beta, self.n_kv_heads)

    def gamma_mix(self) -> Tensor:
        """Effective query coefficients, (n_heads, window); (1, 0, ..) where queries are not shifted."""
        return self._mixture(self.gamma, self.n_heads)

    def forward(
        self,
        x: Tensor,
        *,
        query_index: Tensor | None = None,
        segment_ids: Tensor | None = None,
        padding: Tensor | None = None,
        cache: KVCache | None = None,
        earlier: Earlier | None = None,
    ) -> Tensor:
        """Attend; one output a token, or one a sequence with query_index.

        Args:
            x: (batch, length, width).
            query_index: (batch,) integers in 0..length-1: compute the output there only.
            segment_ids: (batch, length) integers: packed documents, each as if alone.
            padding: (batch,) left pads of each sequence, never attended to nor shifted in; their own output is zero.
                With a cache it is given once, with the first chunk, and may exceed that chunk.
            cache: holds what came before x and takes x in; excludes query_index and segment_ids.
            earlier: what the layers below kept in this pass, for a layer that reads of them.
        Returns: (batch, length, width), or (batch, 1, width) with query_index.
        Raises: ValueError for shapes, dtypes or ranges other than these.
        """
        where = self._layout(x, query_index, segment_ids, padding, cache)
        if earlier is None and reads(self.values, self.layer):
            raise ValueError(f"layer {self.layer} reads what layers below it keep in the same pass: earlier is missing")
        if self.function is not None:
            arguments.replacement(self.function, where)
        return forward.attention(self.heads, self.own(), forward.States(x, x, x), where, cache, self.function, earlier)

    def weights(
        self,
        x: Tensor,
        *,
        query_index: Tensor | None = None,
        segment_ids: Tensor | None = None,
        padding: Tensor | None = None,
    ) -> Tensor:
        """Attention probabilities, (batch, n_heads, queries, keys), from the arguments of `forward`; zero for a pad."""
        if self.function is not None:
            raise ValueError("a replaced attention function has no probabilities to show")
        where = self._layout(x, query_index, segment_ids, padding, None)
        return forward.weights(self.heads, self.own(), forward.States(x, x, x), where)

    def extra_repr(self) -> str:
        """What `repr` shows beside the projections."""
        told = {"n_heads": self.n_heads, "n_kv_heads": self.n_kv_heads, "head_dim": self.head_dim, "shift": self.shift}
        if self.shift != "none":
            told |= {"window": self.window, "parameters": self.parameters_kind}
        told |= {"position": self.position}
        if self.position == "rope":
            told |= {"rope_base": self.rope_base}
        if self.sliding_window is not None:
            told |= {"sliding_window": self.sliding_window}
        if self.kind != "softmax":
            told |= {"weights": self.kind}
        if not self.causal:
            told |= {"causal": False}
        if self.pasts:
            told |= {"past": ", ".join(mixing.at for mixing in self.pasts)}
        if self.start_kind != "zero":
            told |= {"start": self.start_kind}
        if self.values != OWN:
            told |= {"values": self.values.kind, "layer": self.layer}
        if self.qk_norm:
            told |= {"qk_norm": True}
        if self.latent is not None:
            told |= {"latent": self.latent.size}
        return ", ".join(f"{name}={value!r}" for name, value in (told | {"scale": self.scale}).items())

    @property
    def heads(self) -> forward.Heads:
        """What this layer is, for `dynamics.model.forward`."""
        return forward.Heads(
            self.n_heads, self.n_kv_heads, self.head_dim, self.window, self.parameters_kind, self.position,
            self.rope_base, self.scale, self.slopes, self.kind, self.causal, self.values, self.layer, self.pasts,
            self.start_kind, self.qk_norm, self.latent,
        )  # fmt: skip

    def own(self) -> dict[str, Tensor]:
        """The parameters as they are now, by name; what this layer does not have has none."""
        names = [name for name in PROJECTIONS if getattr(self, name) is not None]
        projections = {f"{name}.weight": forward.weight_of(name, getattr(self, name)) for name in names}
        others = {name: getattr(self, name) for name in (*COEFFICIENTS.values(), *OTHERS)}
        for kept in ("past", "start", "past_start"):
            others |= {f"{kept}.{name}": weight for name, weight in getattr(self, kept).items()}
        return projections | {name: held for name, held in others.items() if held is not None}

    def _layout(self, x, query_index, segment_ids, padding, cache) -> Layout:
        arguments.inputs(x, self.width, query_index, segment_ids, padding, cache)
        if cache is not None and cache.length:
            padding = cache.padding
        rows = None if query_index is None else query_index.long()
        runs = None if segment_ids is None else document_runs(segment_ids, padding)
        offset = 0 if cache is None else cache.length
        if cache is not None and not self.causal:
            raise ValueError("a cache needs causal attention: here a token's output depends on those after it")
        return Layout(offset, x.shape[1], x.device, rows, runs, padding, self.sliding_window, self.causal)

    def _mixture(self, parameter: Tensor | None, heads: int) -> Tensor:
        if parameter is None:
            return coefficients.identity(heads, self.window, self.q_proj.weight)
        return coefficients.effective(parameter, self.parameters_kind)


def _linear(inputs: int, outputs: int, generator: torch.Generator | None) -> nn.Linear:
    """nn.Linear without bias and with its usual initial law, drawn from the generator."""
    linear = nn.utils.skip_init(nn.Linear, inputs, outputs, bias=False, device=torch.get_default_device())
    nn.init.kaiming_uniform_(linear.weight, a=math.sqrt(5.0), generator=generator)
    return linear
