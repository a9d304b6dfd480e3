"""The table of a comparison at equal memory, as lines of text."""

import math
from fractions import Fraction
from statistics import median

from dynamics.comparison.by_distance import ROUNDING, MeasuredScopes, bound_excess
from dynamics.comparison.plan import CENTRED, DROPPING, FULL, HEAVY, RAZOR, STREAMING, WINDOW, Sizes, sizes
from dynamics.comparison.record import Comparison
from dynamics.comparison.statistics import Estimate, Line, lines

MARKDOWN = {
    WINDOW: "recent window",
    STREAMING: "sinks + window (StreamingLLM)",
    HEAVY: "heavy hitters (H2O)",
    DROPPING: "Razor without its token",
    RAZOR: "Razor as printed",
    CENTRED: "Razor, token centred at a query",
}


def table(comparison: Comparison) -> list[str]:
    """A block a budget, a line a policy: entries kept, bits per byte and right answers, with 95 % intervals."""
    settings = comparison.settings
    model = f"{settings.config.n_layers} ALiBi layers of {settings.config.n_heads} heads"
    seeds, what = f"{settings.seeds} seeds", "mean over seeds, [Student's 95 % interval]"
    if settings.seeds == 1:
        seeds, what = "one seed", "without an interval"
    text = [
        f"{seeds}, {model}, context {settings.context} bytes, corpus {settings.training.corpus[:12]}",
        f"extra: bits per byte above the full cache; {what}",
    ]
    previous = None
    for line in lines(comparison):
        if line.budget != previous:
            head = f"{'budget ' + line.budget:<28}{'kept':>5}  bits/byte"
            text += ["", f"{head}  {'extra':<26}  {'needles found':<24}  tokens kept"]
            previous = line.budget
        found = f"{_interval(line.extra, 1, 4):<26}  {_interval(line.accuracy, 100, 1) + ' %':<24}"
        kept = formula(comparison, line.policy, line.budget)
        text.append(f"{line.policy:<24}{100 * line.share:6.2f} %  {line.bits.value:9.3f}  {found}  {kept}")
    return text


def markdown_table(comparison: Comparison) -> list[str]:
    """A row a policy, a column a budget: needles found, and extra bits per byte below, each with its interval."""
    found = {(line.policy, line.budget): line for line in lines(comparison)}
    budgets = comparison.settings.budgets
    text = [
        f"| kept entries | {' | '.join(f'{100 * float(Fraction(budget)):g} %' for budget in budgets)} |",
        f"|---{'|---' * len(budgets)}|",
    ]
    for policy, name in MARKDOWN.items():
        cells = (_cell(found[policy, budget]) for budget in budgets)
        text.append(f"| {name} | {' | '.join(cells)} |")
    return text


def _cell(line: Line) -> str:
    needles, bits = line.accuracy, line.extra
    alike = needles.low == needles.high
    spread = " each seed" if alike else f" [{100 * needles.low:.0f}, {100 * needles.high:.0f}]"
    return f"{100 * needles.value:.0f} %{spread}<br>{_short(bits.value)} [{_short(bits.low)}, {_short(bits.high)}]"


def _short(value: float) -> str:
    """Three decimals, without the zero before the point."""
    text = f"{value:.3f}".replace("0.", ".", 1)
    return ".000" if text == "-.000" else text


def scope_table(scopes: MeasuredScopes) -> list[str]:
    """Measured reach against the three scopes, slope by slope: medians over layers and seeds, and violations."""
    text = [f"attention above {scopes.eps:g}: reach on {scopes.windows} windows of {scopes.context} bytes, and scopes"]
    text.append("   slope    reach      sharp   spectral    printed  sharp/reach  weights above their bound")
    for slope in sorted({head.slope for head in scopes.heads}, reverse=True):
        heads = [head for head in scopes.heads if head.slope == slope]
        reach, sharp, spectral, printed = (
            median(getattr(head, name) for head in heads) for name in ("reach", "sharp", "spectral", "printed")
        )
        ratio = median(head.sharp / max(head.reach, 1) for head in heads)
        above = sum(bound_excess(head).log_excess > ROUNDING for head in heads)
        # a reach to the end of the windows may be longer
        seen, times = (
            (f"{reach:.0f}+", f"<{ratio:.1f}") if reach >= scopes.context else (f"{reach:.0f}", f"{ratio:.1f}")
        )
        row = f"{slope:8.5f} {seen:>8} {sharp:10.0f} {spectral:10.0f} {printed:10.0f} {times:>12}"
        text.append(f"{row}  {above} of {len(heads)} heads")
    return text


def formula(comparison: Comparison, policy: str, budget: str) -> str:
    """What the policy keeps: tokens a head, or whole heads and tokens of the others."""
    settings, heads = comparison.settings, comparison.heads[0]
    total = settings.config.n_layers * settings.config.n_heads
    size = sizes(policy, Fraction(budget), total, settings.context, settings.sinks, heads.protected)
    if policy == FULL:
        return f"{total} heads x {settings.context}"
    if policy in (WINDOW, STREAMING, HEAVY):
        return f"{total} x ({_local(size)})"
    whole = f"{size.protected} x {settings.context} + " if size.protected else ""
    return f"{whole}{total - size.protected} x ({_local(size)})"


def _local(size: Sizes) -> str:
    named = (("sinks", size.sinks), ("recent", size.window), ("heavy", size.heavy), ("token", size.token))
    return " + ".join(f"{number} {name}" for name, number in named if number)


def _interval(found: Estimate, factor: float, decimals: int) -> str:
    value = f"{factor * found.value:.{decimals}f}"
    if math.isnan(found.low):
        return value
    return f"{value} [{factor * found.low:.{decimals}f}, {factor * found.high:.{decimals}f}]"
