"""Margins of the trained scalar models, and of the slopes of the loss in the means of a frozen table."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from dynamics.scalar import statistics
from dynamics.scalar.record import Four, ScalarStudy, read_study
from dynamics.scalar.remainder import Remainder, remainder
from dynamics.scalar.study import table_setting
from dynamics.scalar.tables import TableSample, table_response, table_sample
from proofs_check.evidence.margin import Margin, at_most, close, same, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.ledger.claim import Effort
from proofs_check.oracles.width import slopes_of_loss
from theory.landscape.exact import learning_time
from theory.landscape.frozen_table import table_deviation, table_slopes

HALVES: Four = (0.5, 0.5, 0.5, 0.5)
OTHERS: tuple[Four, ...] = ((0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 0.2, 0.8))
LONGEST_RETRAINED, NEW_SEED = 128, 10_000


@cache
def _study(retrained: bool) -> ScalarStudy:
    """The shipped study, or lengths to 128 and every width trained afresh from other seeds."""
    if not retrained:
        return read_study()
    from dynamics.scalar.study import plan, run_study

    every = plan(seed=NEW_SEED)
    return run_study(every._replace(learning=tuple(p for p in every.learning if p[0].n_tokens <= LONGEST_RETRAINED)))


@cache
def _flow_times() -> dict[tuple[int, Four], float]:
    from dynamics.scalar.study import flow_times

    settings = tuple((point["tokens"], point["start"]) for point in lengths(Effort.QUICK))  # all in one call
    return dict(zip(settings, flow_times(settings), strict=True))


@cache
def _learning(tokens: int, start: Four, retrained: bool) -> statistics.Estimate:
    found = {(pair.fine.training.n_tokens, pair.fine.training.start): pair for pair in _study(retrained).learning}
    pair = found[tokens, start]
    return statistics.extrapolated_mean(pair.fine.times, pair.coarse.times)


def lengths(effort: Effort) -> list[dict]:
    """Every trained length, the two other starts at T = 128; with time to spare also those trained afresh."""
    shipped = [{"tokens": 2**k, "start": HALVES} for k in range(4, 11)]
    shipped += [{"tokens": 128, "start": start} for start in OTHERS]
    if effort is Effort.QUICK:
        return shipped
    return shipped + [{**point, "retrained": True} for point in shipped if point["tokens"] <= LONGEST_RETRAINED]


def from_halves(effort: Effort) -> list[dict]:
    """The start (.5, .5); from (1, .2) the flow itself needs 49.7 > 10 log T beyond s* T at T = 128."""
    return [point for point in lengths(effort) if point["start"] == HALVES]


def _limit(tokens: int, start: Four) -> float:
    return learning_time(start[1], start[2], tokens).value


def in_interval(tokens: int, start: Four, retrained: bool = False, factor: float = 1.0, limit: bool = False) -> Margin:
    """The flow's own time lies in the interval of the trained one, which is at most 2 % of it wide, both as shares."""
    found, flow = _learning(tokens, start, retrained), _flow_times()[tokens, start]
    reference = factor * (_limit(tokens, start) if limit else flow)
    return _holds(statistics.Estimate(*(time / flow for time in found)), reference / flow, 0.02)


def within_log(tokens: int, start: Four, retrained: bool = False, most: float = 10.0) -> Margin:
    """0 < t - s* T < most log T at both ends of the trained interval."""
    found, limit = _learning(tokens, start, retrained), _limit(tokens, start)
    return worst([at_most(limit, found.low), at_most(found.high - limit, most * float(np.log(tokens)))])


@cache
def _samples(retrained: bool) -> dict[int, TableSample]:
    return {result.training.width: table_sample(result) for result in _study(retrained).tables}


def studies(effort: Effort) -> list[dict]:
    return [{"retrained": again} for again in ((False,) if effort is Effort.QUICK else (False, True))]


def each_width(effort: Effort) -> Iterator[dict]:
    for study in studies(effort):
        for width in (32, 64, 128, 256, 512, 1024, 2048, 4096):
            yield {"width": width, **study}


def each_wide(effort: Effort) -> Iterator[dict]:
    """Widths at which the predicted remainder, 3.5 % at 512, leaves room below 5 % for the error of 128 runs."""
    return (point for point in each_width(effort) if point["width"] >= 512)


def spread_exponent(retrained: bool, expected: float = -0.5) -> Margin:
    """The interval of the fitted exponent holds -1/2 and is at most 0.1 wide."""
    widths, samples = zip(*_samples(retrained).items(), strict=True)
    return _holds(statistics.exponent(widths, [s.deviation for s in samples], statistics.spread), expected, 0.1)


def shift_exponent(retrained: bool, expected: float = -1.0) -> Margin:
    """The interval of the exponent fitted over d >= 64 (at d = 32 terms of order 1/d^2 show) holds -1, <= 0.15 wide."""
    widths, samples = zip(*_samples(retrained).items(), strict=True)
    return _holds(statistics.exponent(widths[1:], [s.unexplained for s in samples[1:]], _along()), expected, 0.15)


def _holds(found: statistics.Estimate, expected: float, widest: float) -> Margin:
    """The interval holds the number, and is at most so wide."""
    sides = (found.low, expected), (expected, found.high), (found.high - found.low, widest)
    return worst([at_most(*side) for side in sides])


def _along():
    return statistics.shift_along(table_response().shift[-1])


def spread_size(width: int, retrained: bool, factor: float = 1.0) -> Margin:
    """Root mean square deviation times d^(1/2) within 20 % of the prediction (its own error is 6 % at 128 runs)."""
    predicted = factor * float(np.linalg.norm(table_response().deviation[-1]))
    found = float(statistics.spread(_samples(retrained)[width].deviation)) * width**0.5
    return at_most(abs(found / predicted - 1), 0.2)


def shift_size(width: int, retrained: bool, factor: float = 1.0) -> Margin:
    """The predicted shift lies in the 99.9 % interval of the trained one, widened by 16/d^2 for the next order."""
    values, predicted = _samples(retrained)[width].unexplained, float(np.linalg.norm(table_response().shift[-1]))
    found = statistics.estimate(values, _along(), confidence=0.999)
    slack = 16 / width
    low, high = found.low * width - slack, found.high * width + slack
    return worst([at_most(low, factor * predicted), at_most(factor * predicted, high)])


def _left(width: int, retrained: bool, turned: int = 0) -> np.ndarray:
    """Share (4,) of the variance of each scalar over runs that the prediction by the table's two means leaves."""
    sample = _samples(retrained)[width]
    linear = np.roll(sample.explained, turned, axis=0)
    return (sample.deviation - linear).var(axis=0) / sample.deviation.var(axis=0)


def explained(width: int, retrained: bool, turned: int = 0) -> Margin:
    """At least 95 % of the variance of each scalar over runs is what the table's two means predict, sizes included."""
    return at_most(float(_left(width, retrained, turned).max()), 0.05)


@cache
def table_remainder() -> Remainder:
    """The derived remainder of the trainings of `study.table_setting`."""
    training = table_setting(512)
    return remainder(training.start, training.n_tokens, training.rate * training.steps, training.rate, training.batch)


def left_over(width: int, retrained: bool, sampling: float = 1.0, second: float = 1.0) -> Margin:
    """The share left, of each scalar, is within a factor 2 of the derived (n + k/d) / (1 + n + k/d)."""
    found = table_remainder()
    predicted = Remainder(sampling * found.sampling, second * found.second, found.shift).share(width)
    ratio = _left(width, retrained) / predicted
    return worst([at_most(0.5, float(ratio.min())), at_most(float(ratio.max()), 2.0)])


def remainder_numbers(name: str, printed: tuple[float, ...], digits: int) -> Margin:
    """n and k of the four scalars, rounded."""
    both = getattr(table_remainder(), name), printed
    return same(*([f"{value:.{digits}f}" for value in values] for values in both))


def _rationals(seed: int, count: int) -> list[Fraction]:
    rng = np.random.default_rng(seed)
    return [Fraction(int(rng.integers(1, 30)), int(rng.integers(1, 30))) for _ in range(count)]


def slopes(tokens: int, position: int, twice: int = 1) -> Margin:
    """(s0, s1) of the kernel on fractions against sums of exact derivatives in every entry of G."""
    parameters = [value - 1 for value in _rationals(tokens + 100 * position, 4)]
    keys, powers = _rationals(3 * tokens + position, tokens + 1), _rationals(5 * tokens + position, tokens)
    sums = [Fraction(0), Fraction(0)]
    for pair in itertools.combinations_with_replacement(range(tokens), 2):
        sums[pair[0] != pair[1]] += slopes_of_loss(parameters, position, keys, powers, pair)[0]
    given = iter(np.array([value / sum(row) for value in row]) for row in (keys, powers))
    arrays = [np.array(value, dtype=object) for value in parameters]
    found = table_slopes(arrays, tokens, position, lambda _: next(given))
    return worst([same(found[0].item(), sums[0]), same(found[1].item(), twice * sums[1])])


def every_position(effort: Effort) -> list[dict[str, int]]:
    return [{"tokens": t, "position": i} for t in range(2, 6 if effort is Effort.QUICK else 9) for i in range(1, t + 1)]


def table_moments(tokens: int, symmetric: int = 1) -> Margin:
    """d times the covariances of g0 and g1, summed over entries: 2/T, 2/(T (T - 1)) and 0."""
    diagonal, rest = [(j, j) for j in range(tokens)], list(itertools.permutations(range(tokens), 2))

    def covariance(first: list, second: list) -> Fraction:
        total = sum((p == q) + symmetric * (p == q[::-1]) for p, q in itertools.product(first, second))
        return Fraction(total, len(first) * len(second))

    variances = [Fraction(2, tokens), Fraction(2, tokens * (tokens - 1))]
    found = [covariance(*kinds) for kinds in ((diagonal, diagonal), (rest, rest), (diagonal, rest))]
    pairs = zip(table_deviation(tokens, 1), variances, strict=True)
    return worst([same(found, [*variances, 0]), *(close(root**2, float(value), KERNEL) for root, value in pairs)])
