"""What packages register by entry points: names without imports, loaded on demand, and one line where that fails."""

from importlib.metadata import EntryPoint

import pytest

from dynamics.files import registered
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import build
from dynamics.tasks import task as tasks
from tests.dynamics.refusal import refused

ENTRIES = (
    EntryPoint("good", "dynamics.tasks.hop:Hop", "g"),
    EntryPoint("gone", "no_such_module:Thing", "g"),
    EntryPoint("absent", "dynamics.tasks.hop:Thing", "g"),
    EntryPoint("number", "dynamics.tasks.hop:NOWHERE", "g"),
)


@pytest.fixture
def entries(monkeypatch):
    """Plants what packages register in every group."""

    def plant(*planted):
        monkeypatch.setattr(registered, "entry_points", lambda group: planted)

    forget = (registered.names.cache_clear, registered.named.cache_clear)
    [clear() for clear in forget]
    yield plant
    [clear() for clear in forget]


def test_ours_are_registered_as_anybodys():
    assert registered.names(registered.TASKS) == ("hop", "igsm", "induction", "mqar", "trigram")
    assert registered.names(registered.MODELS) == ("apart", "common", "fused", "half", "heads")
    for name in registered.names(registered.TASKS):
        assert tasks.task_class(name)().name == name
    for name in registered.names(registered.MODELS):
        assert callable(registered.named(registered.MODELS, name))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "'missing' is not one of good, gone, absent, number"),
        ("gone", "'gone' is registered as no_such_module:Thing, which does not load: No module named 'no_such_module'"),
        ("absent", "'absent' is registered as dynamics.tasks.hop:Thing, which does not load: module"),
        ("number", "'number' is registered as 1, which is no subclass of dynamics.tasks.task.Task"),
        ("good", "'good' is registered as a task that calls itself 'hop'"),
    ],
)
def test_a_task_that_is_none_is_one_line(entries, name, words):
    entries(*ENTRIES)
    refused(words, tasks.task_class, name)


def test_two_packages_with_one_name_are_refused_and_one_thing_registered_twice_is_not(entries):
    entries(EntryPoint("copy", "mine:Copy", "g"), EntryPoint("copy", "yours:Copy", "g"))
    refused("two packages register 'copy': mine:Copy and yours:Copy", registered.names, "g")
    entries(EntryPoint("copy", "mine:Copy", "g"), EntryPoint("copy", "mine:Copy", "g"))
    assert registered.names("g") == ("copy",)


def test_a_model_that_is_none_is_one_line(entries):
    entries(EntryPoint("list", "builtins:print", "g"))
    with pytest.raises(ValueError, match="place must be one of list, got 'heads'"):
        ModelConfig()
    config = ModelConfig(place="list")
    refused("'list' is registered as what makes no InductionModel with that config", build, config)
