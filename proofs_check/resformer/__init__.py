"""Claims of the ResFormer paper, one module per section; `paper.toml` lists them."""

from proofs_check.ledger.paper import read

(RESFORMER,) = read(__name__)
