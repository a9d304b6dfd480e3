"""The observer as a callback of transformers' Trainer. Needs the extra `[hf]`.

from dynamics.observed.callback import ObserverCallback

observed = ObserverCallback("observed.jsonl", tokenizer(text)["input_ids"], window=256, every=100)
Trainer(model, arguments, train_dataset=data, callbacks=[observed]).train()
print(observed.observer.share)  # what it cost

from dynamics.observed.log import read_lines, stacked
print(stacked(read_lines("observed.jsonl"), "induction").max(axis=(1, 2)))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from transformers import TrainerCallback

from dynamics.observed.observer import SHARE, Observer
from dynamics.observed.probe import make_probe


class ObserverCallback(TrainerCallback):
    """Observes the Trainer's model at its first step and then as `Observer` does, on the first process alone.

    Time between two steps, as of evaluations and saves, is not counted as training. A run that is resumed from a
    checkpoint goes on with its log.
    Args: path, every, share: as `Observer`; text and all others: as `make_probe`.
    """

    def __init__(
        self,
        path: str | Path | None,
        text: ArrayLike | None = None,
        *,
        every: int = 100,
        share: float | None = SHARE,
        **probe: Any,
    ) -> None:
        self.observer: Observer | None = None
        self._path, self._text, self._probe = path, text, probe
        self._every, self._share = every, share

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Make the probe, open the log, observe. Raises: ValueError as they do, and for weights in shards."""
        if getattr(args, "fsdp", None) or getattr(args, "deepspeed", None):
            raise ValueError("weights in shards cannot be observed: one process would wait for the others")
        if not state.is_world_process_zero:
            return
        probe = make_probe(model, self._text, **self._probe)
        after = state.global_step or None
        self.observer = Observer(model, probe, self._path, every=self._every, share=self._share, after=after)
        self.observer.step(state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """A step begins: the clock of training goes on."""
        if self.observer is not None:
            self.observer.resume()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """An update is done."""
        if self.observer is not None:
            self.observer.step(state.global_step)
