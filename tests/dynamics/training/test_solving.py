"""Solving by greedy continuation: a model that knows, one that does not, and a short training."""

import numpy as np
import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import build
from dynamics.model.generation import greedy
from dynamics.tasks.igsm import IGSM
from dynamics.tasks.igsm_check import mistake
from dynamics.tasks.igsm_text import decoded, encoded, longest_solution, problem_words, solution_words
from dynamics.training import solving
from dynamics.training.solving import accuracy, packed_loss, solve
from tests.dynamics.refusal import refused

TASK = IGSM(modulus=5, layers=2, items=2, names=3, edges=4, operations=4, least=3)


def small(vocab=TASK.vocab):
    config = ModelConfig(vocab=vocab, width=32, n_heads=2, n_layers=2, mlp_width=64)
    return build(config, torch.Generator().manual_seed(0))


def problems(count):
    rng = np.random.default_rng(1)
    return [TASK.problem(rng) for _ in range(count)]


def told(monkeypatch, known, change=lambda words: words):
    """Puts in the place of `greedy` one that has looked up the solution, and goes on after its end."""
    answers = {
        tuple(encoded(problem_words(each), TASK.sizes)): encoded(change(solution_words(each)), TASK.sizes)
        for each in known
    }

    def greedy(model, prompt, count, stop):
        assert decoded([stop], TASK.sizes) == ["end"]
        rows = torch.zeros(len(prompt), count, dtype=torch.int64)
        for row, tokens in zip(rows, prompt.tolist(), strict=True):
            found = torch.from_numpy(answers[tuple(tokens)])
            row[: len(found)] = found
        return rows, None

    monkeypatch.setattr(solving, "greedy", greedy)


def test_a_model_that_knows_every_solution_solves_all(monkeypatch):
    known = problems(12)
    told(monkeypatch, known)
    assert solve(small(), TASK, known) == [solution_words(each) for each in known]
    assert accuracy(small(), TASK, known) == (1.0, 1.0, (None,) * 12)


def test_what_is_wrong_is_said_and_table_4_counts_the_step(monkeypatch):
    known = problems(12)
    told(monkeypatch, known, lambda words: [*words[:-2], "how-many", "end"])
    found = accuracy(small(), TASK, known)
    assert (found.right, found.answered) == (0.0, 1.0)
    assert all("must end" not in words and "got how-many" in words for words in found.mistakes)


def test_greedy_solutions_are_those_of_each_problem_alone():
    model, some = small(), problems(4)
    together = solve(model, TASK, some)
    assert together == [solve(model, TASK, [each])[0] for each in some]
    for problem, words in zip(some, together, strict=True):
        assert mistake(problem, words) is not None
        assert words[-1] == "end" or len(words) == longest_solution(len(problem.letters))


@pytest.mark.parametrize("rows", [1, 3])
def test_a_stop_leaves_out_what_comes_after_every_row_has_had_it(rows):
    model, prompt = small(), torch.randint(11, TASK.vocab, (rows, 5), generator=torch.Generator().manual_seed(1))
    for block in model.parameters():
        block.data.mul_(5)  # else it repeats itself
    whole, logits = greedy(model, prompt, 12)
    assert all(len(set(row)) > 3 for row in whole.tolist())
    for stop in {*whole.flatten().tolist(), 0}:
        wanted = max(row.index(stop) + 1 if stop in row else 12 for row in whole.tolist())
        found, some = greedy(model, prompt, 12, stop=stop)
        assert torch.equal(found, whole[:, :wanted])
        assert torch.equal(some, logits[:, :wanted])


def test_the_loss_is_that_of_each_document_alone():
    model, packed = small(), TASK.packed(np.random.default_rng(0), 2, 180)
    for alone in (True, False):
        losses = []
        for tokens, solution, number in zip(*map(torch.from_numpy, packed), strict=True):
            for each in number.unique():
                own, scored = tokens[number == each], solution[number == each][1:] | (not alone)
                if len(own) > 1:
                    every = torch.nn.functional.cross_entropy(model(own[None, :-1])[0], own[1:], reduction="none")
                    losses.append(every[scored])
        wanted = torch.cat(losses).mean()
        torch.testing.assert_close(packed_loss(model, packed, alone), wanted, rtol=1e-5, atol=1e-5)


def test_what_cannot_be_scored_is_one_line():
    packed = TASK.packed(np.random.default_rng(0), 1, 3)
    refused("rows of 3 tokens end before their first solution", packed_loss, small(), packed)
    refused(
        f"vocab must be at least {TASK.vocab}, got {TASK.vocab - 1}", solve, small(TASK.vocab - 1), TASK, problems(1)
    )
    refused("at least one problem, got none", accuracy, small(), TASK, [])
