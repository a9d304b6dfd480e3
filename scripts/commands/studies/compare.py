"""Compare ways to shrink the key-value cache at equal memory, on small ALiBi models trained here on text with needles.

Trains a model a seed on the sources of Python's standard library, and measures each policy on held-out text (bits per
byte) and on retrieval (planted keys and values). Interrupted, the same command goes on where it stopped.
"""

import argparse
from pathlib import Path

from ..cli import Parser, bar, command_parser, hashed_file, output_folder, resumable, whole

RESULTS, ATTENTION, HEADS = "compare.json", "attention_by_distance.json", "head_reading.json"
INDUCTION = "attention_by_distance_induction.json"


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study compare", __doc__)
    line.add_argument(
        "--out",
        default="out/compare",
        metavar="FOLDER",
        help="states, results with their hashes, and the first model",
    )
    line.add_argument("--quick", action="store_true", help="two small layers, two budgets: minutes")
    line.add_argument("--seeds", type=whole(1, 100), default=3, help="models to train (default 3)")
    line.add_argument("--device", default="auto", help="auto, cpu or cuda[:N]")
    line.add_argument("--threads", type=whole(1), help="CPU threads")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    out = output_folder(options.out)
    for name in (RESULTS, ATTENTION, INDUCTION, HEADS):
        hashed_file(out / name)
    import torch

    from dynamics.files.lock import only_writer
    from dynamics.training.loop import choose_device

    device = str(choose_device(options.device))
    if options.threads:
        torch.set_num_threads(options.threads)
    with resumable(), only_writer(out):
        return _compare(options, out, device)


def _compare(options, out: Path, device: str) -> int:
    """Train, measure, write and print."""
    import torch

    from dynamics.comparison.by_distance import write_scopes
    from dynamics.comparison.head_reading import write_reading
    from dynamics.comparison.presets import preset
    from dynamics.comparison.record import Comparison, write_comparison
    from dynamics.files.manifest import package_version
    from dynamics.tasks.corpus import standard_library

    from .compare_table import scope_table, table

    corpus = standard_library()
    settings = preset(corpus.sha256, options.seeds, options.quick)
    parts = _parts(settings, corpus, out, device, options)
    comparison = Comparison(
        version=package_version(), torch_version=torch.__version__, device=device, settings=settings,
        heads=tuple(part.heads for part in parts), cells=tuple(cell for part in parts for cell in part.cells),
    )  # fmt: skip
    scopes, reading = _heads(settings, corpus, out, device)
    write_comparison(out / RESULTS, comparison)
    write_scopes(out / ATTENTION, scopes)
    write_reading(out / HEADS, reading)
    print("\n".join([*table(comparison), "", *scope_table(scopes)]))
    print(out / RESULTS, out / ATTENTION, out / HEADS, out / "model", sep="\n")
    return 0 if options.quick else _induction(out, device, options.quiet)


def _induction(out: Path, device: str, quiet: bool) -> int:
    """The same scopes of models without shifted keys, whose bounds are attained."""
    from dynamics.comparison.by_distance import write_scopes
    from dynamics.comparison.induction import induction_scopes

    from .compare_table import scope_table

    scopes, accuracy = induction_scopes(out / "induction", device, not quiet)
    write_scopes(out / INDUCTION, scopes)
    right = ", ".join(f"{100 * share:.1f} %" for share in accuracy)
    print("\n".join(["", f"two vanilla ALiBi layers on the induction task, {right} right", *scope_table(scopes)]))
    print(out / INDUCTION)
    return 0


def _parts(settings, corpus, out: Path, device: str, options: argparse.Namespace):

    from dynamics.comparison.plan import POLICIES
    from dynamics.comparison.policies import compare_seed

    number = settings.seeds * (1 + (len(POLICIES) - 1) * len(settings.budgets))
    with bar(options, total=number, unit="cell") as shown:

        def progress(text: str) -> None:
            shown.set_description(text)
            shown.update()

        return [
            compare_seed(settings, seed, corpus, _folder(out, seed), device, progress, not options.quiet)
            for seed in range(settings.seeds)
        ]


def _heads(settings, corpus, out: Path, device: str):
    """Scopes beside measured attention, and what single heads read."""
    from dynamics.comparison.by_distance import measure_scopes
    from dynamics.comparison.head_reading import measure_reading
    from dynamics.comparison.policies import save_model, trained_model

    seeds = range(settings.seeds)
    models = {seed: trained_model(settings, seed, corpus, _folder(out, seed), device, False) for seed in seeds}
    scopes, reading = measure_scopes(settings, corpus, models), measure_reading(settings, corpus, models)
    save_model(out / "model", models[0], settings, 0, corpus)  # the last use: its weights are rounded
    return scopes, reading


def _folder(out: Path, seed: int) -> Path:
    return out / f"seed-{seed}"
