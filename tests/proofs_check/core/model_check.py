"""Obligations against meaning, on random statements with finite models: statement number k is that of seed + k."""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product

from proofs_check.core import certificate
from proofs_check.core.certificate import Outcome
from proofs_check.core.domain import needed, solvable, solved
from proofs_check.core.meaning import Model, NoDomain, conjuncts, fits, means, mentioned
from proofs_check.core.printing import sentence
from proofs_check.core.statement import CHOSEN, Form, obligations
from proofs_check.core.terms import Malformed, Term, free, negation, num
from proofs_check.rigour.decide import BRIEF, Empty, decide
from tests.proofs_check.core.random_statements import statement

NAMED = {"witness": "witness", "supremum": "attained"}


class Sequents:
    """Sequents in a model. What a condition declares beyond the variables of the part is an index."""

    def __init__(self, model, variables):
        carriers = {v.name: model.carriers[v.name] for v in variables}
        self.model, self.variables, self.value = Model(carriers, {}, model.known), variables, model.value
        self.indices = Model({}, {}, model.known)

    def beside(self, at, sequent):
        """The point with all values of the indices."""
        places, known = [at], {v.name for v in self.variables}
        for v in sequent.variables:
            if v.name not in known:
                places = [{**place, v.name: k} for place in places for k in self.indices.values(v, place)]
        return places

    def true(self, sequent, at):
        """Some hypothesis is false, or all of them and the goal are true."""
        met = self.model.met(sequent.given, at)
        return met is False or (met is True and self.value(sequent.goal, at) is True)

    def follows(self, sequent, at):
        """Where all hypotheses hold the goal is not false: that it has a value is for earlier conditions to say."""
        places = [p for p in self.beside(at, sequent) if all(self.value(g, p) is True for g in sequent.given)]
        return all(self.value(sequent.goal, place) is not False for place in places)

    def amiss(self, sequent, points):
        """Is what reads the part from the left, deciding first, shown at other points than where the part is true?"""
        known = {}
        for at in points:
            true = self.true(sequent, at)
            given = sorted((self.deciding(g, at) for g in sequent.given), key=lambda g: self.value(g, at) is not False)
            key = tuple(given), self.deciding(sequent.goal, at)
            if key not in known:
                made = certificate.arranged(sequent, *key)
                known[key] = [*needed(made), made]
            if all(self.follows(part, at) for part in known[key]) != true:
                return "true, not shown" if true else "shown, not true"
        return None

    def missolved(self, sequent):
        """Does putting t for v, where `v = t` is given, prove too much, or too little where v takes each value of t?"""
        found = solvable(sequent)
        if found is None:
            return None
        other, (which, name) = solved(sequent, *found), found
        one, two = sequent.given[which].parts[1:]
        value = two if one is Term("var", name) else one
        here, there = (list(self.model.points(part.variables)) for part in (sequent, other))
        proved, true = (all(self.follows(q, at) for at in places) for q, places in ((other, there), (sequent, here)))
        taken = {*self.model.carriers[name], None}
        if proved and not true:
            return "an equality proves too much"
        reached = all(self.value(value, at) in taken for at in there)
        return "an equality proves too little" if true and not proved and reached else None

    def ends_shown(self, sequent):
        """Do the conditions hold that come before all hypotheses: those over fewer variables?"""
        try:
            return all(
                self.follows(part, at) for part in needed(sequent) if len(part.variables) < len(self.variables)
                for at in self.model.points(v for v in part.variables if v in self.variables)
            )  # fmt: skip
        except NoDomain:
            return False

    def deciding(self, term, at):
        """The term with what decides each formula first; what an index moves is left as it is."""
        if term.kind in ("fold", "each"):
            return term
        if term.kind == "implies":
            term = Term("or", negation(term.parts[0]), term.parts[1])
        parts = [self.deciding(part, at) if isinstance(part, Term) else part for part in term.parts]
        if term.kind in ("and", "or"):
            parts.sort(key=lambda part: self.value(part, at) is not (term.kind == "or"))
        return Term(term.kind, *parts)


def shuffled(rng, term):
    """The term with the parts of each `and` and `or` in another order."""
    parts = [shuffled(rng, part) if isinstance(part, Term) else part for part in term.parts]
    return Term(term.kind, *(rng.sample(parts, len(parts)) if term.kind in ("and", "or") else parts))


def reordered(rng, made):
    """The statement with hypotheses, and parts of `and` and `or`, in another order."""
    says, given = made.says, [shuffled(rng, g) for g in made.given]
    if isinstance(says, Form):
        says = replace(says, terms=tuple(shuffled(rng, term) for term in says.terms))
    else:
        says = shuffled(rng, says)
    return replace(made, given=tuple(rng.sample(given, len(given))), says=says)


def truths(made, model, found):
    """The truth of each obligation; what is amiss with its definedness goes to `found`."""
    parts = {}
    for label, sequent in obligations(made):
        reading = Sequents(model, sequent.variables)
        try:
            points = reading.model.points(sequent.variables)
            parts[label] = all(reading.true(sequent, at) for at in points)
            fault = reading.amiss(sequent, points) or reading.missolved(sequent)
        except NoDomain:
            parts[label], fault = False, "its ends are shown" if reading.ends_shown(sequent) else None
        found += [f"definedness of {label}: {fault}"] * (fault is not None)
    return parts


def unread(made):
    """Does a hypothesis mention what the point names in arguments alone that a definition does not use? Whether it is
    on the parameters alone is then a matter of words: as written it is not, as unfolded it is.
    """
    names = dict(made.says.at).keys() if isinstance(made.says, Form) else ()
    pairs = zip(conjuncts(made.given), made.plain[1], strict=False)  # of other lengths where a fault is planted
    return any(not names.isdisjoint(mentioned(g)) and names.isdisjoint(free(h)) for g, h in pairs) if names else False


def disagreements(made, model, rng):
    """What the obligations, or their conditions, say otherwise than the meaning; and whether it is true."""
    found, true = [], means(made, model)
    kind = made.says.kind if isinstance(made.says, Form) else ""
    for order in ("", "in another order "):
        try:
            now = reordered(rng, made) if order else made
        except Malformed as fault:
            found.append(f"{order}refused: {fault}")
            continue
        parts = truths(now, model, found)
        proved = all(parts.values()) and isolated(now, model)
        base = certificate.premise(now)
        wrong = {
            "hypotheses are met otherwise than its premise": met(now, model) != met(base, model),
            "another meaning": means(now, model) != true,
            "all obligations hold, and the statement is false": proved and not true,
            "an obligation fails, and the statement is true": true and not all(parts[k] for k in {*parts} - {*CHOSEN}),
            f"{kind}: its point fits, or does not, otherwise than its part says":
                kind in NAMED and parts[NAMED[kind]] != fits(now, now.says, model),
        }  # fmt: skip
        found += [order + fault for fault, there in wrong.items() if there]
    if kind in NAMED and {v.name for v in made.variables} == dict(made.says.at).keys():
        places = list(product(*(model.carriers[name] for name, _ in made.says.at)))
        if any(named(made, model, place) for place in rng.sample(places, len(places) if true else 1)) != true:
            found.append(f"{kind}: true and no constants can be named, or false and they can")
    return found, true


def named(made, model, place):
    """Do all obligations hold with these constants as the point?"""
    at = tuple((name, num(x)) for (name, _), x in zip(made.says.at, place, strict=True))
    with suppress(Malformed):
        return all(truths(replace(made, says=replace(made.says, at=at)), model, []).values())
    return False


def isolated(made, model):
    """What Krawczyk's operator shows of a zero, by enumeration of the closed box."""
    if not isinstance(made.says, Form) or made.says.kind != "zero":
        return True
    zeros, box = [], {name: (low.parts[0], high.parts[0]) for name, low, high in made.says.box}
    for place in product(*([x for x in model.carriers[name] if low <= x <= high] for name, (low, high) in box.items())):
        at = dict(zip(box, place, strict=True))
        values = [model.value(term, at) for term in made.says.terms]
        if None in values:
            return False
        zeros += [all(box[name][0] < x < box[name][1] for name, x in at.items())] * (not any(values))
    return zeros == [True]


def met(made, model):
    """Does a point of the domain meet all hypotheses? Of a sequent or a statement."""
    with suppress(NoDomain):
        return any(all(model.value(g, at) is True for g in made.given) for at in model.points(made.variables))
    return None


def lacking(model, term, at):
    """Is some part of the term without a value at the point?"""
    inner = term.parts if term.kind not in ("fold", "each", "call") else ()
    return model.value(term, at) is None or any(lacking(model, part, at) for part in inner if isinstance(part, Term))


def run(count, seed):
    """Counts by form, and (seed, sentence, carriers, what is amiss) of each disagreement."""
    counts, faults = {}, []
    for k in range(seed, seed + count):
        made, model = statement(k)
        form = isinstance(made.says, Form)
        mine = counts.setdefault(made.says.kind if form else "plain", Counter())
        if unread(made):
            mine.update({"all": 1, "matter of words": 1})
            continue
        try:
            found, true = disagreements(made, model, random.Random(k))
        except Exception as fault:
            found, true = [f"{type(fault).__name__}: {fault}"], False
        mine.update({"all": 1, "true": true})
        terms = [*made.given, *(made.says.terms if form else [made.says])]
        with suppress(NoDomain):
            points = model.points(made.variables)
            mine["points"] += len(points)
            mine["undefined"] += sum(any(lacking(model, term, at) for term in terms) for at in points)
            mine["vacuous"] += not met(made, model)
        if found:
            faults.append((k, sentence(made), model.carriers, list(dict.fromkeys(found))))
    return counts, faults


def search(count, seed):
    """What the whole search says otherwise than enumeration, and how often it says anything."""
    counts, faults = Counter(), []
    for k in range(seed, seed + count):
        made, model = statement(k, finite=True)
        true, checked = means(made, model), None
        with suppress(Empty):
            checked = decide(made, BRIEF).checked
        said = checked and checked.outcome
        counts[f"{true}, {said.value if said else 'open'}"] += 1
        if said is (Outcome.REFUTED if true else Outcome.PROVED):
            faults.append((k, sentence(made), f"{said.value}, and it is {true}"))
    return counts, faults
