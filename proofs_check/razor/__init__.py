"""Claims of the RazorAttention paper, one module per section; `paper.toml` lists them."""

from proofs_check.ledger.paper import read

(RAZOR,) = read(__name__)
