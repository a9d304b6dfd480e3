"""Random heads, and maximisers of their logit gaps that share no formula with `theory`: ascent over z and contexts."""

import math

import numpy as np
from scipy.optimize import minimize

from tests.theory.cases import softmax


def random_head(rng, d_model, d_head, norm, biased):
    """Keyword arguments of `alibi.logit_range` for a Gaussian head with lognormal gains."""
    w_q, w_k = rng.standard_normal((2, d_head, d_model))
    return {
        "w_q": w_q,
        "w_k": w_k,
        "gamma": np.exp(0.5 * rng.standard_normal(d_model)) * rng.choice([-1, 1], d_model),
        "norm_bias": rng.standard_normal(d_model) if biased else None,
        "query_bias": rng.standard_normal(d_head) if biased else None,
        "norm": norm,
    }


def frame(rng, rows, width=None):
    """Random orthonormal rows, (rows, width); a rotation without a width."""
    return np.linalg.qr(rng.standard_normal((width or rows, rows)))[0].T


def logits(head, query, keys):
    """Logits of one post-norm query state on post-norm key states (., d_model), with 1/sqrt(d_head)."""
    bias = 0.0 if head["query_bias"] is None else head["query_bias"]
    return keys @ head["w_k"].T @ (head["w_q"] @ query + bias) / math.sqrt(len(head["w_q"]))


def rotated_spread(head, pairs, rng):
    """The largest difference of two logits among random states; the rotation is the best one for each pair."""
    d_head, d_model = head["w_q"].shape
    raw = rng.standard_normal((400, d_model))
    raw = raw - raw.mean(-1, keepdims=True) if head["norm"] == "layer" else raw
    states = raw / np.sqrt((raw**2).mean(-1, keepdims=True)) * head["gamma"]
    states = states if head["norm_bias"] is None else states + head["norm_bias"]
    order = np.arange(d_head).reshape(2, -1).T if pairs == "halves" else np.arange(d_head).reshape(-1, 2)
    sizes = []
    for weights, bias in ((head["w_q"], head.get("query_bias")), (head["w_k"], head.get("key_bias"))):
        vectors = states @ weights.T
        vectors = vectors if bias is None else vectors + bias
        sizes.append(np.linalg.norm(vectors[:, order], axis=2))
    return 2 * (sizes[0] @ sizes[1].T).max() / math.sqrt(d_head)


def _pieces(head):
    """Per raw query direction: M (d, d) with gradient machinery, all from dense matrices."""
    d = len(head["gamma"])
    centre = np.eye(d) - (1 / d if head["norm"] == "layer" else 0.0)
    bias = np.zeros(d) if head["norm_bias"] is None else head["norm_bias"]
    shift = np.zeros(len(head["w_q"])) if head["query_bias"] is None else head["query_bias"]
    pull = centre * head["gamma"] @ head["w_k"].T / math.sqrt(len(head["w_q"]))  # key side, (d, d_head)
    return centre, pull, bias, shift


def spread(head, own=False, starts=24, seed=0):
    """Multi-start ascent over the raw query of the logit range (or, with own, of the gap to the query's own logit)."""
    centre, pull, bias, shift = _pieces(head)
    d = len(head["gamma"])
    rng = np.random.default_rng(seed)

    def fall(raw):
        c = centre @ raw
        length = np.linalg.norm(c)
        unit = c * math.sqrt(d) / length
        q = head["w_q"] @ (head["gamma"] * unit + bias) + shift
        towards = pull @ q
        size = np.linalg.norm(towards)
        value = (1 if own else 2) * math.sqrt(d) * size
        slope_q = (1 if own else 2) * math.sqrt(d) * pull.T @ towards / max(size, 1e-300)
        slope = head["gamma"] * (head["w_q"].T @ slope_q)
        if own:
            value -= unit @ towards
            slope -= towards + head["gamma"] * (head["w_q"].T @ (pull.T @ unit))
        slope = centre @ (slope - unit * (slope @ unit) / d) * math.sqrt(d) / length
        return -value, -slope

    best = 0.0
    for _ in range(starts):
        found = minimize(fall, rng.standard_normal(d), jac=True, method="L-BFGS-B",
                         options={"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-10})  # fmt: skip
        best = max(best, -found.fun)
    return best


def weights_of(head, slope, query, keys):
    """Attention of the last token over keys (n, d_model), oldest first, the query's own state last."""
    distance = np.arange(len(keys) - 1, -1, -1)
    return softmax(logits(head, query, keys) - slope * distance)
