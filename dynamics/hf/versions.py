"""All names of transformers that it does not promise to keep; an unsuitable version raises an error of one line.

Needed are: masks made by a function of q_offset and q_length, caches made of layers that are asked for query_length,
and an attention that is chosen by its name in the configuration. 5.4 is the first to have them all; before it masks and
caches are asked for by cache_position, and BLOOM and MPT, before 5.3, make masks of their own. `OLDEST` is the first
with which every test here passes: 5.4 itself cannot build the configuration of an OLMo. Tried were 5.5.0, 5.10.4,
5.23.0 and 5.24.0, which calls past_key_values cache, and warns of the former name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

OLDEST = "5.5"


class UnsuitableVersion(ImportError, ValueError):
    """transformers is missing, too old, or has lost a name that is needed here: bad input to a command line."""


def told(reason: object) -> str:
    """One line: which transformers was found, and what is needed instead."""
    try:
        found = f"transformers {version('transformers')} was found"
    except PackageNotFoundError:
        found = "transformers is not installed"
    return f"{found}, needed is {OLDEST} or later (the extra [hf]): {' '.join(str(reason).split())}"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


try:
    if _numbers(version("transformers")) < _numbers(OLDEST):
        raise ImportError("its masks and caches are asked for in another way")
    from transformers import AttentionMaskInterface, PreTrainedModel
    from transformers.cache_utils import Cache, CacheLayerMixin
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    _MASKS = AttentionMaskInterface._global_mapping
except (ImportError, AttributeError) as error:  # PackageNotFoundError is an ImportError
    raise UnsuitableVersion(told(error)) from None

__all__ = ["OLDEST", "Cache", "CacheLayerMixin", "PreTrainedModel", "UnsuitableVersion"]


def register(stack: ExitStack, name: str, attention: Callable, mask: Callable) -> None:
    """Make an attention and its mask known under a name, until the stack is closed."""
    ALL_ATTENTION_FUNCTIONS[name] = attention
    stack.callback(ALL_ATTENTION_FUNCTIONS.pop, name)
    # Masks are looked up in the class-wide table alone.
    AttentionMaskInterface.register(name, mask)
    stack.callback(_MASKS.pop, name)


def choose(config: Any, name: str) -> None:
    """Let a configuration, but not those inside it, name this attention."""
    config._attn_implementation = {"": name}


def chosen(model: PreTrainedModel) -> str:
    """The attention that the model's configuration names."""
    return model.config._attn_implementation


@contextmanager
def eager(model: PreTrainedModel) -> Iterator[None]:
    """Within, every configuration of the model, and every one inside those, names the attention that is written out."""
    configs: dict[int, Any] = {}
    found = [module.config for module in model.modules() if hasattr(module, "config")]
    while found:
        config = found.pop()
        if config is not None and id(config) not in configs and hasattr(config, "_attn_implementation"):
            configs[id(config)] = config
            found += [getattr(config, name, None) for name in getattr(config, "sub_configs", ())]
    before = [config._attn_implementation for config in configs.values()]
    try:
        for config in configs.values():
            choose(config, "eager")
        yield
    finally:
        for config, name in zip(configs.values(), before, strict=True):
            choose(config, name)


def without_cache(more: Mapping[str, object]) -> None:
    """Raise UnsuitableVersion if a cache is among arguments that are not read: its keys would be left out silently."""
    for name, value in more.items():
        if isinstance(value, Cache):
            raise UnsuitableVersion(told(f"it hands its cache to attention as {name!r}"))


def place(module: str) -> str:
    """Where transformers keeps the classes of an architecture."""
    return f"transformers.models.{module}.modeling_{module}"
