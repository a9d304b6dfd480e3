"""What came of training here: which of two models comes first, and where measures of models lie.

Whether a comparison stands or is left open, the names of the models, their medians and counts, and the setting are read
from the results that ship (`shipped`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from typing import Any, Literal, NamedTuple

from dynamics.training.describe import sizes
from proofs_check.evidence.counting import holm_level
from proofs_check.evidence.margin import Margin, at_most, less, worst
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort, Evidence, Kind, Nature, Verdict
from proofs_check.ledger.registry import installed
from proofs_check.ledger.rule import place, source
from proofs_check.records.shipped import Found, Run, best, level_of, seeds, seeds_of, settings, sooner, tally

ROOM = "trained."  # the sections of a paper whose comparisons are corrected together
MODELS = {"none": "vanilla attention", "k": "shifted keys", "v": "shifted values", "kv": "KV shifting",
          "qkv": "shifted queries, keys and values", "common": "one common mixture",
          "half": "half of the channels shifted", "fused": "a given fusion", "apart": "a given decoupling"}
CHOICES = {"window": "window {}", "initial": "{} start", "parameters": "{} coefficients"}
LEFT = "it does not survive the correction for all comparisons"


class Comparison(NamedTuple):
    """A test, what is given to it, and with what it fails. The first line of the test says what it counts."""

    of: Callable[..., Found]
    given: tuple[Any, ...]
    instead: tuple[Any, ...]

    def found(self) -> Found:
        return self.of(*self.given)


def pair(first: Run, second: Run, factor: Fraction = Fraction(1)) -> Comparison:
    """The first takes less than `factor` times the steps of the second to the level."""
    return Comparison(sooner, (first, second, factor), (second, first, factor))


@dataclass(frozen=True)
class Bound:
    """A measure is at least a number, or below it, and for what is unlike it is not. It is of runs, of pairs of runs or
    of what a text names, and its first line says what it is; seeds: where it is taken run by run; shown: is the value
    printed, not only checked?
    """

    measure: Callable[..., float]
    subjects: Sequence[Any]
    side: Literal["at least", "below"]
    number: Fraction
    unlike: Iterable[Any]
    seeds: Callable[[Any, Effort], Iterable[Any]] | None = None
    shown: bool = True

    def points(self, subjects: Sequence[Any], effort: Effort = Effort.QUICK) -> list[dict[str, Any]]:
        if self.seeds is None:
            return [{"of": one} for one in subjects]
        return [{"of": one, "seed": seed} for one in subjects for seed in self.seeds(one, effort)]

    def margin(self, **point: Any) -> Margin:
        value, number = self.measure(**point), float(self.number)
        return less(value, number) if self.side == "below" else at_most(number, value)

    def nearest(self, subject: Any) -> str:
        values = [self.measure(**point) for point in self.points([subject])] if self.shown else []
        return "".join(f" {value:.3g}" for value in sorted(values, reverse=self.side == "below")[:1])

    def evidence(self) -> Evidence:
        names = ((" and ".join(map(" ".join, _runs(one))) or str(one), one) for one in self.unlike)
        controls = (Control(name, points=partial(self.points, [one])) for name, one in names)
        return _piece(self.measure, self.margin, partial(self.points, self.subjects), *controls)


def reaches(percent: int, *runs: Run, unlike: Iterable[Run]) -> Bound:
    """Each run has that best score, within its steps."""
    return Bound(best, runs, "at least", Fraction(percent, 100), unlike, seeds)


def stays_below(percent: int, *runs: Run, unlike: Iterable[Run]) -> Bound:
    """Each run is below that score throughout."""
    return Bound(best, runs, "below", Fraction(percent, 100), unlike, seeds)


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
            hypotheses, *said = self._words()
        except (OSError, ValueError) as fault:
            hypotheses, said = "the setting is not known", [f"What ships cannot be read: {fault}"]
        return Claim(
            id=self.id,
            source=source(self.id, self.at),
            record="trained",
            statement=" ".join(f"{one[0].upper()}{one[1:]}." for one in said),
            hypotheses=(hypotheses,) if hypotheses else (),
            nature=Nature.EMPIRICAL,
            verdict=Verdict.HOLDS,
            evidence=tuple(self._evidence()),
            is_correction=place(self.id, self.at).ours,
            coverage=SAMPLES,
            outcome_of=self.outcome_of,
            why=self.why,
        )

    def _evidence(self) -> Iterator[Evidence]:
        paper = self.id.split(".")[0]
        for one in self.ahead:
            other = one._replace(given=one.instead)
            wrong = Control("what is exchanged", points=({"one": other, "paper": paper},))
            yield _piece(stands, stands, ({"one": one, "paper": paper},), wrong)
        for one in self.left:
            surest = Control("the surest comparison", points=lambda effort: ({"one": _surest(paper), "paper": paper},))
            yield _piece(is_open, is_open, ({"one": one, "paper": paper},), surest)
        yield from (bound.evidence() for bound in self.bounds)

    def _words(self) -> Iterator[str]:
        """The setting, and a sentence each."""
        pairs = [run for one in (*self.ahead, *self.left) if one.of is sooner for run in one.given[:2]]
        measured = [run for bound in self.bounds for one in bound.subjects for run in _runs(one)]
        runs = [*self.runs, *pairs, *measured]
        yield ", ".join(piece for piece in _pieces(runs[0]) if piece not in _apart(runs[0], runs))
        for bound in self.bounds:
            found = (_name(one, runs) + bound.nearest(one) for one in bound.subjects)
            yield f"{_first_line(bound.measure)} was {bound.side} {float(bound.number):g}: {', '.join(found)}"
        yield from (f"{_first_line(count)}: {', '.join(map(str, count()))}" for count in self.counts)
        yield from _compared(self.ahead, runs)
        if self.left:
            yield f"open, as {LEFT}: {'; '.join(_compared(self.left, runs, ' with probability {}'))}"


def _piece(of: Callable[..., Any], margin: Any, points: Any, *controls: Control) -> Evidence:
    return Evidence(Kind.TRAINED, f"{_first_line(of)}; what ships, its hash checked", margin, points, controls)


def stands(one: Comparison, paper: str) -> Margin:
    """The first is ahead, and it survives the correction for all comparisons."""
    found = one.found()
    return worst([at_most(found.p, level(paper)), less(Fraction(1, 2), found.share)])


def is_open(one: Comparison, paper: str) -> Margin:
    """The comparison does not survive the correction, which says nothing against a difference."""
    return less(level(paper), one.found().p)


def records(paper: str) -> list[Trained]:
    """The trainings of a paper."""
    held = installed()[paper]
    sections = [import_module(f"{held.package}.{name}") for name in held.sections if name.startswith(ROOM)]
    return [one for section in sections for one in section.CLAIMS if isinstance(one, Trained)]


def family(paper: str) -> dict[Comparison, None]:
    """Every comparison of a paper's trainings once, whether it came out or not."""
    return dict.fromkeys(one for record in records(paper) for one in (*record.ahead, *record.left))


@cache
def level(paper: str) -> Fraction:
    """The p at or below which a comparison stands, of those that Holm's method corrects together."""
    return holm_level(one.found().p for one in family(paper))


def _surest(paper: str) -> Comparison:
    return min(family(paper), key=lambda one: one.found().p)


def _first_line(of: Callable[..., Any]) -> str:
    return (of.__doc__ or "").partition("\n")[0].removesuffix(".")


def _runs(subject: Any) -> Sequence[Run]:
    """The runs that a measure is of: one, or several; none where its subject is a text."""
    if isinstance(subject, str):
        return ()
    return (subject,) if isinstance(subject[0], str) else subject


@cache
def _pieces(run: Run) -> list[str]:
    """What a name may say of a model beside its kind: its sizes, and what is chosen otherwise than the paper's."""
    config, training = settings(run)
    unusual = [name for name in CHOICES if getattr(config, name) != getattr(type(config)(), name)]
    chosen = [CHOICES[name].format(getattr(config, name)) for name in unusual]
    return [*sizes([(config, training)]).replace(", then", " and then").split(", "), *chosen, seeds_of(run)]


def _apart(run: Run, runs: Sequence[Run]) -> list[str]:
    return [piece for piece in _pieces(run) if any(piece not in _pieces(other) for other in runs)]


def _name(subject: Any, runs: Sequence[Run], without: Sequence[str] = ()) -> str:
    """A model by its kind and what sets it apart from others of these runs."""
    if isinstance(subject, str):
        return subject
    models = [settings(run)[0] for run in _runs(subject)]
    kinds = (MODELS[model.shift if model.place == "heads" else model.place] for model in models)
    apart = ", ".join(piece for piece in _apart(_runs(subject)[0], runs) if piece not in without)
    return " and ".join(kinds) + (f" ({apart})" if apart else "")


def _compared(comparisons: Sequence[Comparison], runs: Sequence[Run], share: str = "") -> list[str]:
    """A sentence for each two models, with all the places where they are compared."""
    found: dict[str, list[str]] = {}
    for one in comparisons:
        said = one.found().said
        if one.of is not sooner:
            found[f"{_first_line(one.of).format(*one.given)}: {said}"] = [""]
            continue
        first, second, factor = one.given
        both = [piece for piece in _apart(first, runs) if piece in _apart(second, runs)]
        than = "fewer steps than" if factor == 1 else f"less than {factor} of the steps of"
        where = f": {', '.join(both)}" if both else ""
        steps = f"{where}{share.format(said)} ({tally(first)} against {tally(second)})"
        head = f"{_name(first, runs, both)} reached {level_of(first)} in {than} {_name(second, runs, both)}"
        found.setdefault(head, []).append(steps)
    return [head + ",".join(places).replace(",:", ",") for head, places in found.items()]
