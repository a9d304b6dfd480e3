"""Bounds at extreme arguments: on their side of the definition to 1e-12, no NaN, nothing infinite that is a number."""

import inspect
import math
import random
import re
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import settings
from mpmath import mp, mpf

from scripts.pages import theory_table

POINTS = settings.default.max_examples // 10
CLOSE, AGREED = mpf("1e-12"), mpf("1e-30")
TINY, HUGE = 5e-324, np.finfo(float).max
ROW = re.compile(r"(\S+) ([\w.]+)(?:\((.*)\))? = (.*)")
TEXT = re.sub(r"\n +", " ", (Path(__file__).parent / "directions.txt").read_text("utf-8")).splitlines()
KIND = {name: kind for line in TEXT if line.startswith("are ") for _, kind, *names in [line.split()] for name in names}
NAMES = {"two": mpf(2)} | {name: getattr(mpmath, name) for name in "exp log sqrt sin tanh inf floor".split()}  # noqa: SIM905


class Bound(NamedTuple):
    function: object
    ways: set[str]
    truth: object


def rows():
    """The bounds of directions.txt by name."""
    for ways, name, taken, formula in (found.groups() for line in TEXT if (found := ROW.match(line))):
        if ways == "let":
            NAMES[name] = eval(f"lambda {taken}: {formula}", NAMES)
        else:
            function = resolve_name(f"theory.{name}")
            taken = ", ".join(inspect.signature(function).parameters)
            yield name, Bound(function, set(ways.split(",")), eval(f"lambda {taken}: {formula}", dict(NAMES)))


BOUNDS = dict(rows())
FITTED = {
    "self_gap": lambda x, given: min(x, given.get("logit_range", x)),
    "match": lambda x, given: max(1.0, min(x, given["length"] - 2)),
    "low": lambda x, given: min(x, given["mean"]),
    "high": lambda x, given: max(x, given["mean"]),
    "first_importance": lambda x, given: max(x, 1 / given["length"]),
}


def size(rng, seen, usual):
    """A usual size, or any, or one made of other arguments, so that something nearly cancels."""
    a, b = rng.choice(seen), rng.choice(seen)
    made = rng.choice([a, a * b, a / b, abs(math.log(a)), abs(math.log(a)) / b, math.exp(-min(a, 700.0))])
    made *= 1 + rng.choice([0, 1, -1]) * 2.0 ** -rng.randint(1, 52)
    found = rng.choice([10 ** rng.uniform(-323.3, 308), 10 ** rng.uniform(-4, 6), made])
    seen.append(10 ** rng.uniform(-1.5, 1.5) if usual else min(max(found, TINY), 1e308))
    return seen[-1]


def number(kind, rng, *how):
    x = size(rng, *how)
    if kind == "shares":
        x = min(x % 1.0 or 0.5, 1 - 2.0**-53)
        return rng.choice([x, max(1 - x, TINY)])
    if kind == "whole":
        return max(1.0, math.floor(x))
    x *= rng.random() > 0.04
    return rng.choice([x, -x]) if kind in ("signed", "pairs", "single", "sorted") else x


def drawn(function, rng):
    how, given = ([1.0], rng.random() < 0.3), {}
    for name, taken in inspect.signature(function).parameters.items():
        kind = KIND.get(name)
        if taken.default is None and rng.random() < 0.5:
            value = None
        elif kind == "words":
            value = rng.choice(["unit", "symmetric", "ball"])
        elif kind in ("pairs", "positive_pairs", "single", "sorted"):
            value = sorted(number(kind, rng, *how) for _ in range(1 if kind == "single" else 2))
        else:
            value = number(kind, rng, *how)
        given[name] = FITTED[name](value, given) if name in FITTED and value is not None else value
    return given


def true(bound, given):
    """The definition at as many digits as it takes for two numbers of them to agree."""
    exact = [[*map(mpf, x)] if isinstance(x, list) else mpf(x) if isinstance(x, float) else x for x in given]
    digits, before = 1200, None
    while True:
        with mp.workdps(digits):
            found = mpf(bound.truth(*exact))
            if before is not None and (found == before or abs(found - before) <= AGREED * abs(found)):
                return found
        digits, before = 2 * digits, found


def off(bound, given, found):
    """How far the number found is off, as a share; 0 where a bound says that it rounds so."""
    truth = true(bound, given)
    if abs(truth) > HUGE:
        return 0 if found * mpmath.sign(truth) >= HUGE / 2 else math.inf
    error = mpf(float(found)) - truth
    safe = math.isfinite(found) and (error > 0 if "upper" in bound.ways else error < 0)
    numbers = np.hstack([x for x in given if isinstance(x, float | list)])
    extreme = ((np.abs(numbers) < 0.01) | (np.abs(numbers) > 100)).any()
    excused = "loose" in bound.ways or ("outward" in bound.ways and extreme)
    if abs(error) <= 2 * TINY or (safe and excused):
        return 0
    return abs(error) / max(abs(truth), 1 if "log" in bound.ways else TINY)


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_on_its_side_at_any_arguments(name):
    bound, rng, held = BOUNDS[name], random.Random(0), 0
    while held < POINTS:
        given = drawn(bound.function, rng)
        try:
            found = np.ravel(bound.function(**given))[0]
        except ValueError:
            continue  # out of its domain, or it overflows
        held += 1
        assert off(bound, given.values(), found) <= CLOSE, (given, found)


@pytest.mark.parametrize(("name", "given"), [
    ("alibi.dropped_mass_bound", [1e-200, 1e-200, 1.0, 1e-190]),
    ("alibi.log_weight_bound", [418.4413753105161, 5.141616327454841e22, 2.1514650073792086e25, None]),
    ("alibi.scope", [0.0, 720.0, 1 - 2.0**-53]),
    ("alibi.reach.reach_forget_gap", [709.0, 0.5]),
    ("alibi.rounded.capping_error", [0.001, 36.0, 2.0**-53]),
    ("alibi.rounded.product_error", [1e-12, 4.0, 64.0]),
    ("alibi.shifted_scope.shifted_scope", [4035.2, 1e-12, 4.9e-10, 1.6e149, 0.1]),
    ("cache.log_mean_exp_bound", [5.0, 5.0, 800.0]),
    ("cache.log_mean_exp_bound", [1e-300, 0.0, 1e300]),
    ("cache.log_mean_exp_bound", [1.0, 0.0, 0.0]),
    ("landscape.learning_order.earliest", [1e-19, 7138.0, 5e-324]),
])  # fmt: skip
def test_named_arguments_at_which_a_bound_was_wrong_or_none(name, given):
    bound = BOUNDS[name]
    assert off(bound, given, float(bound.function(*given))) <= CLOSE


def test_the_scope_without_a_slope_has_its_digits_where_it_vanishes():
    found = BOUNDS["cache.log_scope"].function([1.4e-34, 5.8e-15], 0.5)
    assert found.tolist() == [1.4e-34, 5.8e-15]


def test_every_public_bound_of_numbers_has_its_direction():
    words = re.compile("bound|scope|window|floor|largest|error")
    public = {f"{room}.{name}" for room, name, _ in theory_table.functions() if words.search(name)}
    assert public - BOUNDS.keys() == {  # of matrices and of values, and one that is no formula
        "alibi.head_scope", "alibi.printed_scope", "alibi.spectral_scope", "cache.eviction_errors",
        "induction.one_token_error_any_slope",
    }  # fmt: skip
