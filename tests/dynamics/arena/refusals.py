"""What plans of the arena refuse: for each call the words of the error, and the arguments that it answers."""

from dynamics.arena.dissect import Looks
from dynamics.arena.engine import Place
from dynamics.arena.scaling import fit
from dynamics.arena.solved import SolvedBundle, bundle_of
from dynamics.arena.solving_plan import SolvingTraining
from tests.dynamics.arena.solving_cases import TRAINING, made_up, tiny
from tests.dynamics.arena.test_scaling import SIZES
from tests.dynamics.arena.test_solving import COUNTS

RULES = tiny().rules
RECORD = bundle_of(tiny(), made_up(tiny(), COUNTS), Place()).model_dump()
SOLVED = RECORD["solved"]


def looks(**changes):
    Looks.checked(changes)


def training(**changes):
    SolvingTraining.checked(TRAINING.model_dump() | changes)


def bundle(**solved):
    SolvedBundle.checked(RECORD | {"solved": solved})


TABLE = {
    tiny: {
        "the models are 'kv-shift' and 'kv-shift'": {"baseline": "kv-shift"},
        "the models are 'k-shift' and 'vanilla'": {"variant": "k-shift"},
        "at least 1 item": {"rules": {}},
        "shares must add up to at most 1": {
            "rules": {name: rule.but(share=0.3) for name, rule in RULES.items()}
        },
        "not measured": {"rules": RULES | {"answered, 9 operations": RULES["answered, 4 operations"]}},
        "5 seeds of 4": {"rules": RULES | {"right, 3 operations": tiny(5).rules["right, 3 operations"]}},
        "is of 'right, 4 op": {"rules": RULES | {"right, 3 operations": RULES["right, 4 operations"]}},
    },
    training: {
        "tested must rise": {"tested": (4, 3)},
        "at least 1 item": {"tested": ()},
        "operations must be in 1..26": {"tested": (27,)},
        "the templates of 'train'": {"task": TRAINING.task.at(3).model_dump()},
        "greater than or equal to 10": {"steps": 9},
    },
    bundle: {
        "vanilla: 8 seeds of 4": SOLVED | {"vanilla": SOLVED["vanilla"] * 2},
    },
    looks: {
        "two tokens at least must come after the waiver, got 126 of 128": {"waiver": 126},
        "k: Input should be greater than or equal to 3 (got 2)": {"k": 2},
        "moments: Input should be greater than or equal to 2 (got 1)": {"moments": 1},
    },
    fit: {
        "two sizes or more": [
            ((1e4,), [[1.0], [1.0]]),
            ((1e4, 1e4), [[1.0, 1], [1, 1]]),
            (SIZES, [1.0, 1, 1]),
            (SIZES, [[1.0, 1]]),
        ]
    },
}
