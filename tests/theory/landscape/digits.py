"""The one-repeat sentence by brute force in mpmath, keys and tokens that are alike counted.

No formula of `theory` is used. Precision grows with the parameters: sixty digits are left after any cancellation.
"""

import math
from collections import namedtuple

from mpmath import mp, mpf

FARTHEST = 700.0
Truth = namedtuple("Truth", "loss excess gradient")  # the excess is loss - log T


def counted(point, tokens, place):
    """Loss and gradient of x_1 .. x_T, x_i after softmax attention over T + 1 one-hot keys.

    Keys that match nothing weigh 1, tokens far from i, i + 1 and T are alike. A row is a logit and its slopes in
    alpha1, alpha2, beta1, beta2.
    """
    a1, a2, b1, b2 = point

    def marks(key):
        return int(key in (place, tokens + 1)), int(key - 1 == place)

    marked = {place, place + 1, tokens + 1}
    raised = {key: mp.exp(a1 * marks(key)[0] + a2 * marks(key)[1]) for key in marked}
    total = mp.fsum(raised.values()) + (tokens + 1 - len(marked))
    means = [mp.fsum(raised[key] * marks(key)[k] for key in marked) / total for k in range(2)]

    def token(number):
        row = [mpf(0)] * 5
        keys = [number, tokens + 1] if number == place else [number]
        for beta, column, read in (b1, 3, keys), (b2, 4, [key + 1 for key in keys if key <= tokens]):
            for key in read:
                weight = raised.get(key, mpf(1)) / total
                row[0] += beta * weight
                row[1] += beta * weight * (marks(key)[0] - means[0])
                row[2] += beta * weight * (marks(key)[1] - means[1])
                row[column] += weight
        return row

    special = {number for number in (place - 1, place, place + 1, tokens) if 1 <= number <= tokens}
    rows = [(1, token(number)) for number in sorted(special)]
    if tokens > len(special):
        generic = next(number for number in range(1, 6) if number not in special)
        rows.append((tokens - len(special), token(generic)))
    return _cross_entropy(rows, token(place + 1 if place < tokens else place))


def _cross_entropy(rows, target):
    powers = [count * mp.exp(row[0] - target[0]) for count, row in rows]
    total = mp.fsum(powers)
    slopes = [mp.fsum(p * row[k] for p, (_, row) in zip(powers, rows, strict=True)) / total for k in range(1, 5)]
    return mp.log(total), [slope - own for slope, own in zip(slopes, target[1:], strict=True)]


def truth(point, tokens, position):
    """Everything at exactly these doubles."""
    digits = _digits(point)
    with mp.workdps(digits):
        loss, gradient = _at([mpf(x) for x in point], tokens, position)
        excess = loss - mp.log(tokens)
        return Truth(loss, excess if abs(excess) > mpf(10) ** (10 - digits) else mpf(0), gradient)


def condition(value, point, gradient):
    """kappa = sum_k |x_k d_k f| / |f| of f = loss or excess, whose slopes are the gradient."""
    return sum(abs(mpf(x) * slope) for x, slope in zip(point, gradient, strict=True)) / abs(value)


def gradient_condition(point, tokens, position):
    """The largest sum_k |x_k d_k g_j| over the largest |g_j|; slopes are differences over a step of 1e-30."""
    with mp.workdps(_digits(point) + 60):
        exact, step = [mpf(x) for x in point], mpf(10) ** -30
        _, gradient = _at(exact, tokens, position)
        sums = [mpf(0)] * 4
        for k, x in enumerate(exact):
            moved = _at([*exact[:k], x * (1 + step), *exact[k + 1 :]], tokens, position)[1]
            sums = [total + abs(new - old) / step for total, new, old in zip(sums, moved, gradient, strict=True)]
        return max(sums) / max(map(abs, gradient))


def _digits(point):
    """A difference of logits, or of a sum and its leading term, is at least about e^-(sum of sizes)."""
    return 90 + int(sum(map(abs, point)) / math.log(10))


def _at(point, tokens, position):
    if position != "mean":
        return counted(point, tokens, 2 if position is None else position)
    # 2 .. T - 2 are alike
    places = [(1, 1), (tokens - 3, 2), (1, tokens - 1)] if tokens > 3 else [(1, i) for i in range(1, tokens)]
    found = [(count, *counted(point, tokens, i)) for count, i in places]
    gradient = [mp.fsum(count * slopes[k] for count, _, slopes in found) / (tokens - 1) for k in range(4)]
    return mp.fsum(count * loss for count, loss, _ in found) / (tokens - 1), gradient


def draw(rng):
    """A point, T and a position: sizes from 1e-20 to 700, often related so that terms cancel."""
    many = int(float(rng.randint(10, 10 ** rng.randint(2, 18))))
    tokens = many if rng.random() < 0.35 else rng.randint(2, 9)
    position = rng.choice([1, 2, tokens - 1, tokens, rng.randint(1, tokens), "mean", *[None] * 2 * (tokens >= 4)])
    a1, a2, b1, b2 = (_size(rng) for _ in range(4))
    tie = rng.randrange(12)
    if tie < 4:
        a2 = (a1, -a1, a1 + math.log(2), a1)[tie] + rng.choice([0, 1e-12, 1e-5]) * _size(rng)
    elif tie < 7:
        a1, a2 = (math.log(tokens) + rng.uniform(-3, 3) if tie != other else a for a, other in ((a1, 4), (a2, 5)))
    elif tie == 7:
        near = 1 + rng.choice([0, 1e-8, 1e-3])
        a1, a2 = near * math.log1p(-0.5 / tokens), math.log1p(1 / tokens)
    if rng.random() < 0.2:
        b2 = b1 * rng.choice([-2, -1, -0.5, 0.5, 1, 2])
    return tuple(max(-FARTHEST, min(FARTHEST, x)) for x in (a1, a2, b1, b2)), tokens, position


def _size(rng):
    sign = rng.choice([-1, 1])
    return sign * rng.choice([0.0, rng.uniform(0, 3), rng.uniform(0, 50), rng.uniform(0, 700), 700.0,
                              10 ** rng.uniform(-20, 2)])  # fmt: skip
