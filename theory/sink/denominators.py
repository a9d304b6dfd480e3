"""Four ways for a head to do nothing: softmax plus one, a sink logit, a zero key-value token, an output gate.

With x the logits of a query, lse = ln sum e^{x_i} and s a sink logit,

    plus one           e^{x_i} / (1 + sum e^{x})      = sink logit at s = 0 = one token of key and value 0,
    sink logit         e^{x_i} / (e^s + sum e^{x})    = plus one at the logits x - s,
    n zero tokens                                     = sink logit at s = ln n,
    gate g softmax(x)                                 = sink logit iff g = 1/(1 + e^{s - lse}), at every query.

So a sink is a gate that depends on the level of the logits; a gate of the query's own does not, and may be 0 or 1. The
key of a zero token is 0 only where no position reaches it: ALiBi makes it the sink logit -slope * distance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from theory.checked import POSITIVE, SHARE, Array, elementwise, real, reals, sized
from theory.lowering.digits import odds_share
from theory.records import comparable
from theory.sink.shapes import agree, checked_head, checked_logits, softmax


@comparable
class GateWitness(NamedTuple):
    """Two queries on one key: logits (2, 1), values (2, 1, 1), gates (2,), outputs (2, 1).

    sink_logits (2,): the only one with which either query has its output.
    """

    logits: Array
    values: Array
    gates: Array
    outputs: Array
    sink_logits: Array


@sized()
def softmax_plus_one(logits: ArrayLike) -> Array:
    """e^{x_i} / (1 + sum_j e^{x_j}): weights that sum to less than 1.

    Args: logits (..., keys), keys >= 1. Returns: (..., keys). Raises ValueError otherwise.
    """
    x = checked_logits(logits)
    top = np.maximum(x.max(axis=-1, keepdims=True), 0.0)
    powers = np.exp(x - top)
    return np.asarray(powers / (np.exp(-top) + powers.sum(axis=-1, keepdims=True)))


@sized()
def sink_softmax(logits: ArrayLike, sink_logit: ArrayLike) -> Array:
    """Softmax over the logits and one sink logit s, whose weight is dropped: e^{x_i} / (e^s + sum_j e^{x_j}).

    As gpt-oss has it, one s a head. Args: logits (..., keys); sink_logit (...), which broadcasts with the rows.
    Returns: (..., keys). Raises ValueError for other shapes.
    """
    x, s = _with_rows(logits, "sink_logit", sink_logit)
    return np.asarray(np.exp(x - np.logaddexp(logsumexp(x, axis=-1), s)[..., None]))


@sized()
def sink_gate(logits: ArrayLike, sink_logit: ArrayLike) -> Array:
    """1 - p_sink = 1/(1 + e^{s - lse}): the gate with which g softmax(x) is `sink_softmax`.

    Args: logits (..., keys); sink_logit s (...). Returns: (...), in [0, 1]. Raises ValueError for other shapes.
    """
    x, s = _with_rows(logits, "sink_logit", sink_logit)
    return odds_share(logsumexp(x, axis=-1) - s)


@sized()
def matching_sink_logit(logits: ArrayLike, gate: ArrayLike) -> Array:
    """s = lse - ln(g/(1 - g)): the one sink logit that is this gate at this query.

    A gate is a sink with one s a head iff this is one number over all queries.
    Args: logits (..., keys); gate g in (0, 1), (...). Returns: (...). Raises ValueError outside.
    """
    x, g = _with_rows(logits, "gate", reals("gate", gate, SHARE))
    return np.asarray(logsumexp(x, axis=-1) - np.log(g) + np.log1p(-g))


@sized()
def sink_output(logits: ArrayLike, values: ArrayLike, sink_logit: ArrayLike) -> Array:
    """sum_i w_i v_i with the weights of `sink_softmax`.

    Args: logits (..., keys); values (..., keys, d_v); sink_logit (...). Returns: (..., d_v). Raises ValueError for
    shapes that do not agree.
    """
    x, v = checked_head(logits, values)
    agree(logits=x.shape[:-1], values=v.shape[:-2], sink_logit=reals("sink_logit", sink_logit).shape)
    return _read(sink_softmax(x, sink_logit), v)


@sized()
def zero_token_output(logits: ArrayLike, values: ArrayLike) -> Array:
    """The usual head with one more token, of key 0 (logit 0) and value 0. Equals `sink_output` at the sink logit 0.

    Args: logits (..., keys); values (..., keys, d_v). Returns: (..., d_v). Raises ValueError for other shapes.
    """
    x, v = checked_head(logits, values)
    more = np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)
    return _read(softmax(more), np.concatenate([v, np.zeros((*v.shape[:-2], 1, v.shape[-1]))], axis=-2))


@sized()
def gated_output(logits: ArrayLike, values: ArrayLike, gate: ArrayLike) -> Array:
    """g sum_i softmax(x)_i v_i, one gate a query: unlike the others, the same for the logits x + c.

    Args: logits (..., keys); values (..., keys, d_v); gate g (...), any number. Returns: (..., d_v). Raises ValueError
    for shapes that do not agree.
    """
    x, v = checked_head(logits, values)
    g = reals("gate", gate)
    agree(logits=x.shape[:-1], values=v.shape[:-2], gate=g.shape)
    return g[..., None] * _read(softmax(x), v)


@elementwise("gate", "other_gate")
def gate_witness(gate: float, other_gate: float) -> GateWitness:
    """An output that a gate can give and a sink cannot: two queries with the logit 0 on one key of value 1, two gates.

    The outputs are the gates, a sink's are equal; the sink logits ln(1/g - 1) that would do differ iff the gates do.
    Smallest: gates 1/2 and 1/4 need the sink logits 0 and ln 3. Args: both in (0, 1). Raises ValueError outside.
    """
    gates = np.array([real("gate", gate, SHARE), real("other_gate", other_gate, SHARE)])
    return _witness(np.zeros((2, 1)), gates, matching_sink_logit(np.zeros((2, 1)), gates))


@elementwise("odds")
def level_witness(odds: float) -> GateWitness:
    """Outputs that a sink gives and a gate blind to logits cannot: one key of value 1, logits 0 and ln(odds), s = 0.

    Both softmaxes are 1, so a gate that is one number gives one output; the sink gives 1/2 and odds/(1 + odds), 3/4 at
    odds = 3. Args: odds > 0; a difference iff it is not 1. Raises ValueError outside.
    """
    logits = np.array([[0.0], [math.log(real("odds", odds, POSITIVE))]])
    return _witness(logits, sink_gate(logits, 0.0), np.zeros(2))


def _witness(logits: Array, gates: Array, sink_logits: Array) -> GateWitness:
    values = np.ones((2, 1, 1))
    return GateWitness(logits, values, gates, gated_output(logits, values, gates), sink_logits)


def _with_rows(logits: ArrayLike, name: str, numbers: ArrayLike) -> tuple[Array, Array]:
    x, one_a_row = checked_logits(logits), reals(name, numbers)
    agree(**{"logits": x.shape[:-1], name: one_a_row.shape})
    return x, one_a_row


def _read(weights: Array, values: Array) -> Array:
    return np.asarray(np.einsum("...k,...kd->...d", weights, values))
