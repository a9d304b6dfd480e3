"""What came of training here: which of two models comes first, and where measures of models lie.

Whether a comparison stands or is left open, the names of the models, their medians and counts, and the setting are read
from the results that ship (`shipped`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from dynamics.training.describe import sizes
from proofs_check.evidence.counting import holm_level
from proofs_check.evidence.margin import Margin, at_most, less, worst
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort, Evidence, Kind, Nature, Verdict
from proofs_check.ledger.registry import installed
from proofs_check.ledger.rule import place, source
from proofs_check.records.shipped import CHECKPOINT, Found, Run, best, seeds, settings, shipped, sooner, tally

ROOM = "trained."  # the sections of a paper whose comparisons are corrected together
NUMBERS = {1: "one", 2: "two", 4: "four"}
WITH = {"k": "shifted keys", "v": "shifted values", "kv": "KV shifting", "qkv": "shifted queries, keys and values",
        "common": "one common mixture", "half": "half of the channels shifted",
        "fused": "the fusion given", "apart": "the decoupling given"}  # fmt: skip
CHOICES = {"window": "window {}", "initial": "{} start", "parameters": "{} coefficients"}
LEFT = "it does not survive the correction for all comparisons"


class Pair(NamedTuple):
    """The first run takes less than `factor` times the steps of the second to the level."""

    first: Run
    second: Run
    factor: Fraction = Fraction(1)

    def found(self) -> Found:
        return sooner(*self)

    @property
    def wrong(self) -> "Pair":
        return Pair(self.second, self.first, self.factor)


class Counted(NamedTuple):
    """A comparison of its own, whose first line says what is counted; given `instead` it fails."""

    of: Callable[..., Found]
    instead: tuple[Any, ...]
    given: tuple[Any, ...] = ()

    def found(self) -> Found:
        return self.of(*self.given)

    @property
    def wrong(self) -> "Counted":
        return self._replace(given=self.instead)


Comparison = Pair | Counted


@dataclass(frozen=True)
class Bound:
    """A measure is at least a number for these runs, or below it, and not for those that are unlike. The first line of
    the measure says what it is; seeds: of one that is taken run by run; shown: is the value printed, not only checked?
    """

    measure: Callable[..., float]
    runs: Sequence[Any]
    unlike: Sequence[Any]
    least: Fraction | None = None
    below: Fraction | None = None
    seeds: Callable[[Any, Effort], Iterable[Any]] | None = None
    shown: bool = True

    def points(self, runs: Sequence[Any], effort: Effort) -> list[dict[str, Any]]:
        if self.seeds is None:
            return [{"run": run} for run in runs]
        return [{"run": run, "seed": seed} for run in runs for seed in self.seeds(run, effort)]

    def margin(self, **point: Any) -> Margin:
        value = self.measure(**point)
        return less(value, float(self.below)) if self.least is None else at_most(float(self.least), value)

    def said(self, words: "Words") -> str:
        side = f"below {float(self.below):g}" if self.least is None else f"at least {float(self.least):g}"
        found = [f"{words.name(run)}{self._value(run) if self.shown else ''}" for run in self.runs]
        return f"{_first_line(self.measure)} was {side}: {', '.join(found)}"

    def _value(self, run: Any) -> str:
        """The value that is closest to the number."""
        values = [self.measure(**point) for point in self.points([run], Effort.QUICK)]
        nearest, sign = (max(values), "up to") if self.least is None else (min(values), "from")
        return f" {sign} {nearest:.3g}" if self.seeds else f" {nearest:.3g}"


def reaches(percent: int, *runs: Run, unlike: Sequence[Run]) -> Bound:
    """Each run has that best score, within its steps."""
    return Bound(best, runs, unlike, least=Fraction(percent, 100), seeds=seeds)


def stays_below(percent: int, *runs: Run, unlike: Sequence[Run]) -> Bound:
    """Each run is below that score throughout."""
    return Bound(best, runs, unlike, below=Fraction(percent, 100), seeds=seeds)


@dataclass(frozen=True)
class Trained:
    """ahead: comparisons that stand after the correction; left: those that do not; bounds: where measures lie; counts:
    functions whose first line says what they count; runs: what was trained, where nothing else names it; why: prose,
    which nothing checks.
    """

    id: str
    at: str
    ahead: Sequence[Comparison] = ()
    left: Sequence[Comparison] = ()
    bounds: Sequence[Bound] = ()
    counts: Sequence[Callable[[], Any]] = ()
    runs: Sequence[Run] = ()
    outcome_of: str | None = None
    why: str = ""

    def claim(self, known: Any) -> Claim:
        """The claim, its words from what ships; what cannot be read is said, and the evidence fails on it."""
        try:
            words = self._words()
            said = " ".join(f"{one[0].upper()}{one[1:]}." for one in self._said(words))
            hypotheses = (words.setting,)
        except (OSError, ValueError) as fault:
            said, hypotheses = f"What ships cannot be read: {fault}", ()
        return Claim(
            id=self.id,
            source=source(self.id, self.at),
            record="trained",
            statement=said,
            hypotheses=hypotheses,
            nature=Nature.EMPIRICAL,
            verdict=Verdict.HOLDS,
            evidence=tuple(self._evidence()),
            is_correction=place(self.id, self.at).ours,
            coverage=SAMPLES,
            outcome_of=self.outcome_of,
            why=self.why,
        )

    def _words(self) -> "Words":
        pairs = [one for one in (*self.ahead, *self.left) if isinstance(one, Pair)]
        subjects = [*self.runs, *(run for bound in self.bounds for run in bound.runs)]
        return Words([*(run for pair in pairs for run in pair[:2]), *(run for one in subjects for run in _flat(one))])

    def _said(self, words: "Words") -> Iterator[str]:
        yield from (bound.said(words) for bound in self.bounds)
        yield from (f"{_first_line(count)}: {', '.join(map(str, count()))}" for count in self.counts)
        yield from words.compared(self.ahead)
        left = list(words.compared(self.left, left=True))
        if left:
            yield f"open, as {LEFT}: {'; '.join(left)}"

    def _evidence(self) -> Iterator[Evidence]:
        paper = self.id.split(".")[0]
        for one in self.ahead:
            control = Control("what is exchanged", points=({"one": one.wrong, "paper": paper},))
            yield _piece(stands, ({"one": one, "paper": paper},), control)
        for one in self.left:
            control = Control("the surest comparison", points=lambda effort: ({"one": _surest(paper), "paper": paper},))
            yield _piece(is_open, ({"one": one, "paper": paper},), control)
        for bound in self.bounds:
            controls = (Control(_key(run), points=partial(bound.points, [run])) for run in bound.unlike)
            yield _piece(bound.measure, partial(bound.points, bound.runs), *controls, margin=bound.margin)


def _piece(of: Callable[..., Any], points: Any, *controls: Control, margin: Any = None) -> Evidence:
    return Evidence(Kind.TRAINED, f"{_first_line(of)}; what ships, its hash checked", margin or of, points, controls)


def stands(one: Comparison, paper: str) -> Margin:
    """The first is ahead, and it survives the correction for all comparisons."""
    found = one.found()
    return worst([at_most(found.p, level(paper)), less(Fraction(1, 2), found.share)])


def is_open(one: Comparison, paper: str) -> Margin:
    """The comparison does not survive the correction, which says nothing against a difference."""
    return less(level(paper), one.found().p)


def family(paper: str) -> dict[Comparison, None]:
    """Every comparison of the paper's trainings once, whether it came out or not."""
    held = installed()[paper]
    sections = [import_module(f"{held.package}.{name}") for name in held.sections if name.startswith(ROOM)]
    records = [one for section in sections for one in section.CLAIMS if isinstance(one, Trained)]
    return dict.fromkeys(one for record in records for one in (*record.ahead, *record.left))


@cache
def level(paper: str) -> Fraction:
    """The p at or below which a comparison stands, of those that Holm's method corrects together."""
    return holm_level(one.found().p for one in family(paper))


def _surest(paper: str) -> Comparison:
    return min(family(paper), key=lambda one: one.found().p)


def _first_line(of: Callable[..., Any]) -> str:
    return (of.__doc__ or "").partition("\n")[0].removesuffix(".")


def _flat(subject: Any) -> Sequence[Run]:
    """The runs that a measure is of: one, or several; none where its subject is a text or a function."""
    if isinstance(subject, str) or callable(subject):
        return []
    return [subject] if isinstance(subject[0], str) else subject


def _key(subject: Any) -> str:
    """A subject by its text, its function's first line, or the names of its runs."""
    if isinstance(subject, str):
        return subject
    return _first_line(subject) if callable(subject) else " and ".join(map(" ".join, _flat(subject)))


@dataclass(frozen=True)
class Words:
    """Names of these runs, each with what not all of them share, and the setting with what they do."""

    runs: Sequence[Run]

    @property
    def setting(self) -> str:
        counts = {len(shipped(run)) for run in self.runs if run[0] != CHECKPOINT}
        seeds = [f"{' and '.join(map(str, sorted(counts)))} seeds"] if counts else []
        return ", ".join([sizes(map(settings, self.runs)), *seeds])

    def apart(self, run: Run) -> list[str]:
        """What not all runs share, but for layers and shift."""
        shared = set.intersection(*(set(_pieces(one)) for one in self.runs))
        return [piece for piece in _pieces(run) if piece not in shared and not piece.endswith((" layer", " layers"))]

    def kind(self, run: Run) -> str:
        """The shift alone where all runs have as many layers and it tells them apart, layers and shift elsewhere."""
        models = [settings(one)[0] for one in (run, *self.runs)]
        what, *others = (WITH.get(one.shift if one.place == "heads" else one.place, "") for one in models)
        if len({one.n_layers for one in models}) == 1 and len(set(others)) > 1:
            return what or "vanilla attention"
        layers = models[0].n_layers
        named = f"{NUMBERS.get(layers, layers)} {'' if what else 'vanilla '}layer{'s' * (layers > 1)}"
        return f"{named} with {what}" if what else named

    def name(self, subject: Any, without: Sequence[str] = ()) -> str:
        """A model by its kind and what sets it apart, several by what sets all of them apart."""
        runs = _flat(subject)
        if not runs:
            return _key(subject)
        apart = ", ".join(piece for piece in self.apart(runs[0]) if piece not in without)
        return " and ".join(map(self.kind, runs)) + f" ({apart})" * bool(apart)

    def compared(self, comparisons: Sequence[Comparison], left: bool = False) -> Iterator[str]:
        """A sentence for each two models, with all the places where they are compared."""
        found: dict[str, list[str]] = {}
        for one in comparisons:
            share = one.found().said
            if isinstance(one, Counted):
                found[f"{_first_line(one.of).format(*one.given)}: {share}"] = []
                continue
            both = [piece for piece in self.apart(one.first) if piece in self.apart(one.second)]
            first, second = (self.name(run, both) for run in one[:2])
            level = f"{100 * shipped(one.first)[0].measure.level:g} %"
            than = "fewer steps than" if one.factor == 1 else f"less than {one.factor} of the steps of"
            steps = f"({tally(one.first)} against {tally(one.second)})"
            head = f"{first} reached {level} in {than} {second}{':' * bool(both)}"
            said = [", ".join(both), f"with probability {share}" * left, steps]
            found.setdefault(head, []).append(" ".join(filter(None, said)))
        for head, places in found.items():
            yield " ".join([head, ", ".join(places)]).rstrip()


@cache
def _pieces(run: Run) -> list[str]:
    """What a name may say of a run."""
    config, training = settings(run)
    chosen = [text.format(getattr(config, name)) for name, text in CHOICES.items()]
    return [*chosen, *sizes([(config, training)]).split(", ")]
