"""Sizes in words: what trained models and their tasks have in common. No torch."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dynamics.model.config import ModelConfig
from dynamics.training.settings import TrainConfig


def sizes(variants: Iterable[tuple[ModelConfig, TrainConfig]], stops: bool = True) -> str:
    """What all of the models have in common, as "vocabulary 32, .., width 32, 4 heads, MLP 64, .. rows a step, ..".

    What differs among them is left out: it is what their names say. Args: stops, whether a run may end before its last
    step. Returns: one line, without a full stop.
    """
    pairs = list(variants)
    models, trainings = [config for config, _ in pairs], [training for _, training in pairs]
    return ", ".join((*_data(models, trainings), *_model(models), *_training(trainings, stops)))


def _data(models: Sequence[ModelConfig], trainings: Sequence[TrainConfig]) -> Iterator[str]:
    yield from _if_common(models, "vocab", "vocabulary {}")
    first, *rest = [training.task.words() for training in trainings]
    if len({training.task.name for training in trainings}) == 1:
        yield from (text for name, text in first.items() if all(words[name] == text for words in rest))


def _model(models: Sequence[ModelConfig]) -> Iterator[str]:
    for layers in _common(models, "n_layers"):
        yield "one layer" if layers == 1 else f"{layers} layers"
    yield from _if_common(models, "width", "width {}")
    for heads in _common(models, "n_heads"):
        yield "one head" if heads == 1 else f"{heads} heads"
    for mlp in _common(models, "mlp_width"):
        yield f"MLP {mlp}" if mlp else "no MLP"
    for values in _common(models, "values"):
        if values.kind != "own":
            yield f"{values.kind} values"


def _training(trainings: Sequence[TrainConfig], stops: bool) -> Iterator[str]:
    yield from _if_common(trainings, "batch", "{} rows a step")
    yield from _if_common(trainings, "steps", "at most {} steps" if stops else "{} steps")
    yield from _if_common(trainings, "learning_rate", "AdamW at {:g}")


def _common(records: Sequence[Any], name: str) -> list[Any]:
    """The value of a field in a list of one, or an empty list where it differs."""
    values = list(dict.fromkeys(getattr(record, name) for record in records))
    return values if len(values) == 1 else []


def _if_common(records: Sequence[Any], name: str, text: str) -> list[str]:
    return [text.format(value) for value in _common(records, name)]
