"""Every planted mistake is found by the check that names it, and the right implementation beside it passes all."""

import inspect
import math

import numpy as np
import pytest

from proofs_check.conform import CHECKS, Adapter, Outcome, claimed, require, run
from tests.proofs_check.conform.planted import MISTAKES
from tests.proofs_check.conform.right import Right

NAMED = {check.name: check for check in CHECKS}


class InTorch(Right):
    """What has a gradient."""

    BACKEND = "torch"


def beside(cls):
    """The right implementation, in the arithmetic of the wrong one."""
    right = type("Beside", (InTorch if getattr(cls, "BACKEND", "numpy") == "torch" else Right,), {"DTYPE": cls.DTYPE})
    return Adapter(right())


@pytest.mark.parametrize("cls", MISTAKES, ids=lambda cls: cls.__name__)
def test_planted_mistake_is_found_by_the_check_that_names_it_and_the_right_one_passes_it(cls):
    check = NAMED[MISTAKES[cls][1]]
    result = run(Adapter(cls()), check)
    assert result.deviates, f"{cls.__name__} passes {check.name}"
    assert result.told and "\n" not in result.told
    assert run(beside(cls), check).outcome is Outcome.PASSED


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_right_implementation_passes_everything_that_it_claims(dtype, seed):
    adapter = Adapter(type("Right", (Right,), {"DTYPE": dtype})())
    checks = list(claimed(adapter))
    assert len(checks) == len(CHECKS) - 1  # the gradient, which numpy does not have
    for check in checks:
        require(adapter, check, seed)


def test_gradient_of_the_right_value_residual_is_right():
    require(Adapter(InTorch()), NAMED["value_residual.gradient"])


def test_every_subject_has_a_planted_mistake_that_one_of_its_checks_finds():
    assert {check.split(".")[0] for _, check in MISTAKES.values()} == {check.subject for check in CHECKS}


# These compare the implementation with itself, see signs alone, or what is kept, which is yes or no.
BLIND = {
    "attention.causal", "alibi_attention.causal", "sink_attention.causal", "logits.causal", "logits.batch",
}  # fmt: skip
OF_WHAT_IS_KEPT = {
    f"evicting_attention.{name}" for name in ("own_token", "causal", "gone_for_good", "hindsight", "batch")
}
NUMBERS = [check for check in CHECKS if check.backend is None and check.name not in OF_WHAT_IS_KEPT]


@pytest.mark.parametrize(
    ("check", "by"),
    [(check, by) for check in NUMBERS for by in (3e-4, math.nan) if by != 3e-4 or check.name not in BLIND],
    ids=lambda given: getattr(given, "name", str(given)),
)
def test_no_check_of_numbers_passes_what_is_off_by_little_or_is_no_number(check, by):
    class Wrong(Right):
        DTYPE = "float32"

    def wrong(self, *given, **more):
        return _off(getattr(Right, check.subject)(self, *given, **more), by)

    wrong.__signature__ = inspect.signature(getattr(Right, check.subject))
    setattr(Wrong, check.subject, wrong)
    assert run(Adapter(Wrong()), check).deviates


def _off(found, by):
    if isinstance(found, tuple):
        return _off(found[0], by), *found[1:]
    if isinstance(found, list):
        return [_off(x, by) for x in found]
    return np.asarray(found) * (1 + by) + by
