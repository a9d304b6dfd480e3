"""The words of the iGSM-like task: a problem and its stated solution, and the tokens that stand for them.

A1 B2 equals 5 times sum B0 C1 and B2 C .      sentence; B2 C: all of category C that each B2 has
how-many A1 C ?                                question
define B0 C1 as p ; p = 17 .                   step, and operations: letters, their values, the result
define A1 B2 as g ; r = p + w = 17 + 9 = 3 ; g = 5 * r = 5 * 3 = 15 .
answer 16 end
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from dynamics.tasks.igsm_graph import CATEGORIES, Definition, Earlier, Operand, Own, Parameter, equations, evaluated
from dynamics.tasks.igsm_problem import LETTERS, Problem, Sizes
from dynamics.tasks.task import FIRST_TOKEN

WORDS = (".", ";", "=", "?", "+", "-", "*", "equals", "more", "times", "sum", "difference", "and", "how-many",
         "define", "as", "answer", "end")  # fmt: skip


@lru_cache(maxsize=32)
def vocabulary(modulus: int, layers: int, names: int) -> tuple[str, ...]:
    """All words; the token of the first is 11."""
    numbers = tuple(map(str, range(modulus)))
    items = tuple(f"{category}{name}" for category in CATEGORIES[:layers] for name in range(names))
    return (*WORDS, *LETTERS, *numbers, *CATEGORIES[:layers], *items)


@lru_cache(maxsize=32)
def _tokens(modulus: int, layers: int, names: int) -> Mapping[str, int]:
    return {word: FIRST_TOKEN + place for place, word in enumerate(vocabulary(modulus, layers, names))}


def encoded(words: Sequence[str], sizes: Sizes) -> np.ndarray:
    """Tokens (words,) int64. Raises: ValueError, one line, for a word that is none of the vocabulary's."""
    tokens = _tokens(sizes.modulus, sizes.layers, sizes.names)
    for word in words:
        if word not in tokens:
            raise ValueError(f"{word!r} is none of the {len(tokens)} words")
    return np.array([tokens[word] for word in words], dtype=np.int64)


def decoded(tokens: Sequence[int] | np.ndarray, sizes: Sizes) -> list[str]:
    """Words; a token that is none becomes "<token>": a model may say anything."""
    words = vocabulary(sizes.modulus, sizes.layers, sizes.names)
    places = [int(token) - FIRST_TOKEN for token in tokens]
    return [words[place] if 0 <= place < len(words) else f"<{place + FIRST_TOKEN}>" for place in places]


def problem_words(problem: Problem) -> list[str]:
    """All sentences, then the question."""
    words: list[str] = []
    for each in problem.sentences:
        words += [*each, "equals", *_said(problem.graph.definitions[each], problem.numbers.get(each)), "."]
    return [*words, "how-many", *problem.question, "?"]


def _said(definition: Definition, number: int | None) -> list[str]:
    change = [] if number is None else [str(number), definition.change] if definition.change else [str(number)]
    rule = [definition.rule] if len(definition.operands) > 1 else []
    names: list[str] = []
    for operand in definition.operands:
        names += [*(["and"] if names else []), *operand]
    return change + rule + names


def solution_words(problem: Problem, order: Sequence[Parameter] | None = None) -> list[str]:
    """The steps that the question needs, then the answer.

    Args: order, of the steps (default: that of the definitions); each after those that it takes its operands from.
    """
    letters = iter(problem.letters)
    letter: dict[Parameter, str] = {}
    values: dict[Parameter, int] = {}
    words: list[str] = []
    for each in problem.graph.needed(problem.question) if order is None else order:
        words += _step(problem, each, letters, letter, values)
    return [*words, "answer", str(values[problem.question]), "end"]


def longest_solution(operations: int) -> int:
    """The most words that a right solution takes: each operation a step "define a b as x ; x = y + z = 1 + 2 = 3 ."."""
    return 18 * operations + 3


def _step(
    problem: Problem,
    parameter: Parameter,
    letters: Iterator[str],
    letter: dict[Parameter, str],
    values: dict[Parameter, int],
) -> list[str]:
    """The words of a step; its letter and its value are noted."""
    definition, number = problem.graph.definitions[parameter], problem.numbers.get(parameter)
    planned, results = equations(definition), evaluated(definition, values, number, problem.modulus)
    own = [next(letters) for _ in planned]

    def sign(operand: Operand) -> str:
        if isinstance(operand, Parameter):
            return letter[operand]
        return own[operand.index] if isinstance(operand, Earlier) else str(number)

    words = ["define", *parameter, "as", own[-1]]
    for name, (op, first, second), (left, right, result) in zip(own, planned, results, strict=True):
        words += [";", name, "="]
        if second is not None:
            words += [sign(first), op, sign(second), "=", str(left), op, str(right), "="]
        elif not isinstance(first, Own):
            words += [sign(first), "="]
        words.append(str(result))
    letter[parameter], values[parameter] = own[-1], results[-1][2]
    return [*words, "."]
