"""Theorem 3.4 and Figure 2: the loss of the one-repeat sentence, its limit, its picture, the listing that drew it."""
