"""Train the theorem's own model (four free scalars, frozen random embeddings) at many lengths and widths."""

from ..cli import Parser, bar, command_parser, hashed_file, whole


def parser() -> Parser:
    """Return the command line; nothing heavy is imported for it."""
    line = command_parser("study scalar", __doc__)
    line.add_argument("--out", default="out/scalar-study.json", metavar="FILE", help="the results, one file")
    line.add_argument("--quick", action="store_true", help="fewer lengths, widths and runs: seconds")
    line.add_argument("--seed", type=whole(0), default=0, help="moves every seed (default 0)")
    return line


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    options = parser().parse_args(argv)
    out = hashed_file(options.out)
    import torch

    from dynamics.scalar.record import write_study
    from dynamics.scalar.study import plan, run_study

    torch.set_num_threads(1)
    trainings = plan(options.quick, options.seed)
    number = 2 * len(trainings.learning) + len(trainings.tables)
    with bar(options, total=number, desc="trainings") as shown:
        study = run_study(trainings, shown.update)
    write_study(out, study)
    for line in table(study):
        print(line)
    print(out)
    return 0


def table(study) -> list[str]:
    """The learning time of each length against the flow's own, with its interval."""
    from dynamics.scalar.statistics import extrapolated_mean
    from dynamics.scalar.study import flow_time

    lines = ["time to loss 0.1, with intervals that hold together with 95 %"]
    lines += [f"{'T':>5} {'start':>18} {'flow':>9} {'trained':>9} {'interval':>19}"]
    for pair in study.learning:
        setting = pair.fine.training
        start = ",".join(f"{value:g}" for value in setting.start)
        line = f"{setting.n_tokens:>5} {start:>18} {flow_time(setting.n_tokens, setting.start):>9.3f}"
        if None in (*pair.fine.times, *pair.coarse.times):
            lines.append(f"{line}   not learnt by every run")
            continue
        found = extrapolated_mean(pair.fine.times, pair.coarse.times)
        lines.append(f"{line} {found.value:>9.3f} {found.low:>9.3f}..{found.high:.3f}")
    return lines
