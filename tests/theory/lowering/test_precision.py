"""Certified results of many threads at once: those of one thread, and the process's precision as it was."""

import random
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import ctx

from proofs_check.evidence.certified import proved_on
from theory import alibi
from theory.cache.compensation_bounds import certified_log_mass_bound
from theory.landscape.blow_up import blow_up_time
from theory.landscape.temperature import slope_in_temperature
from theory.lowering.alone import alone
from theory.lowering.ball import BallFunction, Box
from theory.lowering.numeric import numeric
from theory.lowering.precision import held, working

X, Y = sp.symbols("x y", real=True)
EXPR = sp.exp(X) - X * Y + sp.log(2 + Y**2)
BOX = Box({X: (0, 1), Y: (-1, 1)})
HEAD = np.random.default_rng(0).normal(size=(2, 2, 3))
BALL = numeric(EXPR, (X, Y), "arb")
INTERVALS = BallFunction([EXPR], ["x", "y"])


def proof():
    return proved_on.__wrapped__(BOX, EXPR, bound="1/10")


def value():
    ball = BALL(Fraction(1, 3), Fraction(1, 7))
    return str(ball.mid().man_exp()), str(ball.rad().man_exp())


CHEAP = (value, lambda: [str(end.man_exp()) for end in INTERVALS.on(BOX)[0]], lambda: certified_log_mass_bound(0.3))
DEAR = (
    proof,
    lambda: alibi.certified_logit_range(*HEAD, np.ones(3)),
    lambda: blow_up_time("1/2", "1/3").str(40, more=True),
    lambda: slope_in_temperature(3, 2).str(20, more=True),
)


@pytest.mark.parametrize("calls", [100, pytest.param(1000, marks=pytest.mark.deep)])
def test_eight_threads_with_many_certified_calls_each_find_what_one_finds(calls):
    assert ctx.prec == 53
    expected = [task() for task in (*CHEAP, *DEAR)]
    wrong, interval = [], sys.getswitchinterval()

    def work(seed):
        rng = random.Random(seed)
        for _ in range(calls):
            dear = rng.random() < 0.1
            k = len(CHEAP) + rng.randrange(len(DEAR)) if dear else rng.randrange(len(CHEAP))
            try:
                found = (*CHEAP, *DEAR)[k]()
            except Exception as error:
                found = error
            if found != expected[k]:
                wrong.append((k, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    sys.setswitchinterval(1e-6)  # a thread is interrupted as often as can be
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        left, ctx.prec = ctx.prec, 53
    assert not wrong and left == 53


def test_another_thread_waits_until_the_precision_is_back():
    inside, seen = threading.Event(), []

    def other():
        inside.wait()
        seen.append(value())

    thread = threading.Thread(target=other)
    expected = value()
    thread.start()
    with working(200):
        inside.set()
        thread.join(0.05)
        assert not seen and value() != expected
    thread.join()
    assert seen == [expected]


def test_precision_is_restored_after_an_error_and_through_nesting():
    with pytest.raises(ZeroDivisionError), working(99):
        with working(150):
            assert ctx.prec == 150
        assert ctx.prec == 99
        raise ZeroDivisionError
    assert ctx.prec == 53
    with pytest.raises(ValueError), working(-1):
        pass
    assert ctx.prec == 53 and held.acquire(blocking=False)
    held.release()


def test_alone_keeps_what_the_function_says_of_itself():
    @alone
    def double(x):
        """Twice x."""
        return 2 * x

    assert (double(4), double.__name__, double.__doc__) == (8, "double", "Twice x.")
