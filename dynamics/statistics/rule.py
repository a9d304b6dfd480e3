"""Rules, fixed beforehand, for when a comparison ends and which verdict it then has, and families of such rules.

A difference is (variant - baseline) as a share of the baseline's, paired by seed and order of data;
log(variant/baseline) is the same to first order and, where the two are exchangeable, exactly symmetric. Its gain is the
difference, with the sign turned where lower is better. After every seed one looks at the interval of the mean gain, met
with all intervals before it. These hold at once with probability 1 - error * share. So, by the union bound, all that
the comparisons of a plan say is true with probability 1 - error, however they stop and however they depend on one
another: their shares add up to at most 1.

Which method: "symmetric", as it assumes less ("gaussian" is a case of it), and under Gaussian noise it costs no power
past its first seeds. At c = 1/2 it excludes nothing before 6 seeds at alpha = 0.05 and 10 at 0.005, in most orders 8
and 13; "gaussian" begins with 4 and 5. That is for smaller budgets, and is an assumption that a report has to name.
"""

import hashlib
from enum import Enum
from typing import Annotated, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, PositiveFloat, model_validator

from dynamics.files.manifest import Open01, Several, Share, Strict
from dynamics.statistics.sequence import C, Method, can_exclude, intervals, running

Name = Annotated[str, Field(min_length=1, max_length=100)]


class Verdict(Enum):
    """What may be said of the mean gain; x is the smallest effect of interest."""

    BETTER = "better by at least x"
    WORSE = "worse by at least x"
    SAME = "no difference larger than x"
    AHEAD = "better, and by less than x is not excluded"
    BEHIND = "worse, and by less than x is not excluded"
    OPEN = "undecided: neither better nor worse is excluded"
    APART = "the intervals do not meet: the assumption fails, or the error that the level allows took place"


class State(Enum):
    """Whether a comparison goes on."""

    DECIDED = "decided: the rule stops here"
    FEW = "not enough seeds"
    ON = "another seed"
    SPENT = "the budget is spent"


VERDICTS = tuple(Verdict)
FINAL = {Verdict.BETTER, Verdict.WORSE, Verdict.SAME, Verdict.APART}


class Rule(Strict):
    """One comparison, written down before it runs.

    smallest: x, in the unit of the differences; share: of the error of the whole family; least, most: seeds before
    which nothing is decided and after which nothing is run; method: the assumption by its name in `sequence`; c: 1/c is
    the typical size of mean over spread that the method is tuned to, which changes widths and never the level;
    worse_ends: whether "worse", by however little, ends the comparison as well.
    """

    metric: Name
    lower_is_better: bool
    smallest: PositiveFloat
    error: Open01 = 0.05
    share: Share = 1.0
    least: Several = 3
    most: Several
    method: Method
    c: Annotated[float, Field(ge=1e-3, le=1e3)] = C
    worse_ends: bool = False

    @model_validator(mode="after")
    def _budget(self) -> Self:
        if self.most < self.least:
            raise ValueError(f"most must be at least least, got {self.most} < {self.least}")
        if not can_exclude(self.most, self.alpha, self.method, self.c):
            raise ValueError(f"{self.most} seeds exclude nothing at error {self.alpha:g} under {self.method!r}")
        return self

    @property
    def alpha(self) -> float:
        """The error that this comparison may spend."""
        return self.error * self.share

    @property
    def final(self) -> set[Verdict]:
        """The verdicts that end the comparison."""
        return FINAL | ({Verdict.BEHIND} if self.worse_ends else set())


class Plan(Strict):
    """A family of comparisons, by name. Raises ValueError: errors that differ, shares that add up to more than 1."""

    rules: Annotated[dict[Name, Rule], Field(min_length=1)]

    @model_validator(mode="after")
    def _joint(self) -> Self:
        errors = {rule.error for rule in self.rules.values()}
        if len(errors) > 1:
            raise ValueError(f"a family has one error, got {sorted(errors)}")
        total = float(np.sum([rule.share for rule in self.rules.values()]))
        if total > 1 + 1e-12:
            raise ValueError(f"shares must add up to at most 1, got {total:g}")
        return self

    @property
    def sha256(self) -> str:
        """Hash of the plan, which its results carry; the order of the names does not matter."""
        rules = dict(sorted(self.rules.items()))
        return hashlib.sha256(Plan(rules=rules).model_dump_json().encode()).hexdigest()


class Decision(NamedTuple):
    """What is said after n seeds; low, high: of the mean gain, infinite where nothing is excluded."""

    verdict: Verdict
    state: State
    n: int
    low: float
    high: float


class Result(Strict):
    """A decision as a file: the plan it answers to, its name there, all differences; an infinite end is None."""

    plan_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    name: Name
    differences: tuple[float, ...]
    verdict: str
    state: str
    n: int
    low: float | None
    high: float | None


def decide(rule: Rule, differences: ArrayLike) -> Decision:
    """Follow the rule through the differences, (n,) in the order of their seeds, and stop where it stops.

    What comes after the stop is not looked at. Raises ValueError: as `intervals`, or more than rule.most differences.
    """
    d = np.asarray(differences, dtype=float)
    if d.ndim != 1:
        raise ValueError(f"differences must be one sequence, got shape {d.shape}")
    if len(d) > rule.most:
        raise ValueError(f"the rule allows {rule.most} differences, got {len(d)}")
    low, high = running(*intervals(-d if rule.lower_is_better else d, rule.alpha, rule.method, rule.c))
    codes = verdicts(rule, low, high)
    last = int(stops(rule, codes))
    return Decision(VERDICTS[codes[last]], _state(rule, codes, last), last + 1, float(low[last]), float(high[last]))


def answer(plan: Plan, name: str, differences: ArrayLike) -> Result:
    """Decide one comparison of a plan, as a record. Raises ValueError: no such comparison, or as `decide`."""
    if name not in plan.rules:
        raise ValueError(f"{name!r} is not in the plan")
    found = decide(plan.rules[name], differences)
    return Result(
        plan_sha256=plan.sha256,
        name=name,
        differences=tuple(np.asarray(differences, dtype=float).tolist()),
        verdict=found.verdict.value,
        state=found.state.value,
        n=found.n,
        low=_finite(found.low),
        high=_finite(found.high),
    )


def verdicts(rule: Rule, low: NDArray, high: NDArray) -> NDArray:
    """Places in VERDICTS of intervals of the gain, whatever n; the first that fits in the order written here."""
    x = rule.smallest
    fits = {
        Verdict.APART: low > high,
        Verdict.BETTER: low >= x,
        Verdict.WORSE: high <= -x,
        Verdict.SAME: (low >= -x) & (high <= x),
        Verdict.AHEAD: low > 0,
        Verdict.BEHIND: high < 0,
    }
    places = [VERDICTS.index(verdict) for verdict in fits]
    return np.select(list(fits.values()), places, VERDICTS.index(Verdict.OPEN))


def stops(rule: Rule, codes: NDArray) -> NDArray:
    """Where along the last axis a comparison ends: the first final verdict from rule.least on, else the last place."""
    ends = np.isin(codes, [VERDICTS.index(verdict) for verdict in rule.final])
    ends[..., : rule.least - 1] = False
    return np.where(ends.any(-1), ends.argmax(-1), codes.shape[-1] - 1)


def _state(rule: Rule, codes: NDArray, last: int) -> State:
    if last + 1 < rule.least:
        return State.FEW
    if VERDICTS[codes[last]] in rule.final:
        return State.DECIDED
    return State.SPENT if last + 1 == rule.most else State.ON


def _finite(end: float) -> float | None:
    return end if np.isfinite(end) else None
