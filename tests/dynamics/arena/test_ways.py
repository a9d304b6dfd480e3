"""The choice of stacks: by the times that were measured, once, and the same arena after any interruption."""

import pytest

from dynamics.arena import ways as module
from dynamics.arena.bundle import shipped_arena, shipped_names
from dynamics.arena.engine import WAYS, read_plan, results, run_arena
from dynamics.arena.ways import (
    Measured,
    Stacked,
    Ways,
    chosen,
    chosen_plan,
    fastest,
    gains,
    measured,
    shipped_ways,
    sizes,
    spoken,
    wall,
)  # fmt: skip
from tests.dynamics.arena.cases import SHORT, comparison, plan
from tests.dynamics.refusal import refused


def timed(seeds, **seconds) -> Measured:
    """seconds: of a stack, by its size, _1, _2, .."""
    found = [Stacked(stack=int(size[1:]), seconds=value) for size, value in seconds.items()]
    return Measured(seeds=seeds, sizes=found, whole=seconds.get(f"_{seeds}", 100.0))


EIGHT = timed(8, _1=1.0, _2=1.5, _4=2.8, _8=5.0)


def found(plan, stack_of_two, processes=2) -> Ways:
    """As if a stack of two took that long for every entry, where a model alone takes 1."""
    entries = {name: timed(4, _1=1.0, _2=stack_of_two) for name in plan.entries}
    return Ways(plan_sha256=plan.sha256, torch_version="", processor="", processes=processes, entries=entries)


@pytest.mark.parametrize(
    ("one", "processes", "stack"),
    [
        (EIGHT, 1, 8),
        (EIGHT, 2, 4),  # the whole stack leaves a process idle
        (EIGHT, 8, 1),
        (timed(8, _1=1.0, _2=1.92, _4=3.9), 1, 1),  # a gain within the noise
        (timed(6, _1=1.0, _2=1.6), 2, 1),  # three stacks take two turns
        (timed(6, _1=1.0, _2=1.4), 2, 2),
        (timed(5, _1=1.0), 2, 1),
    ],
)
def test_the_way_whose_seeds_are_done_first_is_chosen_and_none_slower_than_the_pool(one, processes, stack):
    assert fastest(one, processes) == stack
    taken = next(size for size in one.sizes if size.stack == stack)
    assert wall(one.seeds, taken, processes) <= wall(one.seeds, one.sizes[0], processes)


def test_gains_are_against_the_pool_in_as_many_turns_as_it_takes():
    assert gains(EIGHT, 2) == {1: 1.0, 2: pytest.approx(4 / 3), 4: pytest.approx(4 / 2.8), 8: pytest.approx(4 / 5)}


@pytest.mark.parametrize("name", [name for name in shipped_names() if shipped_ways(shipped_arena(name).plan)])
def test_shipped_ways_are_of_every_entry_and_none_that_is_chosen_is_slower_than_the_pool(name):
    plan = shipped_arena(name).plan
    ways = shipped_ways(plan)
    assert ways.entries.keys() == plan.entries.keys()
    for entry, one in ways.entries.items():
        assert (one.seeds, [size.stack for size in one.sizes]) == sizes(plan, entry)
        assert gains(one, ways.processes)[fastest(one, ways.processes)] >= 1


def test_stacks_are_those_that_all_rules_of_an_entry_allow():
    wanted = plan(least=4, most=8)
    assert sizes(wanted, "kv") == (4, [1, 2, 4])
    more = wanted.comparisons | {"kv / resformer": comparison("kv", "resformer", 6, 8)}
    wanted = wanted.but(comparisons=more)
    assert sizes(wanted, "kv") == sizes(wanted, "resformer") == (6, [1, 2])
    assert sizes(wanted, "vanilla") == (4, [1, 2, 4])


def test_the_choice_is_a_part_of_the_plan():
    wanted = plan()
    assert chosen(wanted, found(wanted, 1.95)) == wanted
    other = chosen(wanted, found(wanted, 1.5))
    assert other == plan(stack=2)
    assert other.sha256 != wanted.sha256
    assert [line.split(maxsplit=1)[1].strip() for line in spoken(found(wanted, 1.6))] == [
        "pool of stacks of 2  1.25 x the pool"
    ] * 3


def test_every_way_is_timed():
    wanted = plan(training=SHORT)
    one = measured(wanted, 1, rounds=1)
    assert (one.plan_sha256, one.processes, one.entries.keys()) == (wanted.sha256, 1, wanted.entries.keys())
    for each in one.entries.values():
        assert each.seeds == 4
        assert [size.stack for size in each.sizes] == [1, 2]


def test_a_choice_is_made_once_and_trained(tmp_path, monkeypatch):
    wanted = plan(training=SHORT, most=4)
    monkeypatch.setattr(module, "measured", lambda plan, processes: found(plan, 1.5, processes))
    first = chosen_plan(wanted, tmp_path / "a", 2)
    monkeypatch.setattr(module, "measured", lambda plan, processes: found(plan, 9.0, processes))
    again = chosen_plan(wanted, tmp_path / "a", 1)
    assert first == again == plan(stack=2, training=SHORT, most=4)
    run_arena(again, tmp_path / "a", n_jobs=1, progress=False)
    assert read_plan(tmp_path / "a") == again
    assert {one.run.seeds for one in results(tmp_path / "a", again).values()} == {2}
    assert chosen_plan(wanted, tmp_path / "a", 1) == again


def test_folders_without_a_choice_are_refused(tmp_path, monkeypatch):
    wanted = plan(training=SHORT)
    monkeypatch.setattr(module, "measured", lambda plan, processes: found(plan, 1.5, processes))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "plan.json").write_text(wanted.model_dump_json())
    refused("begun without a choice", chosen_plan, wanted, tmp_path / "a", 2)
    assert not (tmp_path / "a" / WAYS).exists()
    chosen_plan(wanted, tmp_path / "b", 2)
    refused("measured for another plan", chosen_plan, plan(), tmp_path / "b", 2)
    path = tmp_path / "b" / WAYS
    path.write_text(path.read_text().replace("kv", "gpt"))
    refused(f"{WAYS}: measured for another plan", chosen_plan, wanted, tmp_path / "b", 2)
    (tmp_path / "b" / WAYS).write_text("{}")
    refused("plan_sha256", chosen_plan, wanted, tmp_path / "b", 2)
