"""What a tree says, up to what its print leaves open: brackets in sums, products and conjunctions, the order of
conjunctions, the names of indices."""

from dataclasses import replace

from proofs_check.core.statement import Form, gap
from proofs_check.core.terms import Term, conjuncts, num


def one(kind, parts):
    return parts[0] if len(parts) == 1 else Term(kind, *parts)


def canonical(term, names=()):
    """A tree of tuples that is one for all trees of one print."""
    kind, parts = term.kind, term.parts
    if kind == "num" or kind in ("mul", "div"):
        minus, factors = factored(term, names)
        return ("product", minus, *factors) if minus or len(factors) > 1 else factors[0][0]
    if kind == "add":
        pieces = []
        for part in parts:
            found = canonical(part, names)
            pieces += found[1:] if found[0] == "sum" else [found]
        return ("sum", *pieces)
    if kind in ("fold", "each"):
        *head, body = parts[0 if kind == "each" else 1 :]
        inner = canonical(body, (*names, head[0]))
        return kind, *([parts[0]] if kind == "fold" else []), *(canonical(end, names) for end in head[1:]), inner
    if kind in ("var", "item"):
        places = [len(names) - k for k, name in enumerate(names) if name == parts[0]]
        return kind, places[-1] if places else parts[0], *(canonical(place, names) for place in parts[1:])
    found = [canonical(part, names) if isinstance(part, Term) else part for part in parts]
    if kind in ("and", "or"):
        flat = [inner for part in found for inner in (part[1:] if part[0] == kind else [part])]
        return kind, *sorted(flat, key=repr)
    return kind, *found


def factored(term, names):
    """How many minus signs, and the factors, each with 1 or -1 for above or below the line."""
    if term.kind == "num":
        value = term.parts[0]
        under = [] if value.denominator == 1 else [(("number", value.denominator), -1)]
        return int(value < 0), [(("number", abs(value.numerator)), 1), *under]
    if term.kind not in ("mul", "div"):
        return 0, [(canonical(term, names), 1)]
    first, *rest = term.parts
    if first is num(-1) and term.kind == "mul":
        minus, found = factored(one("mul", rest), names)
        return minus + 1, found
    minus, found = factored(first, names)
    for part in rest:
        inner_minus, inner = factored(part, names)
        if inner_minus or (term.kind == "div" and len(inner) > 1):
            inner = [(canonical(part, names), 1)]
        found = found + [(factor, power if term.kind == "mul" else -power) for factor, power in inner]
    return minus, found


def content(variables, given, says):
    """What a statement says: its variables, its hypotheses and its conclusion."""
    if isinstance(says, Form):
        box = [(name, canonical(low), canonical(high)) for name, low, high in says.box]
        terms, at = list(map(canonical, says.terms)), [(name, canonical(t)) for name, t in says.at]
        said = says.kind, terms, at, says.step, says.strict, box
    else:
        said = canonical(says)
    return set(variables), sorted(map(canonical, conjuncts(given)), key=repr), said


def of_statement(statement):
    """Where a form has a rate, the sentence has the error that it allows."""
    says = statement.says
    if isinstance(says, Form) and says.step:
        says = replace(says, terms=(*says.terms[:2], gap(says, statement.variables)))
    return content(map(domain, statement.variables), statement.given, says)


def domain(v):
    """Name, whole or not, and what lies within: values, bounds, or ends and sizes."""
    if not v.sizes:
        return v.name, v.whole, *v.values, *(map(canonical, () if v.values else v.bounds(v.as_term())))
    opens = v.low is not None and v.low_open, v.high is not None and v.high_open
    ends = (None if end is None else canonical(end) for end in (v.low, v.high, v.radius))
    return v.name, v.whole, *opens, *ends, *map(canonical, v.sizes)


def split(text, separator, most=-1):
    """The text between separators that stand in no bracket."""
    depth, found, start = 0, [], 0
    for k, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and text.startswith(separator, k) and k >= start and len(found) != most:
            found.append(text[start:k])
            start = k + len(separator)
    return [*found, text[start:]]


def folded(operation, ranges, body):
    for index, low, high in reversed(ranges):
        body = Term("fold", operation, index, low, high, body)
    return body
