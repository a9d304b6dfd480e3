"""The masked computation against theory's tokens, one query and one head at a time in numpy."""

from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dynamics.razor.masked import MaskedAttention
from tests.dynamics.razor.cases import SCALE, plans, slopes_of, stream
from theory.cache import compensation
from theory.cache import dropped as truncation
from theory.cache.compensation_alibi import decayed_token

TOLERANCE = 1e-12


def by_theory(plan, query, keys, values, slope, dropped, centre):
    """The output of one query, scaled, over n tokens, the last its own."""
    n = len(keys)
    kept = [j for j in range(n) if j not in dropped]
    distance = n - 1.0 - np.arange(n)
    logits = keys @ query - slope * distance
    if not dropped or plan.compensation == "none":
        return truncation.attend(logits[kept], values[kept])
    gone, far = (keys[dropped], values[dropped]), distance[dropped]
    if plan.compensation == "mean":
        token = compensation.token(*gone)
        token = token._replace(log_mass=token.log_mass - slope * far.mean())
    elif plan.compensation == "alibi":
        token = decayed_token(*gone, far, slope)
    else:
        token = compensation.token(*gone, biases=-slope * far, centre=centre)
    weight = compensation.log_weight(query, token)
    return compensation.attend_with_token(logits[kept], values[kept], weight, token.value)


@given(plans(), st.integers(1, 20), st.booleans())
def test_each_query_is_that_of_the_theory(plan, length, with_alibi):
    slopes = slopes_of(plan, with_alibi)
    tokens = stream(plan, length)
    found = MaskedAttention(plan)(0, *tokens, scale=SCALE, slopes=slopes).numpy()
    query, keys, values = (x.numpy() for x in tokens)
    for head in range(plan.n_heads):
        group = head * plan.n_kv_heads // plan.n_heads
        scaled, slope = SCALE * query[1, head], 0.0 if slopes is None else float(slopes[head])
        last = scaled[max(0, plan.prompt - plan.centre_queries) : plan.prompt]
        centre = last.mean(0) if length > plan.prompt > 0 else None
        for t in range(length):
            n = t + 1
            start = max(0, n - max(plan.buffer, ceil(n * plan.share)))
            whole = n <= plan.prompt or group in plan.full[0]
            dropped = [] if whole else list(range(plan.sinks, start))
            expected = by_theory(plan, scaled[t], keys[1, group, :n], values[1, group, :n], slope, dropped, centre)
            assert np.abs(found[1, head, t] - expected).max() < TOLERANCE
