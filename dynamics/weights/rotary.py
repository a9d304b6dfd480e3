"""Read from a config how rotary positions scale the logits: factors change their size, angles do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import PositiveFloat

from dynamics.weights.layout import Config, Size

LENGTHS = ("original_max_position_embeddings", "max_position_embeddings")
ANGLES_ONLY = ("default", "linear", "dynamic", "llama3")


class Rope(Config):
    """The part of rope_parameters, or of rope_scaling in older files, that can change the size of logits."""

    rope_type: str | None = None
    type: str | None = None
    factor: PositiveFloat | None = None
    attention_factor: PositiveFloat | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    original_max_position_embeddings: Size | None = None
    max_position_embeddings: Size | None = None
    partial_rotary_factor: float = 1.0


def rope_gain(data: Mapping[str, Any], path: Path) -> float:
    """The factor that a rotary embedding puts on every logit: f^2, where it multiplies cosines and sines by f.

    f = 1 but for YaRN (arXiv:2309.00071, section 3.4), with s its factor attention_factor or 1 + 0.1 ln s, by mscale
    the ratio of two such, and LongRoPE (arXiv:2402.13753), attention_factor or sqrt(1 + ln s / ln original length).
    Raises: ValueError for a kind of scaling, or a partial rotation, that is not known here, and for no length to scale.
    """
    given = _parameters(data, path)
    _whole(given, data, path)
    return _gain(given, data, path)


def _parameters(data: Mapping[str, Any], path: Path, of: str | None = None) -> Mapping[str, Any]:
    """The rotary parameters of a layer; of: its type, where types differ. The older name is for full attention alone.

    Raises: ValueError for two names that disagree, and for parameters by type where types do not differ.
    """
    new, old = data.get("rope_parameters") or {}, data.get("rope_scaling") or {}
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        raise ValueError(f"{path}: rope_parameters and rope_scaling must be objects")
    if new and old and new != old:
        raise ValueError(f"{path}: rope_parameters and rope_scaling are both given, and differ")
    if of is not None and old:
        return {"rope_type": "default", **old} if of == "full_attention" else {}
    given = new or old
    if of is not None:
        given = given.get(of) or {}
    if not isinstance(given, Mapping) or any(isinstance(value, Mapping) for value in given.values()):
        raise ValueError(f"{path}: one set of rotary parameters for all layers is supported, not several")
    return given


def _whole(given: Mapping[str, Any], data: Mapping[str, Any], path: Path) -> None:
    """Refuse a partial rotation."""
    partial = data.get("partial_rotary_factor", 1.0), given.get("partial_rotary_factor", 1.0)
    if partial != (1.0, 1.0):
        raise ValueError(f"{path}: a partial rotation is not supported, got partial_rotary_factor {min(partial)}")


def _gain(given: Mapping[str, Any], data: Mapping[str, Any], path: Path, pairs: int | None = None) -> float:
    """f^2 of these parameters in this config; a length beside them goes before one among them.

    pairs: of components that are turned, each with a factor of its own in LongRoPE.
    """
    lengths = {"max_position_embeddings": None} | {name: data[name] for name in LENGTHS if data.get(name)}
    rope = Rope.of(dict(given) | lengths, path)
    kind = rope.rope_type or rope.type or "default"
    if kind in ANGLES_ONLY:
        return 1.0
    if kind == "yarn" and data.get("model_type") == "phi3":
        kind = "longrope"  # as its class reads older files
    if kind not in ("yarn", "longrope", "su"):
        raise ValueError(f"{path}: rotary scaling of type {kind!r} is not supported")
    for factors in (given.get("short_factor"), given.get("long_factor")):
        if kind != "yarn" and isinstance(factors, list) and pairs not in (None, len(factors)):
            raise ValueError(f"{path}: LongRoPE has {len(factors)} factors for {pairs} pairs of components")
    return _factor(rope, kind, path) ** 2


def _factor(rope: Rope, kind: str, path: Path) -> float:
    """f of YaRN or LongRoPE."""
    if rope.attention_factor:
        return rope.attention_factor
    length, whole = rope.original_max_position_embeddings, rope.max_position_embeddings
    longer = whole / length if length and whole else None
    stretch = rope.factor or longer
    if stretch is None or (kind != "yarn" and (length is None or length < 2)):
        needed = "factor" if kind == "yarn" else " and ".join(LENGTHS)
        raise ValueError(f"{path}: rotary scaling of type {kind!r} needs attention_factor, or {needed}")
    if kind == "yarn":
        return _yarn(stretch, rope.mscale) / _yarn(stretch, rope.mscale_all_dim) if _both(rope) else _yarn(stretch, 1.0)
    return math.sqrt(1 + math.log(stretch) / math.log(length or 2)) if stretch > 1 else 1.0


def _both(rope: Rope) -> bool:
    return bool(rope.mscale and rope.mscale_all_dim)


def _yarn(stretch: float, weight: float | None) -> float:
    return 1.0 + 0.1 * (weight or 0.0) * math.log(max(stretch, 1.0))


def rope_base(data: Mapping[str, Any], path: Path) -> float:
    """The base of the rotary angles, 10000 where the config names none.

    Raises: ValueError for a base that is not a number above 1, and for every kind of scaling.
    """
    rope_gain(data, path)
    given = data.get("rope_parameters") or data.get("rope_scaling") or {}
    if (given.get("rope_type") or given.get("type") or "default") != "default":
        raise ValueError(f"{path}: rotary angles that are scaled are not run here")
    base = given.get("rope_theta", data.get("rope_theta", 10000.0))
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 < base < math.inf:
        raise ValueError(f"{path}: rope_theta must be a number above 1, got {base!r}")
    return float(base)


def rotation(
    data: Mapping[str, Any], path: Path, d_head: int, share: float | None, share_name: str, of: str | None
) -> tuple[int | None, float]:
    """How many components of a head are turned, None for all, and the factor that the rotation puts on a logit.

    share: of a head that is turned where the config does not say; None where no part is ever left out. share_name: the
    field beside the rotary parameters that says it. of: the type of this layer, where parameters differ between them.
    Raises: as `rope_gain`, and for odd or unknown shares.
    """
    given = _parameters(data, path, of)
    if of is not None:  # the length beside them is for parameters of all layers
        data = {name: value for name, value in data.items() if name != LENGTHS[0]}
    if share is None:
        _whole(given, data, path)
    share = 1.0 if share is None else given.get("partial_rotary_factor", data.get(share_name, share))
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise ValueError(f"{path}: the share of a head that is turned must be in (0, 1], got {share!r}")
    turned = int(d_head * share)
    if turned % 2 or not turned:
        what = "have an even size" if turned == d_head else "turn an even number of components"
        raise ValueError(f"{path}: rotary heads {what}, got {turned}")
    gain = _gain({**given, "partial_rotary_factor": 1.0}, data, path, turned // 2)
    # what is not turned has no factor: one below 1 bounds the whole logit no more
    return (None, gain) if turned == d_head else (turned, max(gain, 1.0))
