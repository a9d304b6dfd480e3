"""The claim record: one numbered statement of a paper, its hypotheses as data, its evidence and its verdict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from proofs_check.core.statement import Statement
from proofs_check.evidence.margin import Margin

if TYPE_CHECKING:
    from proofs_check.ledger.ruling import Case

Point = Mapping[str, Any]
MarginFunction = Callable[..., Margin]


class Effort(Enum):
    """How much of the evidence to spend."""

    QUICK = "re-evaluate shipped checkpoints, fewer sampled points"
    FULL = "retrain, and all sampled points"


class Nature(Enum):
    MATHEMATICAL = "mathematical"
    TABLE = "table"
    EMPIRICAL = "empirical"
    TEXTUAL = "textual"


class Verdict(Enum):
    HOLDS = "holds"
    HOLDS_IF = "holds_if"
    FALSE = "false"
    TYPO = "typo"
    UNSETTLED = "unsettled"
    REFUTED = "refuted"  # as printed; what is meant is not proved (yet)
    OPEN = "open"


class Status(Enum):
    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    ERROR = "error"
    NOT_CHECKED = "not_checked"


class Kind(Enum):
    """Kinds of evidence, strongest first."""

    SYMBOLIC = "symbolic"  # identities in free symbols
    CERTIFIED = "certified"  # certificates that the core went through
    EXACT = "exact"  # rationals, symbols or Arb balls by one program
    SAMPLED = "sampled"
    TRAINED = "trained"
    READ = "read"


class Severity(Enum):
    """What kind of defect a `false`, `typo` or `holds_if` is; CONTRIBUTING says which verdict goes with which."""

    BREAKS = "breaks the theorem"
    REPAIRABLE = "repairable"
    MISPRINT = "misprint"
    CODE = "code"
    ARITHMETIC = "arithmetic"
    READING = "reading"  # the hypothesis is one that a fair reader supplies: it accuses nobody


class Extent(Enum):
    """How much of what is stated the evidence covered."""

    ALL = "all"
    INSTANCES = "instances"
    SAMPLES = "samples"


@dataclass(frozen=True)
class Coverage:
    """The extent, and for `all` one sentence that says why nothing is left out. It is no proof: that is not claimed."""

    extent: Extent
    why: str = ""


INSTANCES = Coverage(Extent.INSTANCES)
SAMPLES = Coverage(Extent.SAMPLES)
ENUMERATED = Coverage(Extent.ALL, "The domain is finite, and every case is computed.")
WITNESSED = Coverage(Extent.ALL, "One exact point settles it.")


def everywhere(why: str) -> Coverage:
    """The evidence covers the whole statement, for the reason given."""
    return Coverage(Extent.ALL, why)


Points = Sequence[Point] | Callable[[Effort], Iterable[Point]]


@dataclass(frozen=True)
class Control:
    """A deliberately wrong variant that the evidence must reject: another margin, other points, or both."""

    name: str
    margin: MarginFunction | None = None
    points: Points | None = None


@dataclass(frozen=True)
class Evidence:
    """`margin(**point)` over all `points`, oriented so that >= 0 supports the claim's recorded verdict."""

    kind: Kind
    scope: str
    margin: MarginFunction | None = None
    points: Points = ()
    controls: tuple[Control, ...] = ()


@dataclass(frozen=True)
class Claim:
    """One numbered statement.

    `witness` is the stored counterexample, which the first evidence shows.
    `note` says what is missing (holds_if), the right form (typo), the truth (false) or what it would take (unsettled).
    `severity` goes with these three verdicts; `reading` is the sense taken, one sentence, where the text allows others.
    `coverage` is None for what is only quoted. `is_correction` marks a statement of ours, a correction, an addition or
    an outcome of training: it is never counted as the paper's. `outcome_of` names the paper's claim that such an
    outcome stands beside, without ruling on it. `defect` names the claim whose defect this one repeats. `formal` is the
    statement as data, which the core decides: what is printed where the paper is wrong, what is true where it is not. A
    claim that it settles needs no other evidence, and its statement, formula and hypotheses are printed from it. `case`
    is what the verdict was computed from, if it was, `why` a referee's prose beside it, which nothing checks;
    `record` the kind of record.
    """

    id: str
    source: str
    nature: Nature
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    statement: str = ""
    formula: str = ""
    hypotheses: tuple[str, ...] = ()
    witness: Point | None = None
    correction: str | None = None
    note: str = ""
    is_correction: bool = False
    severity: Severity | None = None
    reading: str = ""
    coverage: Coverage | None = None
    outcome_of: str | None = None
    defect: str | None = None
    formal: Statement | None = None
    case: "Case | None" = None
    holds_instead: str = ""
    why: str = ""
    record: str = "by hand"

    @property
    def paper(self) -> str:
        return self.id.split(".")[0]


@runtime_checkable
class Record(Protocol):
    """What is written of a claim, which is made of it once every section is read."""

    @property
    def id(self) -> str: ...

    def claim(self, known: Callable[[str], Statement]) -> Claim:
        """The claim; `known` gives the statement that the record of an id prints."""
