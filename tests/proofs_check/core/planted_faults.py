"""Faults planted in the core, each of which random statements have to find.

`python -m tests.proofs_check.core.planted_faults [--count 3000]` runs the check in a process for each fault, with one
text of a module replaced, and names the faults that no statement found. Some are rare and need `--count 20000`.
"""

import argparse
import importlib.machinery
import subprocess
import sys
from pathlib import Path

from tqdm import tqdm

CORE = Path(__file__).parents[3] / "proofs_check" / "core"
FOUND = 3  # an exit status that no traceback has
# (module, text, what is put for it)
FAULTS = [
    # Ends and values of variables
    ("domain", "self.low < value if self.low_open else self.low <= value", "self.low <= value"),
    ("domain", "value < self.high if self.high_open else value <= self.high", "value < self.high"),
    ("domain", "eq(value, num(v)) for v in self.values)", "eq(value, num(v)) for v in self.values[:1])"),
    ("domain", "if self.high is not None:\n            parts", "if False:\n            parts"),
    # What a term needs to be defined
    ("domain", "elif (divisor := divided_by(term)) is not None:", "elif (divisor := None) is not None:"),
    ("domain", 'if term.kind == "pow" and term.parts[1] < 0:', 'if term.kind == "pow" and term.parts[1] < -1:'),
    ("domain", 'parts[0] in ("log", "sqrt")', 'parts[0] == "log"'),
    ("domain", '"<" if parts[0] == "log" else "<="', '"<="'),
    ("domain", "both(ONE <= index, index <= size)", "ONE <= index"),
    ("domain", "both(ONE <= index, index <= size)", "index <= size"),
    ("domain", 'if operation in ("max", "min"):', 'if operation == "max":'),
    ("domain", "yield from needs(inner, substitute(body, {index: i}))", "yield from ()"),
    ("domain", "yield from needs(sequent, parts[0])\n", "pass\n"),
    ("domain", "supposing(sequent, negation(parts[0])), parts[2]", "supposing(sequent, parts[0]), parts[2]"),
    ("domain", "supposing(sequent, parts[0]), parts[1]", "supposing(sequent, negation(parts[0])), parts[1]"),
    ("domain", 'if kind != "or" else tuple(map(negation, parts[:number]))', 'if kind == "or" else ()'),
    ("domain", "for number, part in enumerate(parts):", "for number, part in enumerate(parts[:1]):"),
    ("domain", "found += needs(replace(sequent, given=sequent.given[:number]), formula)", "pass"),
    ("domain", "found += needs(sequent, sequent.goal)", "pass"),
    ("domain", "found += needs(before, end)", "pass"),
    ("domain", "found += [replace(before, goal=ZERO <= size)", "found += [replace(before, goal=size <= size)"),
    ("domain", "name = fresh(index, taken(sequent) | avoiding)", "name = index"),
    # Substitution, negation, calls
    ("terms", "if index in incoming else index\n", "if False else index\n"),
    ("terms", "if name != index and name in free(node)", "if name in free(node)"),
    ("terms", "{image.parts[0]: index})", "{image.parts[0]: ONE})"),
    ("terms", '"<=" if relation == "<" else "<", b, a', '"<", b, a'),
    ("terms", '"or" if kind == "and" else "and"', '"and"'),
    ("terms", 'return Term("and", parts[0], negation(parts[1]))', 'return Term("and", parts[1], negation(parts[0]))'),
    ("calls", "dict(zip(known.parameters, given, strict=True))", "dict(zip(known.parameters, given[::-1]))"),
    ("calls", "elif parameter not in read and any(", "elif False and any("),
    ("calls", '"and": (), "or": (), "implies": ()}', '"and": (0,), "or": (0,), "implies": (0,)}'),
    ("calls", '"if": (0,),', '"if": (0, 1, 2),'),
    ("calls", '{"fold": (2, 3),', '{"fold": (2, 3, 4),'),
    ("terms", 'if formula.kind == "and" else [formula]', 'if formula.kind in ("and", "or") else [formula]'),
    # Points that a conclusion names
    ("statement", "inside += v.substituted(point).bounds(value)", "inside += v.substituted(point).bounds(value)[1:]"),
    ("statement", "inside += [substitute(g, point) for g in base.given if g not in still]", "pass"),
    ("statement", "tuple(g for g in base.given if not free(g) & point.keys())", "()"),
    # Forms
    ("statement", "either(substitute(value, point) < value,", "either(substitute(value, point) <= value,"),
    ("statement", "both(*here))", "either(*here))"),
    ("statement", '("in the domain", replace(family, goal=inside))', '("in the domain", replace(family, goal=TRUE))'),
    ("statement", "goal=both(inside, eq(substitute(value, point), bound))", "goal=inside"),
    ("statement", "goal=both(inside, eq(substitute(value, point), bound))", "goal=eq(substitute(value, point), bound)"),
    ("statement", "if says.strict else value <= bound", "if says.strict else value < bound"),
    ("statement", '[("bound", upper), ("attained"', '[("bound", replace(upper, goal=TRUE)), ("attained"'),
    ("statement", "goal=both(inside, substitute(claim, point))", "goal=inside"),
    ("statement", "goal=both(inside, substitute(claim, point))", "goal=substitute(claim, point)"),
    ("statement", "either(*vanish, both(*away))", "either(vanish[0], both(*away))"),
    ("statement", '[("elsewhere", replace(base, goal=either(*vanish, both(*away))))]', "[]"),
    ("statement", "inside += [*v.bounds(low), *v.bounds(high)]", "inside += v.bounds(low)"),
    ("statement", "bounds(value) or (value <= value,)", "bounds(value)"),
    ("statement", "if any(free(value) & point.keys() for value in point.values()):", "if False:"),
    # Equalities that give a variable, and plain conclusions
    ("domain", "given = [*bounds, *given] if bounds else", "given = [*given] if bounds else"),
    ("domain", "else [*given, value <= value]", "else given"),
    ("domain", "if number != which]", "if number > which]"),
    ("domain", "bounds = known.bounds(value)\n", "bounds = (value <= value - 1,)\n"),
    ("statement", '[("conclusion", replace(base, goal=says))]', '[("conclusion", Sequent(variables, (), says))]'),
]  # fmt: skip


def plant(module, text, other):
    """From now on the module is read with the text replaced."""
    class Loader(importlib.machinery.SourceFileLoader):
        def get_code(self, fullname):
            return compile((CORE / f"{module}.py").read_text(encoding="utf-8").replace(text, other), self.path, "exec")

    class Finder(importlib.machinery.PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            if fullname != f"proofs_check.core.{module}":
                return None
            return importlib.machinery.ModuleSpec(fullname, Loader(fullname, str(CORE / f"{module}.py")))

    sys.meta_path.insert(0, Finder)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--number", type=int, help="try this fault only, in this process")
    args = parser.parse_args(argv)
    if args.number is not None:
        plant(*FAULTS[args.number])
        from tests.proofs_check.core import model_check

        return FOUND if model_check.run(args.count, 1, stop=True)[1] else 0
    for module, text, _ in FAULTS:
        assert (CORE / f"{module}.py").read_text(encoding="utf-8").count(text) == 1, f"{module} does not read: {text}"
    missed = []
    for number, fault in enumerate(tqdm(FAULTS, disable=not sys.stderr.isatty())):
        command = [sys.executable, "-m", __spec__.name, "--number", str(number), "--count", str(args.count)]
        if subprocess.run(command, capture_output=True).returncode != FOUND:
            missed.append(fault)
            print(*fault, sep="\n  ")
    print(f"{len(FAULTS)} faults, {len(missed)} not found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
