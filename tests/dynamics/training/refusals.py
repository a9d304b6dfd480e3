"""What trainings and their settings refuse: for each call the words of the error, and the arguments."""

from dynamics.tasks.hop import Hop
from dynamics.tasks.induction import as_induction
from dynamics.training import checkpoint
from dynamics.training.ensemble import train_ensemble
from dynamics.training.loop import choose_device
from dynamics.training.parallel import check
from dynamics.training.settings import TrainConfig
from dynamics.training.text_settings import TextTraining
from tests.dynamics.training.test_ensemble import BASE, CONFIG, fresh
from tests.dynamics.training.test_settings import OLD, SHARED


def ensemble(trainings=(BASE,), **options):
    train_ensemble(CONFIG, trainings, progress=False, **options)


def settings(**fields):
    TrainConfig.checked(fields)


def copied(**changes):
    SHARED.but(**changes)


def stages(*lengths):
    TextTraining.checked({"corpus": "", "lengths": lengths, "tokens": 64})


TABLE = {
    ensemble: {
        "at least one training": {"trainings": []},
        "same steps, got [3, 20]": {"trainings": [BASE, BASE.but(steps=3)]},
        "same batch, got [3, 6]": {"trainings": [BASE, BASE.but(batch=3)]},
        "at most vocab - 11 = 37, got 38": {"trainings": [BASE.with_task(pool=38)]},
        "chunk must be at least 1, got 0": {"chunk": 0},
        "0 initial models for 1 trainings": {"models": []},
        "another configuration": {"models": [fresh(CONFIG.but(width=4), 0)]},
        "device must be auto": {"device": "abacus"},
    },
    check: {
        "backend must be one of loky, sequential, dask, got 'mpi'": ("mpi", -1, None),
        "needs a scheduler's address, and no other backend takes one": [
            ("dask", -1, None),
            ("loky", -1, "tcp://here:1"),
        ],
        "n_jobs must be -1 or at least 1, got 0": ("loky", 0, None),
    },
    choose_device: {
        "device must be auto, cpu or cuda[:N], got": ["tpu", "mps", ""],
        "no device cuda:99": "cuda:99",
    },
    settings: {
        "TrainConfig: pool: Extra inputs are not permitted": {"pool": 12},
        "task: Input should be a valid dictionary or instance of Task": {
            key: value for key, value in OLD.items() if key != "hops"
        },
        "'copy' is not one of hop, igsm, induction, mqar, trigram": {"task": {"name": "copy"}},
        "'' is not one of": {"task": {"pool": 12}},
        "induction: pairs: Extra inputs are not permitted": {"task": {"name": "induction", "pairs": 4}},
        "hop: hops: Input should be a valid integer": {"task": {"name": "hop", "hops": True}},
        "TrainConfig: hop: Extra inputs": OLD | {"hop": 1},
        "induction: pool: Input should be greater than or equal to 3 ": OLD | {"pool": 2},
    },
    copied: {"TrainConfig has no field 'pool'": {"pool": 12}, "TrainConfig has no field 'tasks'": {"tasks": Hop()}},
    SHARED.with_task: {"Induction has no field 'hops'": {"hops": 2}},
    as_induction: {"about the induction task, got hop": Hop()},
    stages: {"at least one stage": (), "bytes and stages a step, got": [((4, 1),), ((128, 1),), ((8, 0),)]},
    checkpoint.shipped: {"no shipped checkpoint 'gpt'; there are kv-shift, vanilla-1, vanilla-2": "gpt"},
}
