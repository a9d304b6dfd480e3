"""What an arena is before it runs, as checked data: entries, comparisons with their rules, sentences. No torch."""

import hashlib
from typing import Annotated, Self

from pydantic import Field, model_validator

from dynamics.arena.record import Name, PackedTraining, Run
from dynamics.files.manifest import Positive, Strict
from dynamics.model.config import ModelConfig
from dynamics.statistics.rule import Name as Words
from dynamics.statistics.rule import Plan, Rule


class Entry(Strict):
    """A model and its training; seeds are added. stack: models that train side by side, a part of what they become."""

    config: ModelConfig
    training: PackedTraining
    stack: Positive = 1


class Comparison(Strict):
    """log(loss of variant / loss of baseline), seed by seed, and the rule that says when it ends and what is said.

    sentences: claims of the papers that speak of it at another scale; what is found here rules on none of them.
    """

    variant: Name
    baseline: Name
    rule: Rule
    sentences: tuple[str, ...] = ()


class ArenaPlan(Strict):
    """The whole of an arena. first_seed: seeds are first_seed, first_seed + 1, ..; pilots use others.

    Raises: ValueError for rules that do not hold one joint level, for an entry that is not there or that nothing
    compares, and where least and most seeds of an entry cannot be met by stacks of its size.
    """

    title: str
    entries: dict[Name, Entry]
    comparisons: dict[Words, Comparison]
    first_seed: Annotated[int, Field(ge=0, lt=2**62)] = 0

    @model_validator(mode="after")
    def _whole(self) -> Self:
        used = {name for one in self.comparisons.values() for name in (one.variant, one.baseline)}
        if missing := used - self.entries.keys():
            raise ValueError(f"comparison of {min(missing)!r}, which is no entry")
        if idle := self.entries.keys() - used:
            raise ValueError(f"{min(idle)!r} is compared with nothing")
        for name, one in self.comparisons.items():
            for entry in (one.variant, one.baseline):
                stack = self.entries[entry].stack
                if one.rule.least % stack or one.rule.most % stack:
                    raise ValueError(
                        f"{name}: {one.rule.least} to {one.rule.most} seeds are no whole stacks of {stack}"
                    )
        _ = self.rules
        return self

    @property
    def rules(self) -> Plan:
        """The family of comparisons."""
        return Plan(rules={name: one.rule for name, one in self.comparisons.items()})

    @property
    def sha256(self) -> str:
        """Hash of the plan, which its results carry."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def run(self, entry: str, number: int) -> Run:
        """The run that trains seed `number` (0, 1, ..) of an entry, with the others of its stack."""
        found = self.entries[entry]
        first = number - number % found.stack
        training = found.training.model_copy(update={"seed": self.first_seed + first})
        return Run(name=f"{entry}.seed-{first}", config=found.config, training=training, seeds=found.stack)
