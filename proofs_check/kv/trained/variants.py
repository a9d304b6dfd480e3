"""Figures 7b, 10a and 4b at a small scale: windows, gate and clip, learning rates; steps to learn induction."""

from fractions import Fraction

from proofs_check.kv.trained import checks as c
from proofs_check.records.trained import Bound, Trained, pair, reaches, stays_below

WINDOW = {name: ("windows", f"window-{name}") for name in ("2", "3", "4", "3-matched", "4-matched")}
FREE, GATE, CLIP = (("gates", name) for name in ("free", "gate", "clip"))
RATES = ("0.0003", "0.001", "0.003", "0.01", "0.03")
KV = {rate: ("learning-rates", f"rate-{rate}") for rate in RATES}
VANILLA = {rate: ("vanilla-rates", f"vanilla-2.rate-{rate}") for rate in RATES}


CLAIMS = (
    Trained("kv.sec4.5.longer_window.trained", "Section 4.5, Figure 7b (first version: Section 4.7), trained here",
            left=[pair(longer, WINDOW["2"]) for longer in WINDOW.values() if longer != WINDOW["2"]],
            outcome_of="kv.sec4.5.longer_window"),
    Trained("kv.fn10.confounded.trained", "footnote 10 (both versions), our addition",
            left=[pair(WINDOW["4-matched"], WINDOW["4"])], outcome_of="kv.sec4.5.longer_window"),
    Trained("kv.appF1.more_controls.trained", "Appendix F.1, Figure 10a (first version: Section 4.6), trained here",
            left=[pair(GATE, FREE), pair(CLIP, FREE)], outcome_of="kv.appF1.more_controls"),
    Trained("kv.fig4c.robust.trained", "Section 4.3, Figure 4b, footnote 7 (first version: Section 4.4, Figure 5b), "
            "trained here", bounds=[reaches(95, *KV.values(), unlike=VANILLA.values())], outcome_of="kv.fn7",
            why="The largest of these rates is three times the largest of the paper."),
    Trained("kv.fig4b.trained", "Section 4.3, Figure 4b (first version: Section 4.4, Figure 5b), trained here",
            ahead=[pair(KV[rate], VANILLA[rate]) for rate in RATES], outcome_of="kv.fig4b",
            why="The paper compares equal depths at 1.5B; here one layer stands against two."),
    Trained("kv.fig4c.trained", "Section 4.3, Figure 4c, footnote 7 (first version: Section 4.4, Figure 5c), trained "
            "here", bounds=[
                stays_below(95, VANILLA["0.01"], unlike=[VANILLA["0.001"], KV["0.01"]]),
                reaches(95, KV["0.01"], unlike=[VANILLA["0.01"]]),
                Bound(c.loss_falls, [VANILLA["0.01"]], "at least", Fraction(1), unlike=[VANILLA["0.03"]])],
            outcome_of="kv.fig4c"),
)  # fmt: skip
