"""Settings of a training on text as checked data; no torch, so command lines stay quick."""

from typing import Annotated, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from dynamics.files.manifest import Count, Decay, Fraction01, Open01, Positive, Seed, Share, Strict


class TextTraining(Strict):
    """AdamW with warm-up and cosine on rows that grow longer: `lengths` names, stage by stage, length and steps.

    corpus: the hash of the text, so that a run on another one is another run; tokens: bytes a step. A needle_share of
    the rows carries a pair for each `spacing` bytes. The loss is the mean over text plus needle_weight times the mean
    over answers; planted bytes, which nothing foretells, are left out.
    """

    corpus: str
    lengths: tuple[tuple[int, int], ...] = ((64, 100), (128, 150), (256, 200))
    tokens: Positive = 4096
    learning_rate: Share = 5e-3
    warmup: Count = 30
    final_lr: Fraction01 = 0.05
    weight_decay: Decay = 0.0
    beta2: Open01 = 0.95
    clip: PositiveFloat = 1.0
    seed: Seed = 0
    needle_share: Fraction01 = 0.5
    needle_weight: NonNegativeFloat = 2.0
    spacing: Annotated[int, Field(ge=4)] = 8

    @model_validator(mode="after")
    def _rows_fit(self) -> Self:
        for length, steps in self.lengths:
            if not 8 <= length <= self.tokens or steps < 1:
                raise ValueError(f"rows must have 8..{self.tokens} bytes and stages a step, got {length} and {steps}")
        if not self.lengths:
            raise ValueError("lengths must name at least one stage")
        return self

    @property
    def steps(self) -> int:
        """Steps of all stages."""
        return sum(steps for _, steps in self.lengths)

    def length_at(self, step: int) -> int:
        """Length of the rows at a step."""
        for length, steps in self.lengths:
            if step < steps:
                return length
            step -= steps
        raise ValueError(f"step must be below {self.steps}")
