"""An iGSM-like arithmetic task after Ye et al. (2024), Physics of Language Models 2.1 (arXiv:2407.20311), small.

A problem tells of items in categories, one below the other, how many of the next category's items each has (instance
parameters), in terms of each other, and asks for one of them, or for all items of a category that one has (abstract
parameters, which no sentence tells: sums, and over more than one category sums of products). Numbers are mod a prime.
The solution defines what the question needs and no more, step by step, each after what it depends on.

As there: structure and dependency graphs, abstract parameters and their operations, numbers mod 23, shuffled sentences,
a letter for each result, one operation an equation, a number or a copy counting as one, unneeded parameters in the
problem and none in its solution. Not as there: a small vocabulary of marks, not English; the question comes last;
sentences of up to three operands, not four; the graph is drawn first and then a question of so many operations in it,
where theirs is built backwards from the question; the number of operations and the answer are uniform; 26 letters, and
so 26 operations at most.

Parts. A template is what is computed, without names, numbers and the order of steps. Its hash puts one in four into
"test", the others into "train", so that the two never meet; Ye et al. split by a hash of the template too, the
KV-shifting paper says nothing of it. Fewer than four operations have few templates, hence the default of `least`.

Table 4 of the KV-shifting paper, "Tr X - Te Y" (12 and 15, 21 and 24): trained on at most X operations, tested on
exactly Y. Here `IGSM(operations=X)` and `.at(Y)`; `.at(Y)` for Y <= X tests other templates of operations that were
trained. That table counts a problem as solved once a step gives the question its value (`answered`), Ye et al. only if
the whole solution is right (`mistake` finds none). Its generator, another package, and its settings are not these.
"""

from typing import Literal, NamedTuple

import numpy as np
from pydantic import model_validator

from dynamics.files.manifest import Positive
from dynamics.tasks.igsm_graph import Graph, Parameter, template_byte
from dynamics.tasks.igsm_problem import Problem, Sizes, check_sizes, draw_problem
from dynamics.tasks.igsm_text import encoded, problem_words, solution_words, vocabulary
from dynamics.tasks.task import FIRST_TOKEN, Batch, Task

TEST_BYTES = 64  # a template is for testing where its hash begins below this: one in four


class Document(NamedTuple):
    """tokens (length,) int64: a problem and its solution; solution (length,) bool: which tokens are the solution's."""

    tokens: np.ndarray
    solution: np.ndarray


class Packed(NamedTuple):
    """Rows of whole documents one after another, the last one cut: (rows, length) each.

    tokens, int64; solution, bool; documents, the number of each token's document within its row.
    """

    tokens: np.ndarray
    solution: np.ndarray
    documents: np.ndarray


class IGSM(Task):
    """operations, of a solution, uniform on least..operations; part, which templates; scored, where `draw` asks.

    scored: "answer", after the whole solution, so the answer stands two tokens before it; "result", behind the last "="
    of one of its equations, drawn uniformly; "direct", after the question, with no solution at all.
    letters: of a solution, in no order as there, or "successive" in the alphabet: which letters are free is little of
    the loss and learnt late, and until then a greedy model takes one and the same letter for every result.
    modulus, a prime; layers, categories; items, most of one, and at least 2; names, they are chosen from; edges, most
    instance parameters (few more where the structure needs them).
    """

    name: Literal["igsm"] = "igsm"
    operations: Positive = 12
    least: Positive = 4
    part: Literal["train", "test", "any"] = "train"
    scored: Literal["answer", "result", "direct"] = "answer"
    letters: Literal["shuffled", "successive"] = "shuffled"
    modulus: int = 23
    layers: int = 3
    items: int = 3
    names: int = 6
    edges: int = 12

    @model_validator(mode="after")
    def _fits(self) -> "IGSM":
        check_sizes(self.sizes, self.operations)
        if self.least > self.operations:
            raise ValueError(f"least must be at most operations = {self.operations}, got {self.least}")
        return self

    @property
    def sizes(self) -> Sizes:
        """What structure and vocabulary depend on."""
        return Sizes(self.modulus, self.layers, self.items, self.names, self.edges)

    @property
    def vocab(self) -> int:
        """The least vocabulary of a model: all words are the tokens 11..vocab-1."""
        return FIRST_TOKEN + len(vocabulary(self.modulus, self.layers, self.names))

    def at(self, operations: int) -> "IGSM":
        """The test problems of exactly so many operations. Raises: ValueError, one line, for what cannot be."""
        return IGSM.checked(self.model_dump() | {"operations": operations, "least": operations, "part": "test"})

    def problem(self, rng: np.random.Generator) -> Problem:
        """Draw a problem. Raises: ValueError, one line: none of so many operations was found in this part."""
        operations = int(rng.integers(self.least, self.operations + 1))
        return draw_problem(rng, self.sizes, operations, self._belongs, self.letters == "successive")

    def _belongs(self, graph: Graph, question: Parameter) -> bool:
        return self.part == "any" or (template_byte(graph, question) < TEST_BYTES) == (self.part == "test")

    def draw(self, rng: np.random.Generator, rows: int, vocab: int, seed: int) -> Batch:
        """Rows of one problem each, scored as `scored` says; position is that of the answer before it, else -1."""
        if rows < 1:
            raise ValueError(f"rows must be at least 1, got {rows}")
        if vocab < self.vocab:
            raise ValueError(f"vocab must be at least {self.vocab}, got {vocab}")
        drawn = [self._scored(rng, self.problem(rng)) for _ in range(rows)]
        lengths = np.array([len(words) for words, _, _ in drawn])
        tokens = np.zeros((rows, lengths.max()), dtype=np.int64)
        for row, (words, _, _) in zip(tokens, drawn, strict=True):
            row[: len(words)] = encoded(words, self.sizes)
        target = encoded([answer for _, answer, _ in drawn], self.sizes)
        return Batch(tokens, lengths, lengths - 1, target, np.array([position for _, _, position in drawn]))

    def _scored(self, rng: np.random.Generator, problem: Problem) -> tuple[list[str], str, int]:
        """The words up to the scored one, the answer to it, and where that stands."""
        told, solution = problem_words(problem), solution_words(problem)
        if self.scored == "direct":
            return [*told, "answer"], str(problem.answer), -1
        if self.scored == "answer":
            words = told + solution[:-2]
            return words, solution[-2], len(words) - 3
        ends = [place for place, word in enumerate(solution) if word in (";", ".") and solution[place - 2] == "="]
        end = ends[rng.integers(len(ends))]
        return told + solution[: end - 1], solution[end - 1], -1

    def document(self, rng: np.random.Generator) -> Document:
        """Draw a problem with its stated solution, up to the word "end"."""
        problem = self.problem(rng)
        told, solution = problem_words(problem), solution_words(problem)
        return Document(encoded(told + solution, self.sizes), np.arange(len(told) + len(solution)) >= len(told))

    def documents(self, rng: np.random.Generator, count: int) -> list[Document]:
        """Draw so many."""
        return [self.document(rng) for _ in range(count)]

    def packed(self, rng: np.random.Generator, rows: int, length: int) -> Packed:
        """Rows for training a language model; each begins with a new document. Raises: ValueError for sizes below 1."""
        if rows < 1 or length < 1:
            raise ValueError(f"rows and length must be at least 1, got {rows} and {length}")
        filled = [self._row(rng, length) for _ in range(rows)]
        return Packed(*(np.stack(parts) for parts in zip(*filled, strict=True)))

    def _row(self, rng: np.random.Generator, length: int) -> Packed:
        found: list[Document] = []
        while sum(len(each.tokens) for each in found) < length:
            found.append(self.document(rng))
        tokens, solution = (np.concatenate(parts)[:length] for parts in zip(*found, strict=True))
        return Packed(tokens, solution, np.repeat(np.arange(len(found)), [len(each.tokens) for each in found])[:length])

    def words(self) -> dict[str, str]:
        """Operations, part, prime, and what is scored."""
        count = f"{self.least} to {self.operations}" if self.least < self.operations else f"{self.operations}"
        found = {"operations": f"{count} operations mod {self.modulus}", "part": f"{self.part} templates"}
        return found | {"scored": f"scored at the {self.scored}", "edges": f"at most {self.edges} edges"}
