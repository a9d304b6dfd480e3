"""Whether a solution of an iGSM-like problem is right, and what is wrong with it, in one line.

A solution is right if each step defines a parameter that the question needs and that no step before it did, computes
what its sentence (or the structure) says from results that are known by then, without a slip, and if the answer is the
question's value. Any order of the steps that allows this is right, any letters, and any order within sums and products.
"""

from collections.abc import Sequence
from typing import NamedTuple

from dynamics.tasks.igsm_graph import Earlier, Equation, Operand, Parameter, calculated, equations
from dynamics.tasks.igsm_problem import LETTERS, Problem

# What an equation computes: a parameter, a number, or ("+", terms in the order of their names), and so on.
Meaning = tuple


class Mistake(ValueError):
    """What is wrong with a solution; found and returned as words by `mistake`."""


class Written(NamedTuple):
    """letter = signs = values = result: signs (left, op, right), (left,) or (); values (left, op, right) or ()."""

    letter: str
    signs: tuple[str, ...]
    values: tuple[str, ...]
    result: int


class Step(NamedTuple):
    """define parameter as letter ; equations ."""

    parameter: Parameter
    letter: str
    equations: tuple[Written, ...]


class Known(NamedTuple):
    """What is known at a step.

    values: by letter; meanings: by letter, of parameters and of equations of the same step; done: what is computed.
    """

    meanings: dict[str, Meaning]
    values: dict[str, int]
    done: set[Parameter]


def mistake(problem: Problem, words: Sequence[str]) -> str | None:
    """The first thing that is wrong with a solution, one line; None for a right one."""
    *steps, last = _split(words, ".")
    known, needed = Known({}, {}, set()), set(problem.graph.needed(problem.question))
    for number, step in enumerate(steps, start=1):
        try:
            _take(problem, needed, known, _step(step))
        except Mistake as found:
            return f"step {number}: {found}"
    if len(last) != 3 or last[0] != "answer" or last[2] != "end":
        return f"the solution must end in an answer, got {_quoted(last)}"
    if problem.question not in known.done:
        return f"the answer comes before {_name(problem.question)} is computed"
    return None if last[1] == str(problem.answer) else f"the answer is {problem.answer}, got {last[1]}"


def answered(problem: Problem, words: Sequence[str]) -> bool:
    """Whether some step gives the question its value: all that Table 4 of the KV-shifting paper asks for."""
    right = str(problem.answer)
    return any(
        tuple(step[1:3]) == problem.question and step[0] == "define" and step[-1] == right
        for step in _split(words, ".")[:-1]
        if len(step) > 3
    )


def _take(problem: Problem, needed: set[Parameter], known: Known, step: Step) -> None:
    """Check a step and note what it computes."""
    parameter, name = step.parameter, _name(step.parameter)
    if parameter not in problem.graph.definitions:
        raise Mistake(f"there is no {name}")
    if parameter in known.done:
        raise Mistake(f"{name} is computed before")
    if parameter not in needed:
        raise Mistake(f"{name} is not needed")
    definition = problem.graph.definitions[parameter]
    for operand in definition.operands:
        if operand not in known.done:
            raise Mistake(f"{name} depends on {_name(operand)}, which no step before computes")
    for written in step.equations:
        _equate(problem.modulus, known, written)
    planned = equations(definition)
    if step.letter != (last := step.equations[-1].letter):
        raise Mistake(f"{name} is defined as {step.letter}, its last equation is of {last}")
    if len(step.equations) != len(planned):
        raise Mistake(f"{name} takes {len(planned)} operations, got {len(step.equations)}")
    wanted, got = _wanted(planned, problem.numbers.get(parameter)), known.meanings[step.letter]
    if got != wanted:
        raise Mistake(f"{name} is {_shown(wanted)}, got {_shown(got)}")
    for written in step.equations:
        del known.meanings[written.letter]
    known.meanings[step.letter] = ("is", parameter)
    known.done.add(parameter)


def _equate(modulus: int, known: Known, written: Written) -> None:
    """Check the arithmetic of an equation and note its letter."""
    if written.letter in known.values:
        raise Mistake(f"{written.letter} stands for something else")
    signs = written.signs or (str(written.result),)
    for sign in signs[::2]:
        if sign in LETTERS and sign not in known.meanings:
            raise Mistake(f"{sign} stands for nothing")
    values = [known.values[sign] if sign in LETTERS else int(sign) for sign in signs[::2]]
    if written.values and [int(value) for value in written.values[::2]] != values:
        raise Mistake(f"{' '.join(signs)} is not {' '.join(written.values)}")
    op, right = ("", None) if len(values) == 1 else (signs[1], values[1])
    if (result := calculated(op, values[0], right) % modulus) != written.result:
        raise Mistake(f"{written.letter} is {result}, got {written.result}")
    known.values[written.letter] = result
    terms = [known.meanings[sign] if sign in LETTERS else ("number", int(sign)) for sign in signs[::2]]
    known.meanings[written.letter] = _joined(op, terms)


def _joined(op: str, terms: Sequence[Meaning]) -> Meaning:
    """What an operation on terms computes; sums of sums and products of products are one, in the order of names."""
    if not op:
        return terms[0]
    if op == "-":
        return (op, *terms)
    flat: list[Meaning] = []
    for term in terms:
        flat += term[1:] if term[0] == op else [term]
    return (op, *sorted(flat, key=repr))


def _wanted(planned: Sequence[Equation], own: int | None) -> Meaning:
    """What the equations of a definition compute."""
    found: list[Meaning] = []

    def meaning(operand: Operand) -> Meaning:
        if isinstance(operand, Parameter):
            return ("is", operand)
        return found[operand.index] if isinstance(operand, Earlier) else ("number", own)

    for op, left, right in planned:
        found.append(_joined(op, [meaning(each) for each in (left, right) if each is not None]))
    return found[-1]


def _step(words: Sequence[str]) -> Step:
    """Raises: Mistake for words that are no step."""
    head, *rest = _split(words, ";")
    if len(head) != 5 or head[0] != "define" or head[3] != "as" or head[4] not in LETTERS or not rest:
        raise Mistake(f"{_quoted(words)} is no step")
    return Step(Parameter(head[1], head[2]), head[4], tuple(map(_written, rest)))


def _written(words: Sequence[str]) -> Written:
    """Raises: Mistake for words that are no equation."""
    sides = [tuple(side) for side in _split(words, "=")]
    kinds = tuple("".join(map(_kind, side)) for side in sides)
    if len(sides) < 2 or kinds[0] != "x" or kinds[-1] != "1" or kinds[1:-1] not in _SHAPES:
        raise Mistake(f"{_quoted(words)} is no equation")
    letter, *middle, result = sides
    signs, values = (*middle, (), ())[:2]
    if values and signs[1] != values[1]:
        raise Mistake(f"{' '.join(signs)} is not {' '.join(values)}")
    return Written(letter[0], signs, values, int(result[0]))


# The sides between the first and the last one: of a number, a copy, an operation ("x" a letter, "1" a number).
_SHAPES = {(), ("x",)} | {(left + "+" + right, "1+1") for left in "x1" for right in "x1"}


def _kind(word: str) -> str:
    if word in LETTERS:
        return "x"
    return "1" if word.isdecimal() else "+" if word in ("+", "-", "*") else "?"


def _split(words: Sequence[str], mark: str) -> list[list[str]]:
    """The pieces between marks, one more than there are marks."""
    pieces: list[list[str]] = [[]]
    for word in words:
        if word == mark:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return pieces


def _name(parameter: Parameter) -> str:
    return " ".join(parameter)


def _quoted(words: Sequence[str]) -> str:
    text = " ".join(words)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _shown(meaning: Meaning) -> str:
    if meaning[0] in ("is", "number"):
        return _name(meaning[1]) if meaning[0] == "is" else str(meaning[1])
    return "(" + f" {meaning[0]} ".join(map(_shown, meaning[1:])) + ")"
