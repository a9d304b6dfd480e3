"""Tasks that models are trained on: checked settings and a method that draws rows. Other packages can register theirs.

A task of one's own is a subclass of `Task` with a `name`, its settings as fields, and `draw`; a line in the package's
`[project.entry-points."induction_workbench.tasks"]`, `name = "package.module:Class"`, makes it known to every command.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator, SerializeAsAny

from dynamics.files import registered
from dynamics.files.manifest import Strict

FIRST_TOKEN = 11


class Batch(NamedTuple):
    """Rows of a task with one scored position each; positions are 1-based in the paper, indices here are 0-based.

    tokens: (batch, longest row) int64, zeros to the right of a row; lengths: (batch,) real tokens of a row;
    query_index: (batch,) index of the scored position, lengths - 1: what follows it would be hidden by causality;
    target: (batch,) the right answer; position: (batch,) index of the token that is the answer, -1 for none.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    query_index: np.ndarray
    target: np.ndarray
    position: np.ndarray


class Task(Strict):
    """The settings of a task; a subclass sets the default of `name` to the name under which it is registered."""

    name: str

    def draw(self, rng: np.random.Generator, rows: int, vocab: int, seed: int) -> Batch:
        """Draw new rows.

        Args: rng, for what differs from row to row; vocab, of the model: tokens are below it; seed, of the run, for
        what all its rows share. Raises: ValueError, one line, for settings that do not fit each other or vocab.
        """
        raise NotImplementedError(f"{self.name} draws no rows")

    def words(self) -> dict[str, str]:
        """What a heading says of the task, setting by setting: "hops" -> "k = 1"."""
        return {name: f"{name} {value}" for name, value in self.model_dump().items() if name != "name"}

    def check(self, vocab: int) -> None:
        """Draw one row and look at it. Raises: ValueError, one line: as `draw`, or rows that are not a `Batch`."""
        batch = self.draw(np.random.default_rng(0), 1, vocab, 0)
        tokens, lengths = batch.tokens, batch.lengths
        if tokens.ndim != 2 or len(tokens) != 1 or tokens.dtype != np.int64:
            raise ValueError(f"{self.name}: tokens must be int64 (rows, length), got {tokens.dtype} {tokens.shape}")
        for what in ("lengths", "query_index", "target", "position"):
            if (shape := np.shape(getattr(batch, what))) != (1,):
                raise ValueError(f"{self.name}: {what} must be (rows,), got {shape} for one row")
        if not 1 <= lengths[0] <= tokens.shape[1] or batch.query_index[0] != lengths[0] - 1:
            raise ValueError(f"{self.name}: a row of {lengths[0]} tokens is scored at index {batch.query_index[0]}")
        for token in (tokens.min(), tokens.max(), batch.target[0]):
            if not 0 <= token < vocab:
                raise ValueError(f"{self.name}: tokens must be in 0..{vocab - 1}, got {token}")


def check_batch(batch: int) -> None:
    """Raises: ValueError for a batch of no rows."""
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")


def task_class(name: str) -> type[Task]:
    """The class of a task. Raises: ValueError, one line: nothing, or no class of tasks, is registered by that name."""
    found = registered.named(registered.TASKS, name)
    if not (isinstance(found, type) and issubclass(found, Task)):
        raise ValueError(f"{name!r} is registered as {found!r}, which is no subclass of dynamics.tasks.task.Task")
    if (own := found.model_fields["name"].default) != name:
        raise ValueError(f"{name!r} is registered as a task that calls itself {own!r}")
    return found


def _as_task(value: Any) -> Any:
    """A task as it stands in a file, read by the class that its name says."""
    if isinstance(value, dict):
        return task_class(value.get("name", "")).checked(value, str(value.get("name")))
    return value


# A field that holds any task, tagged by its name.
AnyTask = Annotated[SerializeAsAny[Task], BeforeValidator(_as_task)]
