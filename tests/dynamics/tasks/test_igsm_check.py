"""The checker of solutions: the published example by hand, planted mistakes of each kind, and other right solutions."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.igsm import IGSM
from dynamics.tasks.igsm_check import answered, mistake
from dynamics.tasks.igsm_graph import Definition, Graph, Parameter
from dynamics.tasks.igsm_problem import Problem
from dynamics.tasks.igsm_text import problem_words, solution_words, vocabulary
from tests.dynamics.tasks.igsm_by_text import parts, sentences

TASK = IGSM(operations=9, least=5, part="any")


def problem_of(seed):
    return TASK.problem(np.random.default_rng(seed))


def example():
    """What Ye et al. print for 7 operations: two schools, Film and Dance Studio, School Daypack, Messenger Backpack."""
    a0b0, a1b0, a0b1 = Parameter("A0", "B0"), Parameter("A1", "B0"), Parameter("A0", "B1")
    b1c0, b0c1, b0c0 = Parameter("B1", "C0"), Parameter("B0", "C1"), Parameter("B0", "C0")
    b0c, a1c = Parameter("B0", "C"), Parameter("A1", "C")
    definitions = {
        b1c0: Definition("number"),
        b0c1: Definition("number"),
        a1b0: Definition("sum", (b1c0, b0c1)),
        b0c0: Definition("sum", (b0c1, a1b0), "more"),
        b0c: Definition("abstract", (b0c0, b0c1)),
        a1c: Definition("abstract", (a1b0, b0c)),
        a0b0: Definition("sum", (b0c, b1c0), "times"),
        a0b1: Definition("sum", (b0c, b0c1, b0c0, a1c)),
    }
    told = (a0b0, b0c0, a1b0, a0b1, b1c0, b0c1)
    return Problem(Graph(definitions), {b1c0: 17, b0c1: 13, b0c0: 12, a0b0: 5}, a1c, 23, told, tuple("pwbrgvc"))


RIGHT = (
    "define B1 C0 as p ; p = 17 . define B0 C1 as w ; w = 13 . define A1 B0 as b ; b = p + w = 17 + 13 = 7 . "
    "define B0 C0 as g ; r = w + b = 13 + 7 = 20 ; g = 12 + r = 12 + 20 = 9 . "
    "define B0 C as v ; v = g + w = 9 + 13 = 22 . define A1 C as c ; c = b * v = 7 * 22 = 16 . answer 16 end"
)


def test_the_published_example_is_told_and_solved_as_printed():
    problem = example()
    assert problem.answer == 16 and problem.graph.operations(problem.question) == 7
    assert " ".join(solution_words(problem)) == RIGHT
    assert mistake(problem, RIGHT.split()) is None and answered(problem, RIGHT.split())
    assert " ".join(problem_words(problem)) == (
        "A0 B0 equals 5 times sum B0 C and B1 C0 . B0 C0 equals 12 more sum B0 C1 and A1 B0 . "
        "A1 B0 equals sum B1 C0 and B0 C1 . A0 B1 equals sum B0 C and B0 C1 and B0 C0 and A1 C . "
        "B1 C0 equals 17 . B0 C1 equals 13 . how-many A1 C ?"
    )


PLANTED = {
    "slip": ("17 + 13 = 7", "17 + 13 = 8", "step 3: b is 7, got 8"),
    "value": ("17 + 13 = 7", "17 + 14 = 7", r"step 3: p \+ w is not 17 \+ 14"),
    "other operator": ("b = p + w = 17 + 13 = 7", "b = p * w = 17 * 13 = 14",
                       r"step 3: A1 B0 is \(B0 C1 \+ B1 C0\), got \(B0 C1 \* B1 C0\)"),
    "operators differ": ("b = p + w = 17 + 13", "b = p + w = 17 * 13", r"step 3: p \+ w is not 17 \* 13"),
    "other operand": ("v = g + w = 9 + 13 = 22", "v = g + p = 9 + 17 = 3",
                      r"step 5: B0 C is \(B0 C0 \+ B0 C1\), got \(B0 C0 \+ B1 C0\)"),
    "number": ("p = 17", "p = 16", "step 1: B1 C0 is 17, got 16"),
    "own number": ("g = 12 + r = 12 + 20 = 9", "g = 11 + r = 11 + 20 = 8", r"step 4: B0 C0 is .*12.*, got .*11"),
    "undefined letter": ("b = p + w =", "b = p + z =", "step 3: z stands for nothing"),
    "undefined parameter": ("define B0 C1 as w ; w = 13 . ", "",
                            "step 2: A1 B0 depends on B0 C1, which no step before"),
    "of another step": ("v = g + w = 9 + 13 = 22", "v = r + w = 20 + 13 = 10", "step 5: r stands for nothing"),
    "letter taken": ("define B0 C1 as w ; w = 13", "define B0 C1 as p ; p = 13", "step 2: p stands for something else"),
    "letter of a part": ("define B0 C0 as g ;", "define B0 C0 as r ;", "step 4: B0 C0 is defined as r, .* of g"),
    "twice": ("define A1 B0 as", "define B0 C1 as z ; z = 13 . define A1 B0 as", "step 3: B0 C1 is computed before"),
    "unneeded": ("define A1 C as", "define A0 B0 as z ; y = v + p = 22 + 17 = 16 ; z = 5 * y = 5 * 16 = 11 . "
                 "define A1 C as", "step 6: A0 B0 is not needed"),
    "unknown": ("define A1 B0 as b", "define A1 B1 as b", "step 3: there is no A1 B1"),
    "more operations": ("b = p + w = 17 + 13 = 7", "z = p = 17 ; b = z + w = 17 + 13 = 7",
                        "step 3: A1 B0 takes 1 operations, got 2"),
    "wrong answer": ("answer 16", "answer 15", "the answer is 16, got 15"),
    "early": (RIGHT[RIGHT.index("define A1 C") : RIGHT.index("answer")], "",
              "the answer comes before A1 C is computed"),
    "no answer": (" answer 16 end", "", "the solution must end in an answer, got ''"),
    "no end": (" end", "", "must end in an answer, got 'answer 16'"),
    "more words": (" end", " end end", "must end in an answer, got 'answer 16 end end'"),
    "no step": ("define B0 C1 as", "define B0 as", "step 2: 'define B0 as w ; w = 13' is no step"),
    "no equation": ("w = 13 .", "w 13 .", "step 2: 'w 13' is no equation"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_mistake_is_named_in_one_line(kind):
    right, wrong, words = PLANTED[kind]
    assert RIGHT.count(right) == 1
    found = mistake(example(), RIGHT.replace(right, wrong).split())
    assert re.search(words, found) and "\n" not in found


@pytest.mark.parametrize(
    ("right", "other"),
    [("b = p + w = 17 + 13", "b = w + p = 13 + 17"), ("c = b * v = 7 * 22", "c = v * b = 22 * 7"),
     ("r = w + b = 13 + 7 = 20 ; g = 12 + r = 12 + 20", "r = 12 + b = 12 + 7 = 19 ; g = r + w = 19 + 13"),
     ("define B1 C0 as p ; p = 17 . define B0 C1 as w ; w = 13 .",
      "define B0 C1 as w ; w = 13 . define B1 C0 as p ; p = 17 ."), (" r ", " q ")],
)  # fmt: skip
def test_other_right_solutions_are_accepted(right, other):
    assert right in RIGHT
    assert mistake(example(), RIGHT.replace(right, other).split()) is None


@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_any_order_of_the_steps_that_may_be_is_right_and_no_other(seed, random):
    problem = problem_of(seed)
    found, _ = sentences(" ".join(problem_words(problem)))
    steps = " ".join(solution_words(problem)).split(" . ")
    *steps, last = steps
    random.shuffle(steps)
    names = [tuple(step.split()[1:3]) for step in steps]
    valid = all(parts(found, name) <= set(names[:place]) for place, name in enumerate(names))
    assert (mistake(problem, " . ".join((*steps, last)).split()) is None) == valid
    done, order = [], []
    while len(done) < len(names):
        ready = [name for name in names if name not in done and parts(found, name) <= set(done)]
        done.append(random.choice(ready))
        order.append(Parameter(*done[-1]))
    assert mistake(problem, solution_words(problem, order)) is None


@given(st.integers(0, 2**32), st.data())
def test_no_solution_with_one_word_changed_is_right(seed, data):
    problem = problem_of(seed)
    words = solution_words(problem)
    every = vocabulary(*(TASK.modulus, TASK.layers, TASK.names))
    place = data.draw(st.integers(0, len(words) - 1))
    for other in every:
        if other != words[place]:
            assert mistake(problem, [*words[:place], other, *words[place + 1 :]]) is not None
    assert mistake(problem, words[:place] + words[place + 1 :]) is not None
    assert mistake(problem, [*words[:place], words[place], *words[place:]]) is not None
    assert mistake(problem, words[:place]) is not None


@given(st.integers(0, 2**32), st.lists(st.sampled_from(vocabulary(23, 3, 6)), max_size=40))
def test_whatever_a_model_says_is_one_line(seed, words):
    problem = problem_of(seed % 7)
    found = mistake(problem, [*words, "<3>", "."])
    assert found is not None and "\n" not in found
    assert not answered(problem, [word for word in words if word != "define"])


def test_a_difference_has_an_order():
    first, second, asked = Parameter("A0", "B0"), Parameter("A0", "B1"), Parameter("A1", "B0")
    number = Definition("number")
    definitions = {first: number, second: number, asked: Definition("difference", (first, second))}
    problem = Problem(Graph(definitions), {first: 5, second: 3}, asked, 23, tuple(definitions), tuple("xyz"))
    right = "define A0 B0 as x ; x = 5 . define A0 B1 as y ; y = 3 . "
    right += "define A1 B0 as z ; z = x - y = 5 - 3 = 2 . answer 2 end"
    assert mistake(problem, right.split()) is None
    swapped = right.replace("x - y = 5 - 3 = 2", "y - x = 3 - 5 = 21")
    assert mistake(problem, swapped.split()) == "step 3: A1 B0 is (A0 B0 - A0 B1), got (A0 B1 - A0 B0)"


def test_table_4_asks_for_one_right_step_alone():
    problem = example()
    assert answered(problem, RIGHT.replace("17 + 13 = 7", "17 + 13 = 8").split())
    assert answered(problem, RIGHT.replace("answer 16", "answer 3").split())
    assert answered(problem, RIGHT.replace(*PLANTED["unneeded"][:2]).split())
    assert not answered(problem, RIGHT.replace("7 * 22 = 16", "7 * 22 = 17").split())
    assert not answered(problem, RIGHT.replace("define A1 C as", "define A0 C as").split())
    assert not answered(problem, ["answer", "16", "end"])
