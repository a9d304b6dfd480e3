"""What packages bring to the workbench by entry points, ours as anybody's (`pyproject.toml`): found by name, no import.

A package of one's own registers under `[project.entry-points."<group>"]`; what it names is loaded when it is asked for.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

TASKS = "induction_workbench.tasks"  # classes of `dynamics.tasks.task.Task`
MODELS = "induction_workbench.models"  # what takes (ModelConfig, torch.Generator | None) and makes an InductionModel


@cache
def names(group: str) -> tuple[str, ...]:
    """The names of a group, in the order in which packages registered them. Raises: as `named`."""
    return tuple(_entries(group))


@cache
def named(group: str, name: str) -> Any:
    """Load what is registered under a name.

    Raises: ValueError, one line: no such name, two packages that registered one name for different things, or what was
    registered cannot be loaded.
    """
    entries = _entries(group)
    if name not in entries:
        raise ValueError(f"{name!r} is not one of {', '.join(entries)}")
    try:
        return entries[name].load()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name!r} is registered as {entries[name].value}, which does not load: {error}") from None


def _entries(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if found.setdefault(entry.name, entry).value != entry.value:
            raise ValueError(f"two packages register {entry.name!r}: {found[entry.name].value} and {entry.value}")
    return found
