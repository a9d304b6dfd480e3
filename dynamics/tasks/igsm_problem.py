"""A problem of the iGSM-like task: a graph, the numbers of its sentences, and a question about one parameter."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dynamics.tasks.igsm_graph import CATEGORIES, Definition, Graph, Parameter, draw_graph, evaluated

ATTEMPTS = 2000  # graphs that are drawn for one problem before it is refused
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")


class Sizes(NamedTuple):
    """layers, categories; items, most of a category; names, items to choose from; edges, most instance parameters."""

    modulus: int
    layers: int
    items: int
    names: int
    edges: int


class Problem(NamedTuple):
    """numbers: of each parameter whose sentence names one, in 0..modulus-1, of "times" at least 1.

    sentences: all instance parameters, as they are told; letters: one for each equation of the stated solution.
    """

    graph: Graph
    numbers: Mapping[Parameter, int]
    question: Parameter
    modulus: int
    sentences: tuple[Parameter, ...]
    letters: tuple[str, ...]

    @property
    def answer(self) -> int:
        """The value of the question."""
        return values_of(self.graph, self.graph.needed(self.question), self.numbers, self.modulus)[self.question]


def values_of(
    graph: Graph, parameters: Sequence[Parameter], numbers: Mapping[Parameter, int], modulus: int
) -> dict[Parameter, int]:
    """The value of each; parameters come after those that they are defined by."""
    values: dict[Parameter, int] = {}
    for each in parameters:
        values[each] = evaluated(graph.definitions[each], values, numbers.get(each), modulus)[-1][2]
    return values


def draw_problem(
    rng: np.random.Generator,
    sizes: Sizes,
    operations: int,
    belongs: Callable[[Graph, Parameter], bool],
    successive: bool = False,
) -> Problem:
    """Draw a problem whose solution takes this many operations; its answer is uniform on 0..modulus-1.

    The answer is drawn first. Graphs are drawn until one has a parameter of so many operations that belongs, of which
    one is asked, uniformly; its numbers are drawn until the answer comes out, and given up after 8 modulus draws, for
    another graph: some graphs have one answer whatever their numbers. successive: letters follow one another in the
    alphabet, z before a, from one drawn uniformly; else they are in no order.
    Raises: ValueError, one line: sizes out of range, or no such problem in `ATTEMPTS` graphs.
    """
    check_sizes(sizes, operations)
    answer = int(rng.integers(sizes.modulus))
    for _ in range(ATTEMPTS):
        graph = draw_graph(rng, *sizes[1:])
        asked = [each for each in graph.definitions if graph.operations(each) == operations and belongs(graph, each)]
        if not asked:
            continue
        question = asked[rng.integers(len(asked))]
        if (numbers := _numbers(rng, graph, question, sizes.modulus, answer)) is not None:
            instances = [each for each in graph.definitions if not each.abstract]
            sentences = tuple(instances[index] for index in rng.permutation(len(instances)))
            places = rng.permutation(len(LETTERS))[:operations]
            if successive:
                places = (places[0] + np.arange(operations)) % len(LETTERS)
            letters = tuple(LETTERS[place] for place in places)
            return Problem(graph, numbers, question, sizes.modulus, sentences, letters)
    raise ValueError(
        f"none of {ATTEMPTS} graphs of at most {sizes.edges} edges has a question of {operations} operations that "
        "belongs to this part"
    )


def _numbers(
    rng: np.random.Generator, graph: Graph, question: Parameter, modulus: int, answer: int
) -> dict[Parameter, int] | None:
    """Numbers of all sentences with which the question has the answer; None where none were found."""
    named = {each: rule for each, rule in graph.definitions.items() if rule.numbered}
    needed = graph.needed(question)
    for _ in range(8 * modulus):
        numbers = {each: _number(rng, rule, modulus) for each, rule in named.items() if each in needed}
        if values_of(graph, needed, numbers, modulus)[question] == answer:
            others = {each: _number(rng, rule, modulus) for each, rule in named.items() if each not in needed}
            return numbers | others
    return None


def _number(rng: np.random.Generator, definition: Definition, modulus: int) -> int:
    return int(rng.integers(definition.change == "times", modulus))


def check_sizes(sizes: Sizes, operations: int) -> None:
    """Raises: ValueError, one line, for a size out of its range."""
    modulus, layers, items, names, edges = sizes
    if modulus < 2 or any(modulus % divisor == 0 for divisor in range(2, int(modulus**0.5) + 1)):
        raise ValueError(f"modulus must be a prime, got {modulus}")
    if not 2 <= layers <= len(CATEGORIES):
        raise ValueError(f"layers must be in 2..{len(CATEGORIES)}, got {layers}")
    if not 2 <= items <= names:
        raise ValueError(f"items must be in 2..names = {names}, got {items}")
    if edges < 2 * (layers - 1):
        raise ValueError(f"edges must be at least 2 (layers - 1) = {2 * (layers - 1)}, got {edges}")
    if not 1 <= operations <= len(LETTERS):
        raise ValueError(f"operations must be in 1..{len(LETTERS)}, one letter each, got {operations}")
