"""Margins for Tables 1 and 3, in fractions of the printed cells."""

from fractions import Fraction

from proofs_check.evidence.margin import Margin, at_most, different, less, same, worst
from proofs_check.razor.measured.table_cells import LOST, TABLE_1, TABLE_1_TASKS, TABLE_3, TASKS


def _drop(row: str) -> Fraction:
    """Mean loss of a row of Table 1 against its baseline, in points."""
    return sum((a - b for a, b in zip(TABLE_1["baseline"], TABLE_1[row], strict=True)), Fraction(0)) / 3


def _one_digit(value: Fraction) -> Fraction:
    return Fraction(int(value * 10 + Fraction(1, 2)), 10)


def rounds_to(row: str, printed: str, baseline: str = "baseline") -> Margin:
    return same(Fraction(printed), _one_digit(_drop(row) - _drop(baseline)))


def does_not_round_to(row: str, printed: str) -> Margin:
    return different(Fraction(printed), _one_digit(_drop(row)))


def truncates_to(row: str, printed: str) -> Margin:
    """The mean loss, cut after one decimal."""
    return same(Fraction(printed), Fraction(int(_drop(row) * 10), 10))


def only_retrieval_retains(helped: str, not_helped: str) -> Margin:
    """Of the loss without protection one row recovers more than half and the other less."""
    lost = _drop("none")
    return worst([less(lost / 2, lost - _drop(helped)), less(lost - _drop(not_helped), lost / 2)])


def _printed_cells(model: str, method: str) -> list[Fraction]:
    return [cell for cell in TABLE_3[model, method][:-1] if cell is not None]


def average(model: str, method: str, lost: Fraction = Fraction(2), off: int = 0) -> Margin:
    """|mean of the cells - printed average| <= 0.005; the lost cell at `lost`, `off` tasks too many in the count."""
    cells = _printed_cells(model, method) + ([lost] if (model, method) == LOST[0] else [])
    error = abs(sum(cells, Fraction(0)) / (len(cells) + off) - TABLE_3[model, method][-1])
    return at_most(error, Fraction(1, 200))


def better_on_average(model: str, other: str) -> Margin:
    return less(TABLE_3[model, other][-1], TABLE_3[model, "RA"][-1])


def below_full(model: str, points: str, method: str = "RA") -> Margin:
    return same(Fraction(points), TABLE_3[model, "full"][-1] - TABLE_3[model, method][-1])


def _cell(model: str, method: str, task: str) -> Fraction:
    return TABLE_3[model, method][TASKS.index(task)]


def local_window_is_better(task: str, against: str = "StreamingLLM") -> Margin:
    return less(_cell("Qwen1.5-7B", against, task), TABLE_1["none"][TABLE_1_TASKS.index(task)])


def small_gap(row: str) -> Margin:
    """The loss that remains is below a twentieth of the one without protection."""
    return less(_drop(row), _drop("none") / 20)


