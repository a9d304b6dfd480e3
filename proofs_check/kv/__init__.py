"""Claims of the two versions of the KV-shifting attention paper, one module per section; `paper.toml` lists them."""

from proofs_check.ledger.paper import read

KV1, KV = read(__name__)
