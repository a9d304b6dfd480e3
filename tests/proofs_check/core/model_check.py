"""Obligations against meaning, on random statements with finite models.

`python -m tests.proofs_check.core.model_check --count 20000 --seed 1` prints shares and disagreements; statement number k
is that of seed + k. `--search 500` sends statements that enumeration decides through the whole search.
"""

import argparse
import random
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product

from proofs_check.core import certificate
from proofs_check.core.certificate import Outcome
from proofs_check.core.domain import needed
from proofs_check.core.meaning import Model, NoDomain, fits, means
from proofs_check.core.printing import sentence
from proofs_check.core.statement import Form, Statement, obligations
from proofs_check.core.terms import FORMULAS, Malformed, Term, negation, num
from proofs_check.rigour.decide import BRIEF, Empty, decide
from tests.proofs_check.core.random_statements import statement

# Parts that may fail although the statement is true: another point, another box would do.
CHOSEN = {"attained", "approached", "gap", "witness", "elsewhere", "box in the domain"}
_SHOWN = 10


@dataclass
class Reading:
    """Sequents in a model. base: variables with carriers; what a condition declares besides is an index."""

    model: Model
    base: tuple
    grids: dict = field(default_factory=dict)

    def grid(self, variables):
        """All points; raises NoDomain."""
        if variables not in self.grids:
            before = self.grid(variables[:-1]) if variables else None
            last = variables[-1] if variables else None
            carriers = {v.name: self.model.carriers[v.name] for v in self.base if v is last}
            model = Model(carriers, {}, self.model.known)
            self.grids[variables] = [{}] if last is None else [
                {**at, last.name: x} for at in before for x in model.values(last, at)]  # fmt: skip
        return self.grids[variables]

    def true_at(self, sequent, at):
        """Kleene's reading: some hypothesis is false, or the goal is true."""
        return self.model.excluded(sequent.given, at) or self.model.truth(sequent.goal, at) is True

    def true(self, sequent):
        try:
            return all(self.true_at(sequent, at) for at in self.grid(sequent.variables))
        except NoDomain:
            return False

    def follows(self, sequent, points):
        """The reading of a condition, whose hypotheses were shown to be defined: where all hold the goal does."""
        truth = self.model.truth
        return all(any(truth(g, at) is not True for g in sequent.given) or truth(sequent.goal, at) is True
                   for at in points)  # fmt: skip

    def shown(self, sequent):
        """Do all conditions of definedness hold, and the sequent where its hypotheses do?"""
        try:
            return all(self.follows(part, self.grid(part.variables)) for part in (*needed(sequent), sequent))
        except NoDomain:
            return False

    def amiss(self, sequent):
        """Where the sequent, arranged so that it decides first, is shown and not true, or true and not shown."""
        known, points = {}, []
        with suppress(NoDomain):
            points = self.grid(sequent.variables)
        for at in points:
            true = self.true_at(sequent, at)
            given = tuple(self.deciding(g, at) for g in sequent.given)
            false = tuple(g for g in given if self.model.truth(g, at) is False)[:1]
            key = (false or (() if true else given)), (sequent.goal if false else self.deciding(sequent.goal, at))
            if key not in known:
                made = certificate.arranged(sequent, *key)
                known[key] = [*needed(made), made]
            if all(self.follows(part, self.beside(at, part)) for part in known[key]) != true:
                return "true and not shown" if true else "shown and not true"
        return ""

    def beside(self, at, sequent):
        """The point with each value of the indices."""
        places = [at]
        for v in sequent.variables:
            if v not in self.base:
                places = [{**p, v.name: k} for p in places for k in Model({}, {}, self.model.known).values(v, p)]
        return places

    def deciding(self, term, at):
        """The term with what decides each formula first; what an index moves is left as it is."""
        if term.kind in ("fold", "each"):
            return term
        if term.kind == "implies":
            term = Term("or", negation(term.parts[0]), term.parts[1])
        parts = [self.deciding(part, at) if isinstance(part, Term) else part for part in term.parts]
        if term.kind in ("and", "or"):
            parts.sort(key=lambda part: self.model.truth(part, at) is not (term.kind == "or"))
        return Term(term.kind, *parts)


def shuffled(rng, term):
    """The term with the parts of each `and` and `or` in another order."""
    parts = [shuffled(rng, part) if isinstance(part, Term) else part for part in term.parts]
    return Term(term.kind, *(rng.sample(parts, len(parts)) if term.kind in ("and", "or") else parts))


def reordered(rng, made):
    """The statement with hypotheses, and parts of `and` and `or`, in another order."""
    says, given = made.says, [shuffled(rng, g) for g in made.given]
    says = shuffled(rng, says) if isinstance(says, Term) else replace(
        says, terms=tuple(shuffled(rng, term) for term in says.terms))  # fmt: skip
    return replace(made, given=tuple(rng.sample(given, len(given))), says=says)


def disagreements(made, model, rng):
    """What the obligations, or their conditions, say otherwise than the meaning; and whether it is true and proved."""
    found, true = [], means(made, model)
    parts, proved = _compared(made, model, true, found)
    form = made.says if isinstance(made.says, Form) else None
    if form is not None and form.kind in ("witness", "supremum"):
        held = parts["attained" if form.kind == "supremum" else "witness"]
        if held != fits(made, form, model):
            found.append(f"{form.kind}: its point {'does not do' if held else 'does'} what is said of it")
        if {v.name for v in made.variables} == dict(form.at).keys():
            found += _incomplete(made, form, model, true, rng)
    try:
        other = reordered(rng, made)
    except Malformed as fault:
        return [*found, f"another order is refused: {fault}"], true, proved
    if means(other, model) != true:
        found.append("another order has another meaning")
    _compared(other, model, true, found, "in another order ")
    return found, true, proved


def _compared(made, model, true, found, where=""):
    """The truth of each obligation, and whether all hold; what is amiss goes to `found`."""
    parts, listed = {}, obligations(made)
    for label, sequent in listed:
        reading = Reading(model, sequent.variables)
        parts[label] = reading.true(sequent)
        if hasattr(certificate, "arranged"):
            fault = reading.amiss(sequent)
        else:
            shown = reading.shown(sequent)
            fault = "" if shown == parts[label] else "shown, not true" if shown else "true, not shown"
        if fault:
            found.append(f"definedness of {label}: {fault}")
    proved = all(parts.values()) and _isolated(made, model)
    if proved and not true:
        found.append(f"{where}all obligations hold, and the statement is false")
    if true and not all(held for label, held in parts.items() if label not in CHOSEN):
        found.append(f"{where}an obligation fails, and the statement is true")
    return parts, proved


def _isolated(made, model):
    """What Krawczyk's operator shows of a zero, by enumeration."""
    if not isinstance(made.says, Form) or made.says.kind != "zero":
        return True
    sides = [[(name, x, low.parts[0] < x < high.parts[0]) for x in model.carriers[name] if low.parts[0] <= x <= high.parts[0]]
             for name, low, high in made.says.box]  # fmt: skip
    zeros = []
    for point in product(*sides):
        values = [model.value(term, {name: x for name, x, _ in point}) for term in made.says.terms]
        if None in values:
            return False
        zeros += [all(inner for *_, inner in point)] * (not any(values))
    return zeros == [True]


def _incomplete(made, form, model, true, rng):
    """A statement without parameters is true exactly if constants of the model can be named for it."""
    places = list(product(*(model.carriers[name] for name, _ in form.at)))
    rng.shuffle(places)
    for place in places if true else places[:4]:
        at = tuple((name, num(x)) for (name, _), x in zip(form.at, place, strict=True))
        try:
            named = Statement(made.name, made.variables, made.given, replace(form, at=at), made.definitions)
        except Malformed:
            continue
        if all(Reading(model, part.variables).true(part) for _, part in obligations(named)):
            return [] if true else [f"{form.kind}: a point can be named, and the statement is false"]
    return [f"{form.kind}: true, and no point can be named"] if true else []


def lacking(model, term, at):
    """Is some part of the term without a value at the point?"""
    if (model.truth if term.kind in FORMULAS else model.value)(term, at) is None:
        return True
    return term.kind not in ("fold", "each", "call") and any(
        lacking(model, part, at) for part in term.parts if isinstance(part, Term))  # fmt: skip


def measured(made, model, counts):
    """Counts of points, of those where something has no value, and of statements about no point."""
    terms = [*made.given, *(made.says.terms if isinstance(made.says, Form) else [made.says])]
    try:
        points = model.points(made.variables)
    except NoDomain:
        counts["ends"] += 1
        return
    counts["points"] += len(points)
    counts["undefined"] += sum(any(lacking(model, term, at) for term in terms) for at in points)
    counts["vacuous"] += not any(all(model.truth(g, at) is True for g in made.given) for at in points)


def run(count, seed, bar=iter):
    """Counts by form, and (seed, sentence, carriers, what is amiss) of each disagreement."""
    counts, faults = {}, []
    for k in bar(range(seed, seed + count)):
        made, model, refused = statement(k)
        kind = made.says.kind if isinstance(made.says, Form) else "plain"
        mine = counts.setdefault(kind, Counter())
        found, true, proved = disagreements(made, model, random.Random(k))
        measured(made, model, mine)
        mine.update({"all": 1, "true": true, "proved": proved, "refused": refused, "faulty": bool(found)})
        if found:
            faults.append((k, sentence(made), model.carriers, found))
    return counts, faults


def search(count, seed, bar=iter):
    """What the whole search says otherwise than enumeration, and how often it says anything."""
    counts, faults = Counter(), []
    for k in bar(range(seed, seed + count)):
        made, model, _ = statement(k, finite=True)
        true = means(made, model)
        try:
            checked = decide(made, BRIEF).checked
        except Empty:
            checked = None
        outcome = checked.outcome if checked else None
        counts[f"{'true' if true else 'false'}, {outcome.value if outcome else 'open'}"] += 1
        if outcome is (Outcome.REFUTED if true else Outcome.PROVED):
            faults.append((k, sentence(made), {}, [f"{outcome.value}, and it is {true}"]))
    return counts, faults


def table(counts):
    """Shares by form in percent: true and proved statements, points with something undefined, statements of no point."""
    yield "form        all  true  proved  undefined  vacuous  refused"
    for kind, mine in counts.items():
        per = 100 / mine["all"]
        yield (f"{kind:10}{mine['all']:5}{mine['true'] * per:6.1f}{mine['proved'] * per:8.1f}"
               f"{100 * mine['undefined'] / max(1, mine['points']):11.1f}{mine['vacuous'] * per:9.1f}"
               f"{mine['refused'] * per:9.1f}")  # fmt: skip


def main(argv=None):
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--search", type=int, default=0, help="statements to send through the whole search instead")
    args = parser.parse_args(argv)

    def bar(numbers):
        return tqdm(numbers, unit="statement", disable=not sys.stderr.isatty())

    counts, faults = search(args.search, args.seed, bar) if args.search else run(args.count, args.seed, bar)
    print("\n".join(f"{kind}: {n}" for kind, n in sorted(counts.items())) if args.search else "\n".join(table(counts)))
    for kind, n in Counter(fault for *_, found in faults for fault in dict.fromkeys(found)).most_common():
        print(f"{n} times: {kind}")
    for seed, said, carriers, found in faults[:_SHOWN]:
        print(f"seed {seed}: {'; '.join(found)}\n  {said}")
        print("  " + "; ".join(f"{name} of {', '.join(map(str, values))}" for name, values in carriers.items()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
