"""Short plain writing of terms, for messages of the search."""

from proofs_check.core.terms import Term


def show(term: Term) -> str:
    kind, parts = term.kind, term.parts
    if kind == "num":
        return str(parts[0]) if parts[0].denominator == 1 else f"({parts[0]})"
    if kind in ("var", "pi"):
        return parts[0] if parts else "pi"
    if kind == "item":
        return f"{parts[0]}[{','.join(map(show, parts[1:]))}]"
    if kind in ("add", "mul", "and", "or"):
        sign = {"add": " + ", "mul": "*", "and": " & ", "or": " | "}[kind]
        return "(" + sign.join(map(show, parts)) + ")"
    if kind == "div":
        return f"{show(parts[0])}/{show(parts[1])}"
    if kind == "pow":
        return f"{show(parts[0])}^{parts[1]}"
    if kind == "rel":
        return f"{show(parts[1])} {parts[0]} {show(parts[2])}"
    if kind == "fold":
        return f"{parts[0]}[{parts[1]}={show(parts[2])}..{show(parts[3])}]({show(parts[4])})"
    inner = ",".join(show(p) if isinstance(p, Term) else str(p) for p in parts[(kind == "apply") :])
    return f"{parts[0] if kind == 'apply' else kind}({inner})"
