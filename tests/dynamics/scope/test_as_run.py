"""Every family as transformers runs it, in float32 and bfloat16: its own attentions never exceed what scope says."""

import re

import pytest
import torch

from dynamics.scope.rounded import rounded_logits
from dynamics.weights.families import READ
from dynamics.weights.layout import Architecture
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.folders import ROOT
from tests.dynamics.scope import as_run
from tests.dynamics.scope.cases import InMemory, rounded
from tests.dynamics.weights.test_reader import CASES, random_model
from tests.shares import one_in
from theory.alibi.rounded import UNITS, weight_growth

LEFT_OUT = {"llama", "llama-head_dim", "mistral-no-window", "qwen2-window", "qwen3-biases", "falcon-grouped",
            "stablelm-one-key", "mpt-scale"}  # fmt: skip
TOLD = [case for case in CASES if case not in LEFT_OUT]
PAGE = ROOT / "docs" / "families.md"


def checked(log, seen, run, arithmetic):
    """The spread of the logits of each head, (heads,), after all that is claimed of it and of weights is checked."""
    off = float(weight_growth(UNITS[arithmetic], as_run.LENGTH))
    found = as_run.spread_of(log, seen).detach()
    assert (found <= run.spread + 2 * torch.tensor(off).log()).all()
    factors = torch.exp(run.biases[:, None, :] - run.biases[:, :, None]).masked_fill(~seen, 0.0)
    weights = (log + run.biases[:, None]).exp().detach()
    for side in (1, -1):  # no larger than against the others at their lowest, no less than against their highest
        rest = torch.exp(-side * run.spread)[:, None, None] * (factors.sum(-1, keepdim=True) - factors)
        ends = factors / (factors + rest)
        if run.sinks is not None and side == 1:
            ends = factors / (factors + rest + torch.exp(run.sinks - run.largest)[:, None, None])
        over = weights <= ends * off + 1e-38 if side == 1 else weights * off >= ends - 1e-38
        assert (run.sinks is not None and side == -1) or over[seen.expand_as(over)].all()
    return found


def of_case(case, hf, folder):
    return as_run.models(random_model(hf, *CASES[case], size=as_run.SIZE), folder), CASES[case][0]


def measured(both, name, folder, seeds=(0, 1), steps=as_run.STEPS):
    """What was reached of the exact range, (heads,) of all layers, in float32; and the ranges as run over it."""
    runs = {form: as_run.bounds(folder, form) for form in ("float32", "bfloat16")}
    most = {form: [torch.zeros(len(run.exact), dtype=torch.float64) for run in runs[form]] for form in runs}
    shares = []
    for seed in seeds:
        for states in as_run.searched(both, runs["float32"], seed, steps):
            for form, model in both._asdict().items():
                with torch.no_grad():
                    told = as_run.logs(model, states, runs[form])
                for layer, (log, seen) in enumerate(told):
                    found = checked(log, seen, runs[form][layer], form)
                    assert form == "bfloat16" or (found <= runs[form][layer].exact).all()
                    most[form][layer] = most[form][layer].maximum(found)
        shares.append(as_run.rounding(both.bfloat16, name, folder, states.detach(), runs["bfloat16"]))
    exact, spread = (torch.cat([getattr(run, name) for run in runs["bfloat16"]]) for name in ("exact", "spread"))
    return torch.cat(most["float32"]) / exact, spread / torch.cat(most["bfloat16"]), spread / exact, torch.stack(shares)


def row(page, kind, case):
    """The numbers that the page tells of a case of a model type."""
    (line,) = re.findall(rf"^\| `{kind}` \| {re.escape(case)} \|(.*)\|$", page, re.MULTILINE)
    return [float(cell) for cell in line.split("|")]


@pytest.mark.parametrize("case", one_in(4, TOLD))
def test_no_weight_exceeds_what_is_said_of_it_and_the_page_tells_how_loose_that_is(case, hf, tmp_path):
    reached, loose, grown, rounding = measured(*of_case(case, hf, tmp_path), tmp_path)
    assert (rounding <= 1).all() and (grown >= 1).all()
    assert reached.max() > 0.5  # half of the range would be exceeded, so the search is worth its name
    found = [float(x) for x in (reached.max(), grown.median(), loose.min(), loose.median(), rounding.max())]
    kind = open_checkpoint(tmp_path).architecture.model_type
    shown = f"| `{kind}` | {case} | " + " | ".join(f"{x:.2f}" for x in found) + " |"
    told = row(PAGE.read_text(), kind, case)
    assert told[1] == pytest.approx(found[1], abs=0.011), shown
    assert told == pytest.approx(found, rel=0.25), shown  # where a search ends depends on the machine's arithmetic


@pytest.mark.deep
@pytest.mark.parametrize("case", TOLD)
def test_no_weight_exceeds_it_in_long_searches(case, hf, tmp_path):
    *_, rounding = measured(*of_case(case, hf, tmp_path), tmp_path, range(2, 8), 30)
    assert (rounding <= 1).all()


@pytest.mark.parametrize(("width", "d_head", "normed"), [(1024, 64, False), (4096, 128, False), (4096, 128, True)])
def test_the_page_tells_what_rounding_adds_at_the_width_of_real_models(width, d_head, normed):
    sizes = Architecture("stand-in", 1, 2, 1, d_head, width, "rms", "rope", None, "halves", d_head**-0.5, 2048,
                         head_norm="rms" if normed else None)  # fmt: skip
    checkpoint = InMemory(sizes, 0.02, random=("query_gain", "key_gain") if normed else ())
    heads, logits = rounded(rounded_logits, checkpoint, "bfloat16", 0.01)
    added = max(one.spread / head.logit_range - 1 for head, one in zip(heads, logits, strict=True))
    page = " ".join(PAGE.read_text().split())
    told = "where queries" if normed else f"at width {width} and heads of {d_head}"
    assert f"{100 * added:.0f} % {told}" in page


def test_the_page_tells_of_every_family_that_is_read():
    page = PAGE.read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([a-z][\w-]+) \| [\d.]+ \|", page, re.MULTILINE)
    assert {kind for kind, _ in rows} | {"baichuan", "baichuan_m1", "gemma3"} == set(READ)
    assert sorted(case for _, case in rows) == sorted(TOLD)
    assert all(f"`{name}`" in page for name in READ)
    pinned = re.search(r"^transformers==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert f"transformers {pinned[1]}" in page
