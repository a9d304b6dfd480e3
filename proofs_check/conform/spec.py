"""What can be claimed: every subject with the function that an adapter gives for it, and all checks."""

from __future__ import annotations

from typing import NamedTuple

from proofs_check.conform import alibi, attending, decoding, evicting, residual, rotary, shifting
from proofs_check.conform.check import Check


class Subject(NamedTuple):
    """How it is called, what comes back, and what it is; in [] parameters that widen the claim."""

    call: str
    returns: str
    says: str


ATTENTION = "q, k, v"
WIDER = "[mask], [segments], [window]"

SUBJECTS = {
    "alibi_slopes": Subject("(n_heads)", "(heads,)", "ALiBi's slopes, > 0"),
    "alibi_bias": Subject(
        "(n_heads, n_queries, n_keys, [mask])",
        "(heads, queries, keys), or what broadcasts to it, with or without a batch of 1 before it; with mask (batch, "
        "keys) with a batch before it",
        "what ALiBi adds to logits; the queries are the last tokens of the keys'",
    ),
    "attention": Subject(
        f"({ATTENTION}, {WIDER})", "(batch, heads, queries, d)", "causal softmax attention, logits q.k / sqrt(d)"
    ),
    "alibi_attention": Subject(f"({ATTENTION}, {WIDER})", "(batch, heads, queries, d)", "the same with ALiBi"),
    "sink_attention": Subject(
        f"({ATTENTION}, sinks, {WIDER})", "(batch, heads, queries, d)",
        "the same with a logit for each head, (heads,), whose weight goes nowhere",
    ),
    "shift": Subject(
        "(x, weights, [state], [segments], [mask])", "(batch, length, channels); with state, (that, the next state)",
        "y[t] = sum_j weights[j] x[t - j]; weights a list, self first; state None at the start; mask, segments (batch, "
        "length), of the tokens of this call: pads stand before a row's first token, in its first call, and segments "
        "come without a state",
    ),
    "shifted_keys": Subject(
        "(keys, weights, positions, base, [state])", "(batch, heads, length, d); with state, (that, the next state)",
        "keys, shifted and then rotated; positions from 0 on in every row",
    ),
    "rope": Subject(
        "(x, positions, base, [dims])", "(batch, heads, length, d)",
        "rotary embedding; positions (batch, length) whole numbers, of each row in any order; dims: how many channels "
        "turn",
    ),
    "value_residual": Subject(
        "(values, own, first)", "a list like values",
        "what each layer reads: own V_n + first V_1 after the first; values a list of (batch, length, channels)",
    ),
    "evicting_attention": Subject(
        "(q, k, v, chunks)", "output (batch, heads, length, d), kept (batch, groups, length, length) True or False",
        "a cache that forgets, fed in chunks of these lengths: kept[.., t, j], whether query t still saw token j",
    ),
    "razor_attention": Subject(
        "(q, k, v, whole, sinks, window, chunks, [compensation])", "(layers, batch, heads, length, d)",
        "RazorAttention, all with a layer before the batch: whole (layers, groups) sees all, the others the first "
        "sinks and the last window tokens, with compensation True also the mean of the rest, counted so many times",
    ),
    "logits": Subject("(tokens)", "(batch, length, vocab)", "a causal model, without a cache; tokens 0 .. VOCAB - 1"),
    "decoded": Subject(
        "(prompts, steps, [chunk])", "(batch, steps + 1, vocab): after the prompt and after every step",
        "the same model with its cache: prompts a list of lists of tokens, of any lengths, steps (batch, n) "
        "tokens that follow one at a time; chunk: how many tokens of a prompt are read at once",
    ),
}  # fmt: skip

CHECKS: tuple[Check, ...] = (
    *alibi.CHECKS, *attending.CHECKS, *shifting.CHECKS, *rotary.CHECKS, *residual.CHECKS, *evicting.CHECKS,
    *decoding.CHECKS,
)  # fmt: skip
