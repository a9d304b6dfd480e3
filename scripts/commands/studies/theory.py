"""Train one-layer models from several seeds and hold the loss that Theorem 3.4 predicts against the measured one.

At 50 steps the theorem's loss is taken at the coordinates that the model has there. Settings in which the theorem should
hold stand beside settings in which it should fail, and the next seed's prediction beside the model's own.
"""

from ..cli import Parser, bar, command_parser, output_file, whole

ROWS = {
    "kv-shift row": "`kv-shift`: vocabulary 8000, four heads, no MLP",
    "kv-shift norm": "the same, measured without the final norm",
    "coupling row": "`kv-shift-8` of Sweep `coupling`: vocabulary 32, eight heads, no MLP",
    "scalar row": "four scalars, T = 12, width 4096",
    "small-kv-shift row": "`small-kv-shift`: vocabulary 32, four heads and an MLP",
    "scalar-narrow row": "four scalars, T = 12, width 16",
    "scalar-narrowest row": "four scalars, T = 12, width 4",
}
HEAD = """| setting | fails | slope | with another's | rank | with another's | time to 1/2 | time to 1/10 | order |
|---|---|---|---|---|---|---|---|---|"""
CELL = "{0.value:.2f} [{0.low:.2f}, {0.high:.2f}]"


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study theory", __doc__)
    line.add_argument("--out", default="out/theory-study.json", metavar="FILE", help="the results, one file")
    line.add_argument("--quick", action="store_true", help="without the two settings that take minutes")
    line.add_argument("--seeds", type=whole(2, 100), default=8, help="seeds of each setting (default 8)")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    out = output_file(options.out)
    output_file(f"{out}.sha256")
    import torch

    from dynamics.comparison.theorem import TheoremStudy, follow, plan, write_theorem
    from dynamics.files.manifest import package_version

    torch.set_num_threads(1)
    setups = plan(options.quick)
    jobs = [(name, setup, seed) for name, setup in setups.items() for seed in range(options.seeds)]
    study = TheoremStudy(
        version=package_version(),
        torch_version=torch.__version__,
        device="cpu",
        setups=setups,
        runs=tuple(follow(*job) for job in bar(options, jobs, unit="training")),
    )
    write_theorem(out, study)
    print(*table(study), out, sep="\n")
    return 0


def table(study) -> list[str]:
    """A row a setting, as Markdown: what fails, and the statistics with 95 % intervals."""
    found = lines(study)
    return [HEAD, *(row(words, found[key]) for key, words in ROWS.items() if key in found)]


def row(words: str, line) -> str:
    """One line of the table."""
    means = line.slope, line.other_slope, line.rank, line.other_rank, *line.ratios
    cells = [CELL.format(mean).replace("nan [nan, nan]", "never") for mean in means]
    return " | ".join([f"| {words}", ", ".join(line.fails) or "nothing", *cells, f"{line.order:.2f} |"])


def lines(study) -> dict:
    """Statistics by "setting stage"."""
    from dynamics.comparison.theorem import guess, line

    found = {}
    for name, setup in study.setups.items():
        runs = [run for run in study.runs if run.setting == name]
        found |= {f"{name} {stage}": line(runs, guess(setup), stage) for stage in runs[0].measured}
    return found
