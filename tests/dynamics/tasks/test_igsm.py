"""The iGSM-like task: problems against their own words, the split, its law, rows and documents."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks import igsm_problem
from dynamics.tasks.igsm import IGSM
from dynamics.tasks.igsm_check import answered, mistake
from dynamics.tasks.igsm_graph import Parameter, template
from dynamics.tasks.igsm_problem import draw_problem
from dynamics.tasks.igsm_text import decoded, encoded, longest_solution, problem_words, solution_words, vocabulary
from tests.dynamics.tasks.igsm_by_text import needed, parts, sentences, value
from tests.dynamics.tasks.test_task import fits

SMALL = IGSM(modulus=5, layers=2, items=2, names=3, edges=4, operations=6, least=4)


def tasks():
    """Tasks of all sizes whose problems are found soon."""
    return st.builds(
        lambda modulus, layers, items, more, edges, least, span, part: IGSM(
            modulus=modulus, layers=layers, items=items, names=items + more, edges=2 * (layers - 1) + edges,
            least=least, operations=least + span, part=part,
        ),
        st.sampled_from([2, 3, 7, 23]), st.integers(2, 4), st.integers(3, 4), st.integers(0, 3), st.integers(5, 12),
        st.integers(4, 6), st.integers(0, 5), st.sampled_from(["train", "test", "any"]),
    )  # fmt: skip


@given(tasks(), st.integers(0, 2**32))
def test_every_problem_is_solved_as_its_own_words_say(task, seed):
    problem = task.problem(np.random.default_rng(seed))
    found, question = sentences(" ".join(problem_words(problem)))
    solution = solution_words(problem)
    words = problem_words(problem) + solution
    tokens = encoded(words, task.sizes)
    assert tokens.dtype == np.int64 and tokens.min() >= 11 and tokens.max() < task.vocab
    assert decoded(tokens, task.sizes) == words
    assert value(found, question, task.modulus) == problem.answer == int(solution[-2])
    assert mistake(problem, solution) is None
    assert answered(problem, solution)
    steps = [tuple(step.split()[1:3]) for step in " ".join(solution).split(" . ")[:-1]]
    assert len(steps) == len(set(steps)) and set(steps) == needed(found, question)
    for place, step in enumerate(steps):
        assert parts(found, step) <= set(steps[:place])
    equations = solution.count(".") + solution.count(";") - len(steps)
    assert task.least <= equations == problem.graph.operations(problem.question) <= task.operations
    assert len(solution) <= longest_solution(equations)


@given(tasks(), st.integers(0, 2**32))
def test_every_parameter_of_a_graph_is_what_the_words_say(task, seed):
    problem = task.problem(np.random.default_rng(seed))
    found, _ = sentences(" ".join(problem_words(problem)))
    values = igsm_problem.values_of(problem.graph, list(problem.graph.definitions), problem.numbers, task.modulus)
    assert {each for each in values if not each.abstract} == found.keys()
    for name, wanted in values.items():
        assert value(found, name, task.modulus) == wanted
        assert set(problem.graph.needed(name)) == needed(found, name)
    for owner, thing in found:  # one category below, and no more items than there may be
        assert ord(thing[0]) == ord(owner[0]) + 1
    items = {name for pair in found for name in pair}
    assert max(Counter(item[0] for item in items).values()) <= task.items
    assert len(found) <= max(task.edges, (task.layers - 1) * task.items)


def test_every_word_has_one_token_and_a_token_that_is_none_is_shown():
    words = vocabulary(23, 3, 6)
    assert len(words) == len(set(words)) == IGSM().vocab - 11 == 88
    assert encoded(words, IGSM().sizes).tolist() == list(range(11, 99))
    assert decoded([0, 10, 11, 98, 99], IGSM().sizes) == ["<0>", "<10>", ".", "C5", "<99>"]


def templates(task, seed, count):
    rng = np.random.default_rng(seed)
    return {template(problem.graph, problem.question) for problem in (task.problem(rng) for _ in range(count))}


def test_templates_of_training_and_test_never_meet():
    # Few operations, so that few templates are drawn again and again and would meet.
    task = IGSM(modulus=3, layers=2, items=2, names=2, edges=4, operations=4, least=3, part="any")
    train, test = (templates(task.but(part=part), 1, 400) for part in ("train", "test"))
    drawn = templates(task, 2, 800)
    assert len(train) > 50 and len(test) > 15
    assert not train & test
    assert len(drawn & train) > 30 and len(drawn & test) > 10 and 0.12 < len(test) / len(train | test) < 0.4


def test_other_operations_make_other_templates():
    assert not templates(SMALL, 0, 40) & templates(SMALL.at(8), 0, 40)
    assert SMALL.at(8) == SMALL.but(least=8, operations=8, part="test")


def test_a_template_forgets_names_numbers_and_the_order_of_steps():
    problem = SMALL.problem(np.random.default_rng(3))
    kept = template(problem.graph, problem.question)
    other = {"A": "C", "B": "D"}

    def renamed(each):
        return Parameter(*(other[word[0]] + word[1:] for word in each))

    definitions = {
        renamed(each): rule._replace(operands=tuple(map(renamed, rule.operands)))
        for each, rule in reversed(problem.graph.definitions.items())
    }
    assert template(problem.graph._replace(definitions=definitions), renamed(problem.question)) == kept


def test_answers_are_uniform():
    task = IGSM(modulus=5, operations=6, least=3, part="any", items=2, edges=6)
    rng = np.random.default_rng(0)
    counts = np.bincount([task.problem(rng).answer for _ in range(600)], minlength=5)
    fits(counts)


def test_operations_are_uniform():
    rng = np.random.default_rng(1)
    counts = Counter(len(SMALL.problem(rng).letters) for _ in range(300))
    assert counts.keys() == {4, 5, 6}
    fits(list(counts.values()))


@pytest.mark.parametrize("scored", ["answer", "direct"])
def test_rows_are_scored_where_the_task_says(scored):
    task = IGSM(operations=6, scored=scored)
    batch = task.draw(np.random.default_rng(5), 20, task.vocab, 0)
    for row, end, query, target, position in zip(*batch, strict=True):
        assert end == query + 1 and not row[end:].any()
        words, (answer,) = decoded(row[:end], task.sizes), decoded([target], task.sizes)
        found, question = sentences(" ".join(words[: words.index("?") + 1]))
        assert words[-1] == "answer" and int(answer) == value(found, question, 23)
        assert (scored == "direct") == (words[-2] == "?")
        assert position == (query - 2 if scored == "answer" else -1)
        if scored == "answer":
            assert row[position] == target


def test_a_scored_result_is_that_of_the_solution():
    task, places = IGSM(operations=6, scored="result"), set()
    task.check(task.vocab)
    for seed in range(20):
        batch = task.draw(np.random.default_rng(seed), 1, task.vocab, 0)
        rng = np.random.default_rng(seed)
        solved = task.problem(rng)
        words = problem_words(solved) + solution_words(solved)
        assert decoded([*batch.tokens[0], *batch.target], task.sizes) == words[: batch.lengths[0] + 1]
        assert words[batch.lengths[0] - 1] == "=" and words[batch.lengths[0] + 1] in (";", ".")
        assert batch.query_index == batch.lengths - 1 and batch.position == -1
        places.add(words[: batch.lengths[0]].count("."))
    assert len(places) > 5


def test_documents_are_problems_with_solutions():
    for document in SMALL.documents(np.random.default_rng(0), 20):
        words = decoded(document.tokens, SMALL.sizes)
        begin = words.index("?") + 1
        assert words[-1] == "end" and document.solution.tolist() == [False] * begin + [True] * (len(words) - begin)
        found, question = sentences(" ".join(words[:begin]))
        assert int(words[-2]) == value(found, question, 5)


def test_packed_rows_are_documents_one_after_another():
    packed = SMALL.packed(np.random.default_rng(4), 3, 200)
    rng = np.random.default_rng(4)
    for tokens, solution, number in zip(*packed, strict=True):
        assert tokens.shape == solution.shape == number.shape == (200,)
        count = number[-1] + 1
        drawn = SMALL.documents(rng, count)
        np.testing.assert_array_equal(tokens, np.concatenate([each.tokens for each in drawn])[:200])
        np.testing.assert_array_equal(solution, np.concatenate([each.solution for each in drawn])[:200])
        assert np.bincount(number)[:-1].tolist() == [len(each.tokens) for each in drawn[:-1]]


def test_successive_letters_change_the_letters_alone():
    """They follow one another, from any letter, z before a; all else of a problem is as with letters in no order."""
    firsts = set()
    for seed in range(40):
        plain = SMALL.problem(np.random.default_rng(seed))
        other = SMALL.but(letters="successive").problem(np.random.default_rng(seed))
        places = [ord(letter) - ord("a") for letter in other.letters]
        assert places == [(places[0] + n) % 26 for n in range(len(plain.letters))]
        assert other._replace(letters=()) == plain._replace(letters=())
        assert mistake(other, solution_words(other)) is None
        firsts.add(places[0])
    assert len(firsts) > 10
    assert any(ord(b) - ord(a) != 1 for a, b in pairwise(plain.letters))


def test_what_cannot_be_drawn_is_one_line(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(igsm_problem, "ATTEMPTS", 20)
    with pytest.raises(ValueError, match="none of 20 graphs of at most 12 edges has a question of 4 operations that"):
        draw_problem(rng, IGSM().sizes, 4, lambda graph, question: False)


def test_a_heading_names_operations_part_and_what_is_scored():
    assert IGSM().words() == {
        "operations": "4 to 12 operations mod 23", "part": "train templates", "scored": "scored at the answer",
        "edges": "at most 12 edges",
    }  # fmt: skip
    assert IGSM().at(15).words()["operations"] == "15 operations mod 23"
