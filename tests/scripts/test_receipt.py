"""The command receipt: its tables and JSON are what the library says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dynamics.razor import receipt as razor_receipt
from dynamics.razor.plan_file import read_plan, write_plan
from dynamics.scope.promise import promised_plan
from dynamics.sinks.opened import open_model
from dynamics.training.checkpoint import SHIPPED
from dynamics.weights.reader import open_checkpoint
from scripts.commands import cli, receipt, receipt_report
from tests.dynamics.hf import models
from tests.scripts.commands import read

ALIBI = str(SHIPPED / "alibi-text")
LICENSE = str(Path(receipt.__file__).parents[2] / "LICENSE")


def test_the_table_and_the_json_are_what_the_library_says(here, done):
    asked = ("--text", LICENSE, "--context", "64", "--windows", "2", "--json", "out/x.json")
    printed = done("receipt", ALIBI, *asked)
    assert "wrote out/x.json" in printed and "bounds exceeded" in printed
    assert receipt_report.NOT_LOGITS in printed
    plan = receipt.default_plan(4, 8, 8, 64)
    text = np.frombuffer(Path(LICENSE).read_bytes()[:128], np.uint8).astype(np.int64).reshape(2, 64)
    model = open_model(ALIBI, torch.device("cpu"))
    found, losses = receipt.receipts(open_checkpoint(ALIBI), model, torch.from_numpy(text), plan, "float32")
    document = read("out/x.json")
    assert document["violations"] == found.violations == 0 and document["promise"] is None
    assert document["tightness"] == pytest.approx(found.tightness)
    assert np.allclose(document["bound"], found.layers)
    assert document["total_of_local_errors"] == pytest.approx(found.total_of_local_errors)
    assert document["layers"][0]["vacuous_range"] > document["layers"][0]["vacuous"]
    with torch.no_grad():
        chances = model(torch.from_numpy(text)).double().log_softmax(-1).numpy()
    rows, places = np.indices((2, 63))
    loss = -chances[rows, places, text[:, 1:]].mean()
    assert document["losses"] == list(losses) and losses[0] == pytest.approx(loss, abs=1e-6)
    assert 0 < losses[1] - losses[0] < 0.2 and f"{loss:.4f} nats a token with the whole cache, " in printed


def test_a_plan_is_read_and_a_promised_one_is_written(here, done):
    plan = replace(receipt.default_plan(4, 8, 8, 48), sinks=1, buffer=5, compensation="alibi")
    write_plan("plan.json", plan)
    asked = ("--text", LICENSE, "--context", "48", "--plan", "plan.json", "--json", "x.json")
    printed = done("receipt", ALIBI, *asked, "--error", "0.3", "--write-plan", "p.json")
    document = read("x.json")
    assert document["plan"] == read("plan.json")
    assert read_plan("p.json") == promised_plan(open_checkpoint(ALIBI), 0.3, 48)
    rows = document["promise"]["rows"]
    promised = [row for row in rows if row["what"] == "promised"]
    assert [row["policy"] for row in promised] == ["tokens", "a window a head", "one window, heads whole"]
    assert all(row["worst"] <= 0.3 for row in promised) and document["promise"]["error"] == 0.3
    best = min(row["kept"] for row in promised)
    equal = [row for row in rows if row["what"] == "equal memory"]
    assert {row["policy"] for row in equal} >= {"window", "sinks + window", "heavy hitters", "razor, no heads"}
    assert all(0 <= best - row["kept"] < 1 / 48 for row in equal)
    within = [row for row in rows if row["what"] == "measured within the promise"]
    assert all(row["worst"] <= 0.3 and row["kept"] <= 1 for row in within)
    assert "promise: no head loses more than 0.3" in printed
    assert "it drops nothing in 48 tokens" in printed and not read_plan("p.json").drops(48)
    assert all(row["of_output"] > row["worst"] > 0 for row in equal) and {"loss", "mean"} < equal[0].keys()
    assert "razor, heads found" in {row["policy"] for row in rows}


def test_heads_are_sought_without_the_tokenizers_special_tokens(saved, here, monkeypatch):
    folder = saved(("gpt2",), {"[UNK]": 0, "<s>": 1}, bos_token="<s>") / "gpt2"
    np.save("ids.npy", np.arange(64))
    monkeypatch.setattr("dynamics.heads.found.find", lambda _, **asked: pytest.fail(str(asked)))
    with pytest.raises(pytest.fail.Exception, match=r"'first': 1, 'excluded': \(1,\)"):
        receipt.main([str(folder), "--tokens", "ids.npy", "--context", "32", "--error", "0.5"])


@pytest.mark.parametrize("vocabulary", [2, 20])
def test_where_nothing_may_be_forgotten_this_is_said_and_no_policy_is_run_with_all_memory(here, vocabulary, done):
    """Also of a model of so few tokens that no prompt scores its heads."""
    models.model("gpt2", dtype=torch.float32, vocab_size=vocabulary).save_pretrained("model")
    np.save("ids.npy", np.random.default_rng(0).integers(0, vocabulary, 128))
    asked = ("--context", "128", "--error", "0.1", "--json", "x.json", "--write-plan", "p.json")
    printed = done("receipt", "model", "--tokens", "ids.npy", *asked)
    promise = read("x.json")["promise"]
    assert {row["what"] for row in promise["rows"]} == {"promised", "measured within the promise"}
    assert [row["kept"] for row in promise["rows"] if row["what"] == "promised"] == [1.0] * 3
    assert "\npromised: nothing may be forgotten at this error by tokens; " in printed
    assert "wrote p.json: it drops nothing in 128 tokens" in printed
    policies = {row["policy"] for row in promise["rows"]}
    assert "razor, heads found" not in policies and "  1  " not in printed.split("promise: ")[1]
    plain = done("receipt", "model", "--tokens", "ids.npy", "--context", "128", "--plan", "p.json")
    assert "this plan drops nothing in 128 tokens" in plain


@pytest.mark.parametrize("family", ["bloom", "llama"])
def test_models_of_transformers_have_receipts_too(here, family, done):
    models.model(family, dtype=torch.float32).save_pretrained("model")
    Path("ids").write_text(" ".join(map(str, models.tokens(1, 200)[0].tolist())), "utf-8")
    printed = done("receipt", "model", "--tokens", "ids", "--context", "32", "--error", "0.5")
    assert ("heavy hitters" in printed) == (family == "bloom")


def test_an_attack_is_counted_and_written(here, done):
    printed = done("receipt", "--attack", "3000", "--seed", "5", "--json", "a.json")
    document = read("a.json")
    assert f"0 bounds exceeded in {document['steps']} steps, seed 5" in printed
    assert document["steps"] >= 3000 and document["violations"] == 0


def test_an_exceeded_bound_is_exit_status_1(here, monkeypatch, command):
    monkeypatch.setattr(razor_receipt.Receipt, "violations", 7)
    code, printed, _ = command("receipt", ALIBI, "--text", LICENSE, "--context", "32")
    assert code == 1 and "\n7 of " in printed


def test_what_is_not_a_number_is_null_or_a_dash():
    assert cli.jsonable({"x": [float("nan"), 1.0]}) == {"x": [None, 1.0]}
    assert receipt_report._number(float("nan")) == "-"
