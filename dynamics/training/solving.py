"""How many iGSM-like problems a model solves: its greedy continuation of each, read by the checker.

A language model of problems with solutions: cross entropy of the next token over packed rows, of solutions alone or of
everything.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.decoder import InductionModel
from dynamics.model.generation import greedy
from dynamics.tasks.igsm import IGSM, Packed
from dynamics.tasks.igsm_check import answered, mistake
from dynamics.tasks.igsm_problem import Problem
from dynamics.tasks.igsm_text import decoded, encoded, longest_solution, problem_words


class Solved(NamedTuple):
    """Shares of the problems: right, no mistake (Ye et al.); answered, what Table 4 of the KV-shifting paper counts.

    mistakes: what was wrong with each solution, None for a right one.
    """

    right: float
    answered: float
    mistakes: tuple[str | None, ...]


def packed_loss(model: InductionModel, packed: Packed, solutions_alone: bool = True) -> Tensor:
    """The mean cross entropy of the tokens of solutions (or all), each document as if alone; a first one is not scored.

    Raises: ValueError for rows without a token to score.
    """
    device = model.embedding.device
    tokens, solution, documents = (torch.from_numpy(part).to(device) for part in packed)
    scored = documents[:, 1:] == documents[:, :-1]
    if solutions_alone:
        scored &= solution[:, 1:]
    if not scored.any():
        raise ValueError(f"rows of {tokens.shape[1]} tokens end before their first solution")
    logits = model(tokens[:, :-1], segment_ids=documents[:, :-1])
    return F.cross_entropy(logits[scored], tokens[:, 1:][scored])


def solve(model: InductionModel, task: IGSM, problems: Sequence[Problem]) -> list[list[str]]:
    """The solution that the model writes for each, up to its first "end", or as many words as any right one may take.

    Raises: ValueError for a model whose vocabulary has no room for the task's.
    """
    if model.config.vocab < task.vocab:
        raise ValueError(f"vocab must be at least {task.vocab}, got {model.config.vocab}")
    alike, found, end = defaultdict(list), {}, int(encoded(["end"], task.sizes)[0])
    for index, problem in enumerate(problems):
        tokens = encoded(problem_words(problem), task.sizes)
        alike[len(tokens), len(problem.letters)].append((index, torch.from_numpy(tokens)))
    for (_, operations), group in alike.items():
        prompts = torch.stack([tokens for _, tokens in group]).to(model.embedding.device)
        written, _ = greedy(model, prompts, longest_solution(operations), stop=end)
        found |= {index: decoded(row, task.sizes) for (index, _), row in zip(group, written.tolist(), strict=True)}
    return [_to_end(found[index]) for index in range(len(problems))]


def accuracy(model: InductionModel, task: IGSM, problems: Sequence[Problem]) -> Solved:
    """Let the model solve problems and check what it wrote. Raises: ValueError for none, and as `solve`."""
    if not problems:
        raise ValueError("there must be at least one problem, got none")
    written = list(zip(problems, solve(model, task, problems), strict=True))
    mistakes = tuple(mistake(problem, words) for problem, words in written)
    named = sum(answered(problem, words) for problem, words in written)
    return Solved(mistakes.count(None) / len(problems), named / len(problems), mistakes)


def _to_end(words: list[str]) -> list[str]:
    return words[: words.index("end") + 1] if "end" in words else words
