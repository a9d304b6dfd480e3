"""Every planted mistake is found, every check finds one that no other does, and the right implementation passes all."""

import math

import pytest

from proofs_check.conform import CHECKS, Adapter, Outcome, claimed, require, run
from tests.proofs_check.conform.planted import MISTAKES
from tests.proofs_check.conform.planting import out, plant
from tests.proofs_check.conform.right import InTorch, Right
from tests.proofs_check.conform.sole import KEPT, SOLE
from tests.proofs_check.conform.unseen import UNSEEN
from tests.proofs_check.conform.wrapped import WRAPPED

NAMED = {check.name: check for check in CHECKS}
NOT_FOUND = ["token 0 is taken for a pad wherever it stands"]  # it is never drawn, since adapters pad with it


def finds(check, cls):
    """By what the mistake answers: if it crashed where it is meant to answer, it would be none of a package."""
    outcome = run(Adapter(cls()), check).outcome
    return outcome is Outcome.RAISED if "a crash" in cls.__name__ else outcome in (Outcome.FAILED, Outcome.CONVENTION)


@pytest.mark.parametrize("cls", MISTAKES | SOLE, ids=lambda cls: cls.__name__)
def test_mistake_is_found_by_the_check_that_names_it(cls):
    assert finds(NAMED[(MISTAKES | SOLE)[cls][1]], cls)


def test_mistakes_that_no_check_found_once_are_found_by_one_of_their_subject_or_of_decoding():
    missed = [
        where for cls, (where, subject) in (UNSEEN | WRAPPED).items()
        if not any(finds(check, cls) for of in dict.fromkeys((subject, "decoded"))
                   for check in CHECKS[::-1] if check.subject == of)
    ]
    assert missed == NOT_FOUND


def test_every_check_has_a_mistake():
    assert sorted(check for _, check in SOLE.values()) == sorted(NAMED)


QUICK = ("alibi_slopes", "value_residual")


@pytest.mark.parametrize(
    ("cls", "name"), [pytest.param(cls, name, marks=[] if name.startswith(QUICK) else pytest.mark.deep, id=name)
                      for cls, (_, name) in SOLE.items()])
def test_no_other_check_of_its_subject_finds_it(cls, name):
    of_subject = [check for check in CHECKS if check.subject == NAMED[name].subject]
    assert [check.name for check in of_subject if run(Adapter(cls()), check).deviates] == [name]


@pytest.mark.parametrize(
    ("dtype", "seed"),
    [("float64", 0), *(pytest.param(dtype, seed, marks=pytest.mark.deep)
                       for dtype in ("float64", "float32") for seed in (1, 2))])
def test_right_implementation_passes_everything_that_it_claims(dtype, seed):
    adapter = Adapter(type("Right", (Right,), {"DTYPE": dtype})())
    checks = list(claimed(adapter))
    assert len(checks) == len(CHECKS) - 1  # the gradient, which numpy does not have and torch has
    for check in checks:
        require(adapter, check, seed)
    require(Adapter(InTorch()), NAMED["value_residual.gradient"])


# These compare the implementation with itself, or what is kept, which is yes or no.
OF_ITSELF = ("logits.causal", "logits.batch")
OF_WHAT_IS_KEPT = [f"evicting_attention.{name}" for name in KEPT]


@pytest.mark.parametrize("by", [3e-4, math.nan])
@pytest.mark.parametrize("name", [check.name for check in CHECKS if check.backend is None])
def test_no_check_of_numbers_passes_what_is_off_by_little_or_is_no_number(name, by):
    right = type("Single", (Right,), {"DTYPE": "float32"})
    wrong = plant({}, "", name, found=out(lambda x: (1 + by) * x + by), right=right)
    blind = name in OF_WHAT_IS_KEPT or (name in OF_ITSELF and by == 3e-4)
    assert run(Adapter(wrong()), NAMED[name]).deviates is not blind
