"""The command sinks: its table, JSON and figure are what the library measures; and how it refuses."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from dynamics.sinks.intervention import Hide, Mask, Replace, Swap, intervene
from dynamics.sinks.measured import measure
from dynamics.sinks.opened import open_model
from dynamics.training.checkpoint import SHIPPED
from scripts.figures.heads import fig_sink_layers, sinks_panels
from tests.dynamics.hf import models
from tests.scripts.commands import read
from tests.scripts.test_scope_refusals import QUERY, config, content, pickled, poisoned, weights

ALIBI = str(SHIPPED / "alibi-text")
IDS = "--tokens ids --window 12"
CPU = torch.device("cpu")
TOKENS = models.tokens(1, 50)[0].numpy()
WORDS = "the first token of a window is often the one that is given most and changes least"
VOCABULARY = {word: number for number, word in enumerate(["[UNK]", *dict.fromkeys(WORDS.split())])}


@pytest.fixture(scope="module")
def folders(saved):
    """Folders of a Llama with a tokenizer of words, a GPT-2, a BERT and a gpt-oss."""
    return saved(("llama", "gpt2", "bert", "gpt_oss"), VOCABULARY, unk_token="[UNK]")


@pytest.fixture
def here(here):
    """With a text and tokens."""
    Path("text").write_text(f"{WORDS} {WORDS}", "utf-8")
    Path("ids").write_text(" ".join(map(str, TOKENS)), "utf-8")
    return here


def test_the_table_and_the_json_are_what_the_library_measures(folders, here, done):
    model = str(folders / "gpt_oss")
    printed = done("sinks", model, *IDS.split(), "--json", "out/x.json")
    found = measure(open_model(model, CPU), TOKENS, 12)
    written = read("out/x.json")
    for part, values in (("heads", found.heads), ("states", found.states)):
        for name, value in values._asdict().items():
            assert_allclose(written[part][name], value, rtol=1e-12, err_msg=name)
    assert (written["windows"], written["left_out"], written["causal"], written["effect"]) == (4, 2, True, None)
    lines = printed.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["0", "1"] and "wrote out/x.json" in printed
    row = dict(zip(lines[0].split(), lines[1].split(), strict=True))
    assert row["entropy"] == f"{found.heads.entropy[0].mean():.4g}"
    assert row["share"] == f"{found.heads.sink_share[0].mean():.4g}" != "0"
    assert row["drain"] == f"{found.states.drain[0]:.4g}" and row["peak"] == f"{found.states.peak[0]:.4g}"
    assert "gpt_oss, 2 layers of 4 heads, causal: 4 windows of 12 tokens, 2 left out" in printed


@pytest.mark.parametrize(
    ("family", "option", "change", "words"),
    [
        ("llama", ["--mask", "3@0,1.2"], Mask(3, {0: set(), 1: {2}}), "token 3 of each window sees itself alone"),
        ("bert", ["--swap", "2,5"], Swap(2, 5), "tokens 2 and 5 of each window have exchanged their learned positions"),
        ("llama", ["--swap", "2,5"], Swap(2, 5), "tokens 2 and 5 of each window are exchanged"),
        ("llama", ["--hide", "3@0,1.2"], Hide(3, {0: set(), 1: {2}}), "token 3 of each window is hidden"),
        ("gpt2", ["--replace", "5,0"], Replace(5, 0), "token 5 of each window has the learned position of token 0"),
    ],
)
def test_what_a_change_did_is_what_the_library_says(folders, here, family, option, change, words, done):
    model = folders / family
    printed = done("sinks", model, *IDS.split(), *option, "--json", "x.json")
    assert words in printed
    effect = intervene(open_model(model, CPU), TOKENS, change, 12)
    written = read("x.json")["effect"]
    for name in ("loss_before", "loss_after", "divergence", "change", "moved", "weight_before", "weight_after"):
        assert_allclose(written[name], getattr(effect, name), rtol=1e-12, err_msg=name)
    assert f"loss {effect.loss_before.mean():.6g} -> {effect.loss_after.mean():.6g}" in printed


def test_a_text_goes_through_the_models_tokenizer(folders, here, command):
    model = str(folders / "llama")
    numbers = [VOCABULARY[word] for word in f"{WORDS} {WORDS}".split()]
    Path("same").write_text(" ".join(map(str, numbers)), "utf-8")
    np.save("same.npy", np.array(numbers, np.int32))
    told = [
        command("sinks", model, option, name, "--window", "8")
        for option, name in (("--text", "text"), ("--tokens", "same"), ("--tokens", "same.npy"))
    ]
    assert told[0][0] == 0 and told[0] == told[1] == told[2]


def test_a_model_trained_here_reads_bytes_and_draws_its_files(here, done):
    Path("text").write_text("naïve = 1\n" * 30, "utf-8")
    assert "induction, 4 layers of 8 heads" in done("sinks", *f"{ALIBI} --text text --window 64 --figure one/".split())
    assert sorted(os.listdir("one")) == ["sinks.npz", "sinks.pdf", "sinks.png"]
    with np.load("one/sinks.npz") as data:
        text = b"na??ve = 1\n" * 30
        found = measure(open_model(ALIBI, CPU), np.frombuffer(text, np.uint8), 64)
        assert_array_equal(data["entropy"], found.heads.entropy)


def test_options_reach_the_measurement(folders, here, done):
    model = str(folders / "gpt2")
    options = ["--layers", "1", "--begin", "9", "--dtype", "float64", "--device", "cpu"]
    done("sinks", model, *IDS.split(), "--json", "x.json", *options)
    found = measure(open_model(model, CPU, "float64"), TOKENS, 12, [1], begin=9)
    written = read("x.json")
    assert written["layers"] == [1] and written["left_out"] == found.left_out == 6
    assert_allclose(written["heads"]["entropy"], found.heads.entropy, rtol=1e-14)


BARE = "no head: there is no loss"
IDLE = "nothing changes: "
MID = "windows begin in the middle of a text"
BEYOND = "positions from 40 on look untrained: their vectors are like random draws. --window 40 ends before them"
UNKNOWN = "2 of 7 tokens (29 %) are unknown to the tokenizer"
SAID = {
    "bare --tokens ids --window 12 --mask 3": [BARE, "last states: changed by 0."],
    "bare --tokens ids --window 12 --swap 0,5": [BARE, "have exchanged their learned positions"],
    "gpt2 --tokens ids --window 12 --mask 0": [IDLE + "token 0 sees itself alone already", f"3 of 4 {MID}"],
    "gpt_oss --tokens ids --window 12 --mask 0": [IDLE + "token 0 sees itself alone already"],
    f"{ALIBI} --tokens ids --window 12 --mask 1": ["token 1 of each window sees itself alone"],
    "gpt2 --tokens ids --window 12 --hide 11": [IDLE + "no token comes after token 11"],
    "bert --tokens ids --window 12 --mask 0": ["loss "],
    "gpt2 --records rows.npy": ["4 windows of 12 tokens, 0 left out"],
    "gpt2 --tokens ids --window 41": [BEYOND],
    "gpt2 --tokens ids --window 40": ["1 window of 40 tokens"],
    "llama --text unknown": [UNKNOWN],
    "llama --text strange": ["error: strange: all of its 3 tokens are unknown to the tokenizer (token 0)"],
}


@pytest.mark.parametrize("line", SAID)
def test_what_a_reader_must_know_is_said_and_nothing_else(line, folders, here, command):
    """Models without a head, changes that are none, where windows begin, untrained positions, unknown tokens."""
    open_model(folders / "bert", CPU).base_model.save_pretrained("bare")
    table = models.model("gpt2", dtype=torch.float32)
    with torch.no_grad():
        table.transformer.wpe.weight[:40] += 3 * table.transformer.wpe.weight[0]
    table.save_pretrained("gpt2")
    np.save("rows.npy", TOKENS[:48].reshape(4, 12))
    Path("unknown").write_text("the first x token of y window", "utf-8")
    Path("strange").write_text("The First Token", "utf-8")
    name, *options = line.split()
    _, printed, errors = command("sinks", name if Path(name).exists() else str(folders / name), *options)
    told = " ".join((printed + errors).split())
    assert all(words in told for words in SAID[line])
    for words in (BARE, IDLE, MID, BEYOND, "unknown to the tokenizer"):
        expected = any(words in wanted for wanted in SAID[line]) or (words == MID and "--window 12" in line)
        assert (words in told) == expected, words
    assert max(map(len, printed.splitlines()), default=0) <= 120


# --- the figure -------------------------------------------------------------------------------------------------------


def test_the_figure_of_the_shipped_model_says_what_its_caption_does():
    data = fig_sink_layers.compute(fig_sink_layers.QUICK_SIZE)
    assert data.entropy.shape == data.first.shape == (4, 8) and not data.share.any()
    assert (data.entropy < data.most).all() and data.even < data.most
    assert (data.first > data.even_first).sum() <= 2
    assert (data.drain > 0.4).all() and (data.drain < 0.85).all() and (abs(data.peak - 1) < 0.3).all()


def test_one_layer_far_norms_and_learned_sinks_are_drawn():
    one = np.ones((1, 3))
    data = sinks_panels.Data(np.array([4]), one, one / 2, one / 3, np.array([0.01]), np.array([900.0]), 3.0, 2.5, 0.1)
    figure = sinks_panels.draw(data)
    assert figure.axes[2].get_yscale() == "log"
    assert "learned sink logits" in [text.get_text() for text in figure.legends[0].get_texts()]


# --- refusals ---------------------------------------------------------------------------------------------------------


FILES = {
    "model: no such folder": shutil.rmtree,
    "config.json is missing": lambda folder: (folder / "config.json").unlink(),
    "not readable as JSON": lambda folder: (folder / "config.json").write_text("{"),
    "model_type 'rwkv' is not one of bloom, llama": config(model_type="rwkv"),
    "model_type 'baichuan' is not one of": config(model_type="baichuan"),  # transformers does not run it
    "an encoder and a decoder": config(model_type="t5", is_encoder_decoder=True),
    "pickled weights are never read": pickled,
    "cut off": content(lambda data: data[:-9]),
    "model.layers.1.mlp.up_proj.weight holds a value that is not finite": poisoned("model.layers.1.mlp.up_proj.weight"),
    f"tensor {QUERY} is missing": weights(lambda tensors: tensors.pop(QUERY)),
    "transformers cannot load it": config(hidden_size=16),
    "is_causal is False": config(is_causal=False),
    "tokenizer.json is missing": lambda folder: (folder / "tokenizer.json").unlink(),
    "no tokenizer can be read": lambda folder: (folder / "tokenizer.json").write_text("{}"),
}


@pytest.mark.parametrize(("words", "damage"), FILES.items(), ids=FILES)
def test_a_bad_model_is_one_line_and_writes_nothing(words, damage, folders, here, refused):
    shutil.copytree(folders / "llama", "model")
    damage(here / "model")
    refused("sinks ./model --text text --json out/x.json --figure out/map", words)
    assert set(os.listdir(here)) <= {"ids", "text", "model"}
