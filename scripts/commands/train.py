"""Train the induction models of Figure 1a, and name their induction heads by attention and by ablation.

--compare trains one layer with KV shifting and one and two vanilla layers at a size at which two vanilla layers learn
too: vocabulary 32, rows of 4.9 different tokens on average, width 32, 4 heads, MLP 64, 3000 steps of 64 rows, AdamW at
0.001; one or two minutes of one core. It is chosen for that: without the MLP, or with vocabulary 64, two layers were
still guessing among the row's tokens after 3000 and 5000 steps, and 0.001 is the best of five learning rates for them,
not for KV shifting. The presets without "small-" train on the paper's own data, vocabulary 8000 and rows of 29.0
different tokens: one layer with KV shifting learns them in 500 steps of 256 rows, two vanilla layers read 1.6 % after
2500, so that there is nothing to compare.
"""

import argparse
import json
from pathlib import Path

from dynamics.files import registered

from .cli import Parser, command_parser, finite, hint, output_folder, program, whole, wrapped

COMPARED = ("small-kv-shift", "small-vanilla-1", "small-vanilla-2")
PRESETS = ("kv-shift", "vanilla-1", "vanilla-2", *COMPARED)
START, RESUME, DONE = "start", "resume", "done"
SWEEPS = {"trigram": "figure-9", "hop": "hop-k", "mqar": "mqar"}


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("train", __doc__)
    what = line.add_mutually_exclusive_group()
    what.add_argument("--preset", choices=PRESETS, default="kv-shift", help="the model to train (default: kv-shift)")
    what.add_argument("--compare", action="store_true", help="train the three small- ones and print them side by side")
    what.add_argument("--inspect", metavar="FOLDER", help=argparse.SUPPRESS)
    line.add_argument("--out", default="out/train", metavar="FOLDER", help="results go to FOLDER/<preset>")
    again = line.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="continue what was interrupted, with the same --threads")
    again.add_argument("--overwrite", action="store_true", help="replace the run in FOLDER/<preset>")
    tasks, models = registered.names(registered.TASKS), registered.names(registered.MODELS)
    line.add_argument("--task", choices=tasks, default="induction", help="what to learn (default: induction)")
    line.add_argument(
        "--set", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="a setting of the task: hops=2"
    )
    line.add_argument("--place", choices=models, help="where the shift acts (default: heads), or another model")
    line.add_argument(
        "--model", type=_setting, action="append", default=[], metavar="NAME=VALUE",
        help="a setting of the model: values=residual, weights=sink, position=alibi, n_kv_heads=2",
    )  # fmt: skip
    line.add_argument("--steps", type=whole(1), help="training steps")
    line.add_argument("--batch", type=whole(1), help="rows a step")
    line.add_argument("--width", type=whole(1), help="width of the model")
    line.add_argument("--heads", type=whole(1), help="attention heads a layer")
    line.add_argument("--layers", type=whole(1), help="attention layers")
    line.add_argument("--shift", choices=("none", "k", "v", "kv", "qkv"), help="what is shifted")
    line.add_argument("--seed", type=whole(0), help="seed of weights and data (default: 0)")
    line.add_argument("--device", default="auto", help="auto, cpu or cuda[:N]")
    line.add_argument("--threads", type=whole(1), help="CPU threads (results depend on it; the manifest records it)")
    line.add_argument("--log-share", type=finite, default=0.02, help="share of the time for the log (default: 0.02)")
    line.add_argument("--half", action="store_true", help="store the weights as float16")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    if options.inspect:
        raise ValueError(f"--inspect is now a command: {program('inspect')} {options.inspect}")
    if options.compare and options.task != "induction":
        raise ValueError(f"--compare is about induction{_better(options.task)}")
    out = output_folder(options.out)
    import torch  # here, so that --help and mistakes on the command line stay quick

    from dynamics.training.loop import choose_device

    choose_device(options.device)
    if options.threads:
        torch.set_num_threads(options.threads)
    from .inspect import print_heads

    names = COMPARED if options.compare else (options.preset,)
    runs = {name: _settings(name, options) for name in names}
    plan = _plan(runs, out, options)
    print(_header(runs, options), flush=True)
    _train(runs, out, options, plan)
    for name in names:
        print(f"\n{out / name}")
        print_heads(out / name, options.device, short=True)
    hint(options, f"{program('inspect')} {out / names[0]} shows each head, with its gains and without it")
    return 0


def _settings(name: str, options):
    """Apply the options to a preset; returns (ModelConfig, TrainConfig)."""
    from dynamics.model.config import PRESETS, ModelConfig
    from dynamics.tasks.task import task_class
    from dynamics.training.settings import TRAININGS, TrainConfig

    model = {"width": options.width, "n_heads": options.heads, "n_layers": options.layers, "shift": options.shift}
    model |= {"place": options.place} | dict(options.model)
    if isinstance(model.get("values"), str):
        model["values"] = {"kind": model["values"]}
    training = {"steps": options.steps, "batch": options.batch, "seed": options.seed}
    settings = TRAININGS[name]
    task = settings.task if options.task == settings.task.name else task_class(options.task)()
    training["task"] = task.model_dump() | dict(options.set)
    found = (
        ModelConfig.checked({**PRESETS[name].model_dump(), **_given(model)}),
        TrainConfig.checked({**settings.model_dump(), **_given(training)}),
    )
    found[1].task.check(found[0].vocab)
    return found


def _better(task: str) -> str:
    sweep = SWEEPS.get(task)
    return f"; {task} is compared, with seeds, by {program('sweep')} --preset {sweep}" if sweep else f", not {task}"


def _setting(text: str) -> tuple[str, object]:
    """NAME=VALUE, the value as JSON where it is that (hops=2, least_hops=null), else as it stands."""
    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier()) or name == "name":
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, as hops=2, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _given(options):
    return {name: value for name, value in options.items() if value is not None}


def _header(runs, options) -> str:
    from dynamics.model.config import COMPARED as CONFIGS
    from dynamics.training.describe import sizes
    from dynamics.training.settings import SMALL_TRAINING

    lines = [wrapped(f"{sizes(runs.values(), stops=False)}, seed {options.seed or 0}")]
    as_chosen = {
        name: (config, SMALL_TRAINING.model_copy(update={"seed": options.seed or 0}))
        for name, config in CONFIGS.items()
    }
    if runs == as_chosen:
        lines.append("a size at which two vanilla layers learn too, chosen for that: see --help")
    return "\n".join(lines)


def _plan(runs, out: Path, options) -> dict[str, str]:
    """What to do about each model's folder. Raises ValueError where a run would be lost or there is none to resume."""
    plan = {name: _step(out / name, *settings, options) for name, settings in runs.items()}
    if options.resume and (set(plan.values()) == {START} or (not options.compare and RESUME not in plan.values())):
        raise ValueError(f"nothing to resume: no interrupted run in {', '.join(str(out / name) for name in runs)}")
    return plan


def _step(folder: Path, config, training, options) -> str:
    from dynamics.training.folder import check_folder, finished_run, is_finished, is_interrupted

    if options.resume and is_interrupted(folder):
        return RESUME
    if options.resume and is_finished(folder):
        finished_run(folder, config, training)
        return DONE
    check_folder(folder, overwrite=options.overwrite)
    return START


def _train(runs, out: Path, options, plan: dict[str, str]) -> None:
    """Train what is not finished, a line a model; an interruption says how to go on."""
    from dynamics.training.folder import is_interrupted

    print(f"{'model':<15}  {'steps to 95 %':>13}  held-out accuracy", flush=True)
    for name, (config, training) in runs.items():
        try:
            print(f"{name:<15}  {_trained(out / name, config, training, options, plan[name])}", flush=True)
        except KeyboardInterrupt:
            if not is_interrupted(out / name):
                raise
            advice = f"the state is in {out / name}; the same command with --resume goes on"
            raise KeyboardInterrupt(advice) from None


def _trained(folder: Path, config, training, options, plan: str) -> str:
    """Train one model, unless that is done, and say how soon it learnt."""
    from dynamics.observed.task import LOG, logged
    from dynamics.training.folder import finished_run, steps_to, train_into

    from .inspect import score

    if plan == DONE:
        history, heldout = finished_run(folder, config, training)
        took = "as found"
    else:
        result = train_into(
            folder,
            config,
            training,
            resume=plan == RESUME,
            overwrite=options.overwrite,
            device=options.device,
            progress=not options.quiet,
            half=options.half,
            each=logged(folder / LOG, training, options.log_share),
        )
        history, heldout = result.history, result.heldout
        took = f"{training.steps} steps in {result.seconds:.1f} s"
    reached = steps_to(0.95, history) or f">{training.steps}"
    return f"{reached:>13}  {score(heldout)}, {took}"
