"""KV-shift attention: softmax attention whose keys and values are mixed with those of the tokens before."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from dynamics.model import arguments, coefficients
from dynamics.model.cache import KVCache
from dynamics.model.positions import Layout, alibi_bias, rotate
from dynamics.model.shift import document_runs, shift_back, shift_mix
from dynamics.model.softmax import attend, probabilities
from theory import alibi

NAMES = {"key": "alpha", "value": "beta", "query": "gamma"}


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
        scale: multiplies the scores, default 1 / sqrt(head_dim); the paper's 1 / sigma.
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
        scale: float | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads, head_dim = arguments.sizes(width, n_heads, n_kv_heads, head_dim)
        arguments.choices(window, shift, parameters, position, head_dim, rope_base, scale)
        self.width, self.n_heads, self.n_kv_heads, self.head_dim = width, n_heads, n_kv_heads, head_dim
        self.window, self.shift, self.parameters_kind = window, shift, parameters
        self.position, self.rope_base = position, rope_base
        self.scale = 1.0 / math.sqrt(head_dim) if scale is None else float(scale)
        self.q_proj = _linear(width, n_heads * head_dim, generator)
        self.k_proj = _linear(width, n_kv_heads * head_dim, generator)
        self.v_proj = _linear(width, n_kv_heads * head_dim, generator)
        self.o_proj = _linear(n_heads * head_dim, width, generator)
        for name, letter in zip(NAMES.values(), "kvq", strict=True):
            shifted, heads = shift != "none" and letter in shift, n_heads if letter == "q" else n_kv_heads
            start = coefficients.initial(heads, window, parameters, generator, initial) if shifted else None
            self.register_parameter(name, nn.Parameter(start) if shifted else None)
        # Python floats: a buffer would be rounded to float32 on its way to a float64 model.
        self.slopes = alibi.slopes(n_heads) if position == "alibi" else None
        # Set by `attention_function.replaced`: partial(function, layer).
        self.function: partial[Tensor] | None = None

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
    ) -> Tensor:
        """Attend causally; one output a token, or one a sequence with query_index.

        Args:
            x: (batch, length, width).
            query_index: (batch,) integers in 0..length-1: compute the output there only.
            segment_ids: (batch, length) integers: packed documents, each as if alone.
            padding: (batch,) left pads of each sequence, never attended to nor shifted in; their own output is zero.
                With a cache it is given once, with the first chunk, and may exceed that chunk.
            cache: holds what came before x and takes x in; excludes query_index and segment_ids.
        Returns: (batch, length, width), or (batch, 1, width) with query_index.
        Raises: ValueError for shapes, dtypes or ranges other than these.
        """
        where = self._layout(x, query_index, segment_ids, padding, cache)
        if self.function is not None:
            return self._through_function(x, where, cache)
        if where.rows is not None and where.runs is None and where.padding is None:
            return self.o_proj(self._read(x, where))
        query, key, value = self._heads(x, where, cache)
        heads = attend(query, key, value, self._mask(where, query.dtype), self.scale)
        out = self.o_proj(heads.transpose(1, 2).flatten(2))
        return out if where.padding is None else out.masked_fill(where.pick(where.pads())[..., None], 0.0)

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
        query, key, _ = self._heads(x, where, None)
        found = probabilities(query, key, self._mask(where, query.dtype), self.scale)
        return found if where.padding is None else found.masked_fill(where.pick(where.pads())[:, None, :, None], 0.0)

    def _through_function(self, x: Tensor, where: Layout, cache: KVCache | None) -> Tensor:
        """`forward` with self.function as the attention, which knows neither documents nor pads."""
        arguments.replacement(self.function, where)
        query, key, value = self._heads(x, where._replace(rows=None), cache)
        slopes = None if self.slopes is None else query.new_tensor(self.slopes)
        heads = self.function(query, key, value, scale=self.scale, slopes=slopes).transpose(1, 2).flatten(2)
        return self.o_proj(heads if where.rows is None else heads.gather(1, _as_rows(where.rows, heads)))

    def _layout(self, x, query_index, segment_ids, padding, cache) -> Layout:
        arguments.inputs(x, self.width, query_index, segment_ids, padding, cache)
        if cache is not None and cache.length:
            padding = cache.padding
        rows = None if query_index is None else query_index.long()
        runs = None if segment_ids is None else document_runs(segment_ids, padding)
        return Layout(0 if cache is None else cache.length, x.shape[1], x.device, rows, runs, padding)

    def _heads(self, x: Tensor, where: Layout, cache: KVCache | None) -> tuple[Tensor, Tensor, Tensor]:
        """Mixed, rotated query, key and value, (batch, heads, tokens, head_dim), the cached ones included."""
        pads = where.pads()
        projections = {"key": self.k_proj, "value": self.v_proj, "query": self.q_proj}
        if where.rows is not None:
            del projections["query"]
        raw = {name: self._split(project(x), pads) for name, project in projections.items()}
        mixed = {name: self._mix(name, heads, where, cache) for name, heads in raw.items()}
        query = mixed["query"] if where.rows is None else self._query_rows(x, where)
        key, value = mixed["key"], mixed["value"]
        if self.position == "rope":
            positions = where.positions()
            key = rotate(key, positions, self.rope_base)
            query = rotate(query, where.pick(positions), self.rope_base)
        query, key, value = (heads.transpose(1, 2) for heads in (query, key, value))
        if cache is not None:
            shifted = {name: heads for name, heads in raw.items() if getattr(self, NAMES[name]) is not None}
            if self.function is None:
                key, value = cache.append(key, value, shifted, self.window - 1)
            else:
                cache.advance(key.shape[2], shifted, self.window - 1)
            cache.padding = where.padding
        return query, key, value

    def _read(self, x: Tensor, where: Layout) -> Tensor:
        """The heads' outputs at where.rows, (batch, 1, n_heads * head_dim); no value is formed but for the mixture.

        sum_t a[t] sum_j beta_j W_v x[t-j] = W_v sum_s (sum_j beta_j a[s+j]) x[s], with one query a third of the work.
        """
        key = self._mix("key", self._split(self.k_proj(x), None), where, None)
        query = self._query_rows(x, where)
        if self.position == "rope":
            positions = where.positions()
            key = rotate(key, positions, self.rope_base)
            query = rotate(query, where.pick(positions), self.rope_base)
        query, key = query.transpose(1, 2), key.transpose(1, 2)
        found = probabilities(query, key, self._mask(where, query.dtype), self.scale).squeeze(2)
        group = self.n_heads // self.n_kv_heads
        if self.beta is not None:
            found = shift_back(found, self.beta_mix().repeat_interleave(group, dim=0))
        weight = self.v_proj.weight.unflatten(0, (-1, self.head_dim)).repeat_interleave(group, dim=0)
        return torch.einsum("bhw,hdw->bhd", found @ x, weight).flatten(1).unsqueeze(1)

    def _query_rows(self, x: Tensor, where: Layout) -> Tensor:
        """The mixed queries at where.rows alone, projecting only the tokens that they are mixed from."""
        back = self.window - 1 if self.gamma is not None else 0
        at = where.rows[:, None] - torch.arange(back, -1, -1, device=x.device)
        inside, at = at >= 0, at.clamp(min=0)
        if where.runs is not None:
            inside = inside & (where.runs.gather(1, at) == where.pick(where.runs))
        if where.padding is not None:
            inside = inside & (at >= where.padding[:, None])
        taken = x.gather(1, at[..., None].expand(-1, -1, self.width))
        raw = self._split(self.q_proj(taken), ~inside)
        if self.gamma is None:
            return raw
        return shift_mix(raw[:, back:], self.gamma_mix(), previous=raw[:, :back])

    def _mix(self, name: str, raw: Tensor, where: Layout, cache: KVCache | None) -> Tensor:
        parameter = getattr(self, NAMES[name])
        if parameter is None:
            return raw
        mixture = coefficients.effective(parameter, self.parameters_kind)
        previous = None if cache is None else cache.previous(name)
        return shift_mix(raw, mixture, previous=previous, segment_ids=where.runs)

    def _split(self, projected: Tensor, pads: Tensor | None) -> Tensor:
        """(batch, length, heads, head_dim), with zeros where pads is True: a pad shifts in as nothing."""
        heads = projected.unflatten(-1, (-1, self.head_dim))
        return heads if pads is None else heads.masked_fill(pads[..., None, None], 0.0)

    def _mask(self, where: Layout, dtype: torch.dtype) -> Tensor | None:
        """What scaled_dot_product_attention needs: None (causality alone), a bool mask, or ALiBi's bias."""
        seen = where.visible()
        if self.slopes is None:
            return seen
        bias = alibi_bias(torch.tensor(self.slopes, dtype=dtype, device=where.device), where)
        if seen is None:
            seen = torch.arange(where.offset + where.length, device=where.device) <= where.queries()[..., None]
        return bias.masked_fill(~seen, -torch.inf)

    def _mixture(self, parameter: Tensor | None, heads: int) -> Tensor:
        if parameter is None:
            return coefficients.identity(heads, self.window, self.k_proj.weight)
        return coefficients.effective(parameter, self.parameters_kind)


def _as_rows(rows: Tensor, heads: Tensor) -> Tensor:
    """Indices (batch, 1, width) that gather token rows[b] of heads (batch, length, width)."""
    return rows[:, None, None].expand(-1, 1, heads.shape[2])


def _linear(inputs: int, outputs: int, generator: torch.Generator | None) -> nn.Linear:
    """nn.Linear without bias and with its usual initial law, drawn from the generator."""
    linear = nn.utils.skip_init(nn.Linear, inputs, outputs, bias=False)
    nn.init.kaiming_uniform_(linear.weight, a=math.sqrt(5.0), generator=generator)
    return linear
