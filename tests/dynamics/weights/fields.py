"""What every key of a config changes in transformers, beside what is read of it: tiny models, a value at a time.

`python -m tests.dynamics.weights.fields` writes `fields.json`: for every family and key "read" (attention changes, and
what is read gives the model's own), "no effect", "refused" (by one line), "not run" (transformers runs no value), or
"authors": read as the code of the model's authors does, not transformers; the bounds hold for both.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from dynamics.hf.attention import replaced
from dynamics.hf.versions import eager
from dynamics.weights import described
from dynamics.weights.families import FAMILIES
from dynamics.weights.kinds import KINDS, Kind
from dynamics.weights.reader import Checkpoint, open_checkpoint
from dynamics.weights.rotary import Rope
from tests.dynamics.hf.test_attention import windowed
from tests.dynamics.weights.checkpoint_files import attention, write_config
from tests.dynamics.weights.test_reader import CASES, LENGTH, eps_of, inside

TABLE = Path(__file__).with_name("fields.json")
COLUMNS = ("read authors", "no effect", "not run")
AUTHORS = ("attn_config.alibi", "attn_config.alibi_bias_max")  # of MPT: dynamics/weights/mpt.py
CLOSE = 1e-5  # of weights, where norms and softmax are in float32
FULL, SLIDING = "full_attention", "sliding_attention"
SHARED = ("masking_utils.py", "modeling_rope_utils.py", "configuration_utils.py", "models/auto/configuration_auto.py")
METHODS = {"to_dict", "get_text_config", "standardize_rope_params", "ignore_keys_at_rope_validation", "json", "py"}
MORE = ("qwen2-window", "falcon", "gpt2-scales", "cohere-norms", "stablelm-norms", "olmo-clip", "gemma3-yarn")
LISTS = {
    "layer_types": [[SLIDING, SLIDING], [FULL, FULL], [FULL, SLIDING], [SLIDING, FULL], None],
    "no_rope_layers": [[1, 1], [0, 1], [1, 0]],
    "sliding_window": [2, 3, None],
    "attention_chunk_size": [2, 3],
    "max_window_layers": [0, 1, 2],
    "sliding_window_pattern": [1, 2, 3],
    "hidden_act": ["gelu", "relu", "silu"],
    "rope_theta": [50.0, 5e5],
    "partial_rotary_factor": [0.5, 1.0],
    "rotary_pct": [0.5, 1.0],
    "num_key_value_heads": [1, 2, 6],
    "num_kv_heads": [1, 2, 6],
    "head_dim": [2, 4, 8],
    "original_max_position_embeddings": [16, 64],
    "max_position_embeddings": [16, 512],
    "dtype": ["bfloat16", "float16"],
    "torch_dtype": ["bfloat16", "float16"],
    **{name: [1e-6, 1e-3] for name in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps")},
    **{name: [True, False] for name in ("use_sliding_window", "scale_attn_weights", "scale_attn_by_inverse_layer_idx")},
}
ROPES: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 32},
    "longrope": {"short_factor": [1.0], "long_factor": [2.0], "factor": 4.0, "original_max_position_embeddings": 32},
    "llama3": {"factor": 4.0, "original_max_position_embeddings": 32, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "proportional": {"partial_rotary_factor": 0.5},
}
INSIDE: dict[str, list[Any]] = {
    "factor": [2.0, 0.5], "attention_factor": [0.5, 1.7], "attn_factor": [0.5, 2.0], "mscale": [0.5, 2.0],
    "mscale_all_dim": [0.5, 1.0], "beta_fast": [16, 8.0], "beta_slow": [2, 0.5], "truncate": [True, False],
    "low_freq_factor": [2.0, 3.0], "high_freq_factor": [8.0, 6.0], "type": ["linear", "yarn"],
    "rope_type": ["linear", "yarn"], "short_mscale": [2.0, 3.0], "long_mscale": [2.0, 3.0], "finetuned": [True, False],
} | {name: LISTS[name] for name in ("original_max_position_embeddings", "max_position_embeddings",
                                    "partial_rotary_factor", "rope_theta")}  # fmt: skip
MPT_INSIDE: dict[str, list[Any]] = {
    "alibi": [True, False], "alibi_bias_max": [4, 16], "clip_qkv": [0.5, 2.0], "softmax_scale": [0.5, 2.0],
    "attn_type": ["multiquery_attention", "x"], "qk_ln": [True, False], "prefix_lm": [True, False],
    "attn_pdrop": [0.5, 1.0], "attn_impl": ["torch", "flash"], "attn_uses_sequence_id": [True, False],
}  # fmt: skip


Change = tuple[str, dict[str, Any], dict[str, Any]]  # a key, the config without the change, the config


class Base(NamedTuple):
    """A config to start from: the case, its model_type, what is in the file, and all that its class makes of it."""

    case: str
    kind: str
    data: dict[str, Any]
    whole: Mapping[str, Any]
    keys: tuple[str, ...]


class Outcome(NamedTuple):
    """status: as in the table, or "differs"; told: why; replaced: "equal", "differs", or why it was refused.

    records: of the model's own attention, layer by layer.
    """

    status: str
    told: str = ""
    replaced: str = ""
    records: tuple[dict[str, Any], ...] = ()


def built(hf, folder: Path, data: Mapping[str, Any]):
    """The model that transformers makes of a config, and its weights in the folder, equal in name wherever in shape."""
    write_config(folder, data)
    config = hf.AutoConfig.from_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = hf.AutoModelForCausalLM.from_config(config, experts_implementation="eager", dtype=torch.float32).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            draw = torch.Generator().manual_seed(zlib.crc32(name.encode()))
            weight.copy_(0.4 * torch.randn(weight.shape, generator=draw) + 0.5 * (weight.ndim == 1))
    model.save_pretrained(folder)
    write_config(folder, data)
    model.config.return_dict = True
    return model


def through_ours(model) -> str:
    """Whether an attention of ours, by the windows and caps that are found, gives the model's own logits."""
    ids = torch.arange(LENGTH)[None] % model.config.vocab_size
    model.set_attn_implementation("eager")  # which Falcon does not take: its own is SDPA's
    try:
        with torch.no_grad(), replaced(model, windowed):
            found = model(ids).logits
    except ValueError as error:
        return str(error)
    with torch.no_grad():
        own = model(ids).logits
    return "equal" if torch.allclose(found, own, atol=1e-3 * float(own.abs().max()), equal_nan=True) else "differs"


def gap(checkpoint: Checkpoint, records: list[dict[str, Any]], eps: float) -> float:
    """The largest difference of the model's weights from those of what is read; inf where they do not fit at all."""
    worst = 0.0
    for layer, record in enumerate(records):
        turns = record.get("turns")
        turns = None if turns is None else tuple(table[0].double() for table in turns)
        try:
            weights = attention(checkpoint, layer, record["hidden"], eps, turns=turns)[0]
            worst = max(worst, float((weights - record["weights"]).abs().max()))
        except (ValueError, RuntimeError):
            return float("inf")
    return worst


def outcome(hf, folder: Path, data: Mapping[str, Any], before: Checkpoint | None = None) -> Outcome:
    """What transformers and what we make of a config. before: what was read of the config that was changed."""
    try:
        model = built(hf, folder, data)
        name, own = re.sub(r"(?:ForCausalLM|LMHeadModel)$", "", type(model).__name__), deepcopy(model).double()
        with eager(own):
            records = inside(own, name)
    except Exception as error:  # transformers alone runs in this block: whatever it says, it does not run the config
        return Outcome("not run", f"{type(error).__name__}: {error}")
    through = through_ours(model)
    try:
        checkpoint = open_checkpoint(folder)
    except ValueError as error:
        return Outcome("refused", str(error), through)
    eps = eps_of(model)
    if len(records) != checkpoint.architecture.n_layers or not gap(checkpoint, records, eps) < CLOSE:
        return Outcome("differs", "what is read does not give the model's weights", through)
    same = before is not None and len(records) == before.architecture.n_layers and gap(before, records, eps) < CLOSE
    return Outcome("no effect" if same else "read", "", through, tuple(records))


def bases(hf) -> Iterator[Base]:
    """Cases as transformers saves them, and bare, as older files are: without what its class works out itself."""
    seen = set()
    for case, (name, config) in CASES.items():
        if name in seen and case not in MORE:
            continue
        seen.add(name)
        made = getattr(hf, f"{name}Config")(**config)
        data = {**json.loads(made.to_json_string(use_diff=True)), "model_type": made.model_type}
        of = tuple(sorted(keys(hf, made)))
        yield Base(case, made.model_type, data, made.to_dict(), of)
        kind = KINDS.get(made.model_type, Kind())
        given = {name: data[name] for names in kind.given for name in names.split("|") if name in data}
        left = ("layer_types", "rope_parameters")
        given |= {kind.share_name: 0.5} if kind.share is not None else {}
        bare = {name: value for name, value in config.items() if name not in left} | given
        yield Base(f"{case}, bare", made.model_type, {"model_type": made.model_type} | bare, made.to_dict(), of)


def keys(hf, config) -> set[str]:
    """The fields of a config class, what its files and those shared read by name, and what is read here."""
    texts = [path.read_text() for path in sources(hf, config.model_type)]
    found = set(re.findall(r"config\.([a-z]\w*)|getattr\((?:self\.)?config, \"(\w+)\"", "\n".join(texts)))
    ours = {name for kind in KINDS.values() for name in (*kind.needs, *kind.reads, kind.biases[0], kind.share_name)}
    ours |= {name for kind in KINDS.values() for names in kind.fields.values() for name in names}
    ours |= {kind.gains.asked for kind in KINDS.values() if kind.gains}
    fields = {field.name for field in dataclasses.fields(config)} | {name for pair in found for name in pair}
    return (fields | ours | described.Decoder.model_fields.keys() | Rope.model_fields.keys()) - METHODS - {""}


def sources(hf, kind: str) -> list[Path]:
    """The files of transformers that decide what a config means."""
    root, module = Path(hf.__file__).parent, FAMILIES[kind].module or kind
    own = [root / "models" / module / f"{what}_{module}.py" for what in ("configuration", "modeling")]
    return [*own, *(root / name for name in SHARED)]


def values(key: str, usual: Any) -> list[Any]:
    """At least two legal values of a key, as far as its usual one tells its type."""
    if key in LISTS:
        return LISTS[key]
    if isinstance(usual, bool):
        return [True, False]
    if isinstance(usual, int):
        return [usual + 1, 2 * usual, max(usual // 2, 1)]
    if isinstance(usual, float):
        return [0.5 * usual, 2 * usual + 0.1, 1.0]
    if isinstance(usual, str):
        return ["gelu", "relu"]
    return [] if isinstance(usual, dict | list) else [True, False, 2, 0.5]


def changes(base: Base) -> Iterator[Change]:
    """Each key with each value."""
    bare = base.case.endswith("bare")
    for key in sorted(LISTS.keys() & set(base.keys)) if bare else base.keys:
        for value in values(key, base.whole.get(key)):
            yield key, base.data, base.data | {key: value}
    if base.kind == "mpt":
        for key, some in MPT_INSIDE.items():
            for value in some:
                yield f"attn_config.{key}", base.data, base.data | {"attn_config": {"alibi": True, key: value}}
    if bare and "rope_parameters" in base.whole:
        yield from rotary_changes(base)


def rotary_changes(base: Base) -> Iterator[Change]:
    """Every kind of rotary parameters under both names, with each key inside them and beside them."""
    plain = {key: value for key, value in base.data.items() if key not in ("rope_parameters", "rope_scaling")}
    plain |= {"layer_types": [SLIDING, FULL]} if KINDS[base.kind].rope_by_type else {}
    for place, kind_name in (("rope_parameters", "rope_type"), ("rope_scaling", "rope_type"), ("rope_scaling", "type")):
        for kind in ROPES:
            found = {kind_name: kind} | rope(kind, base)
            start = plain | {place: by_type(found, base, place)}
            for key, some in INSIDE.items():
                for value in some if kind in ("yarn", "longrope") else some[:1]:
                    yield f"{place}.{key}", start, plain | {place: by_type(found | {key: value}, base, place)}
            for key in ("original_max_position_embeddings", "max_position_embeddings", "partial_rotary_factor"):
                for value in LISTS[key]:
                    yield key, start, start | {key: value}


def rope(kind: str, base: Base) -> dict[str, Any]:
    """The parameters of a kind, with lists as long as half of what is turned."""
    d_head = base.whole.get("head_dim") or base.whole["hidden_size"] // base.whole["num_attention_heads"]
    count = int(d_head * base.data.get(KINDS[base.kind].share_name, 1.0)) // 2
    return {name: value * count if isinstance(value, list) else value for name, value in ROPES[kind].items()}


def by_type(found: dict[str, Any], base: Base, place: str) -> dict[str, Any]:
    """In the place of newer files, one set for each type of layer where the family has them."""
    if not KINDS[base.kind].rope_by_type or place == "rope_scaling":
        return found
    return {FULL: found, SLIDING: {"rope_type": "default"}}


def table(hf, progress=lambda rows: rows) -> dict[str, dict[str, str]]:
    """By family and key the status. Raises: AssertionError for a value that is read in another way than it is run."""
    found: dict[str, dict[str, set[str]]] = {}
    wrong = []
    for base in progress(list(bases(hf))):
        for _, group in groupby(changes(base), lambda change: change[1]):
            with TemporaryDirectory() as start:
                changed = list(group)
                readable = outcome(hf, Path(start), changed[0][1]).status == "read"
                before = open_checkpoint(start) if readable else None
                for key, _, data in changed if readable else ():
                    with TemporaryDirectory() as other:
                        result = outcome(hf, Path(other), data, before)
                    if key not in AUTHORS and "differs" in (result.status, result.replaced):
                        wrong.append((base.case, key, data))
                    found.setdefault(base.kind, {}).setdefault(key, set()).add(result.status)
    assert not wrong, wrong
    order = ("read", "refused", "no effect", "not run")
    return {
        kind: {
            key: "authors" if key in AUTHORS else next(one for one in order if one in statuses)
            for key, statuses in sorted(of.items())
        }
        for kind, of in sorted(found.items())
    }


def marks(hf) -> dict[str, str]:
    """What the table depends on: the version of transformers, and a hash of the files that it was made with."""
    files = sorted({path for kind in (*KINDS, "mpt") if kind != "gemma3" for path in sources(hf, kind)})
    whole = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    return {"transformers": hf.__version__, "sha256": whole}


def page(found: Mapping[str, Mapping[str, str]]) -> str:
    """The table of docs/families.md: by family how many keys have each status, and the names of those refused."""
    lines, total, refusals = ["| family | read | no effect | not run | refused |", "|---|---|---|---|---|"], 0, 0
    for kind, of in found.items():
        refused = [key for key, status in of.items() if status == "refused"]
        read, idle, still = (sum(one in names for one in of.values()) for names in COLUMNS)
        lines.append(f"| `{kind}` | {read} | {idle} | {still} | {len(refused)}: {', '.join(refused)} |")
        total, refusals = total + len(of), refusals + len(refused)
    told = f"Of {total} pairs of a family and a key, {100 * refusals / total:.1f} % are refused."
    return "\n".join([*lines, "", told])


def main() -> None:
    import transformers
    from tqdm import tqdm

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    made = {"marks": marks(transformers), "families": table(transformers, tqdm)}
    TABLE.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
