"""The answer to an iGSM-like problem from its words alone: recursion, and no line of the generator."""


def sentences(text):
    """(owner, thing) -> (number or None, what is done, names), and the question."""
    *told, question = text.split(" . ")
    found = {}
    for sentence in told:
        left, right = sentence.split(" equals ")
        parts = right.split()
        number = int(parts.pop(0)) if parts[0].isdigit() else None
        change = parts.pop(0) if parts and parts[0] in ("more", "times") else None
        rule = parts.pop(0) if parts and parts[0] in ("sum", "difference") else None
        names = [tuple(name.split()) for name in " ".join(parts).split(" and ")] if parts else []
        assert tuple(left.split()) not in found
        found[tuple(left.split())] = number, change, rule, names
    first, owner, thing, last = question.split()
    assert (first, last) == ("how-many", "?")
    return found, (owner, thing)


def value(found, name, modulus):
    """The number of a parameter, not reduced along the way more than by its operands."""
    owner, thing = name
    if thing.isalpha():
        total = 0
        for above, below in found:
            if above == owner and below[0] == thing:
                total += value(found, (above, below), modulus)
            elif above == owner and has(found, below, thing):  # else it adds nothing, however many there are
                total += value(found, (above, below), modulus) * value(found, (below, thing), modulus)
        return total % modulus
    number, change, rule, names = found[name]
    values = [value(found, each, modulus) for each in names]
    if not names:
        return number
    result = values[0] - values[1] if rule == "difference" else sum(values)
    return {None: result, "more": result + (number or 0), "times": result * (number or 0)}[change] % modulus


def parts(found, name):
    """The parameters that one depends on directly."""
    owner, thing = name
    if not thing.isalpha():
        return set(found[name][3])
    below = [item for above, item in found if above == owner and (item[0] == thing or has(found, item, thing))]
    return {(owner, item) for item in below} | {(item, thing) for item in below if item[0] != thing}


def has(found, owner, thing):
    """Whether an item has anything of a category, directly or through what it has."""
    return any(above == owner and (item[0] == thing or has(found, item, thing)) for above, item in found)


def needed(found, name):
    """A parameter and all that it depends on."""
    reached, open_ = set(), [name]
    while open_:
        if (each := open_.pop()) not in reached:
            reached.add(each)
            open_ += parts(found, each)
    return reached
