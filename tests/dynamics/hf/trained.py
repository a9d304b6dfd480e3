"""Tiny models of transformers, trained for the purpose on the text that every machine has: the rows of the pages."""

import tempfile

import torch

from dynamics.tasks.corpus import ASCII, standard_library
from tests.dynamics.hf import models, receipt_rows
from tests.dynamics.scope import as_run, test_as_run

FAMILIES = {"gpt2": "GPT2", "llama": "Llama", "bloom": "Bloom"}
STEPS, BATCH, LENGTH, RATE = 1500, 16, 64, 3e-3


def rows(family):
    """The numbers of the family's row of docs/families.md, and of its row of docs/receipts.md."""
    model, held = trained(family)
    receipt = receipt_rows.numbers(model, held[:2, : receipt_rows.PROMPT], read=True)
    with torch.no_grad():
        loss, short = model(held, labels=held).loss, model.get_input_embeddings()(held[:, None, : as_run.LENGTH])
    with tempfile.TemporaryDirectory() as folder:
        both = as_run.models(model, folder)
        reached, _, grown, _ = test_as_run.measured(both, FAMILIES[family], folder)
        runs = as_run.bounds(folder, "float32")
    logs = (as_run.logs(both.float32, states, runs) for states in short)
    on_text = [as_run.spread_of(*log) / run.exact for told in logs for log, run in zip(told, runs, strict=True)]
    return [x.item() for x in (loss, reached.max(), torch.cat(on_text).max(), grown.median())], receipt


def trained(family):
    """A model of two layers and width 32, and 64 windows spread over the held-out text, (64, LENGTH)."""
    from transformers import AutoModelForCausalLM

    text = standard_library()
    train, held = (torch.from_numpy(part).long().unfold(0, LENGTH, LENGTH) for part in (text.training, text.heldout))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(models.config(family, vocab_size=ASCII), attn_implementation="eager")
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
        for _ in range(STEPS):
            batch = train[torch.randint(len(train), (BATCH,))]
            optimizer.zero_grad()
            model(batch, labels=batch).loss.backward()
            optimizer.step()
    return model.eval(), held[torch.arange(64) * (len(held) // 64)]
