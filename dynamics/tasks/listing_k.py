"""The generator printed in Appendix K of the KV-shifting paper, re-implemented with its behaviours and its bugs."""

import random

PRINTED_ROW = 512


class EndlessListingError(RuntimeError):
    """The listing would draw for ever."""


def listing_sample(
    rng: random.Random,
    length: int = 512,
    min_val: int = 1,
    mid_val: int = 10,
    max_val: int = 8000,
    *,
    max_draws: int | None = None,
) -> tuple[list[int], list[int]]:
    """Draw one row as Appendix K does, consuming rng exactly as it consumes the global generator.

    Kept from print: the largest token is max_val - 1; min_val is never read; a row only uses `length` of the tokens;
    the row ends at the first repetition; it is padded with zeros to 512 whatever `length` is (and may hold length + 1
    tokens); a row without a repetition is drawn again by recursion. Added: max_draws, to make an endless loop visible.

    Args: rng, a random.Random; length, both the pool size and the longest run; mid_val, max_val, tokens lie strictly
        between; max_draws, None for the printed behaviour.
    Returns: the padded row, and a list holding the 0-based index of the repeated token x_{T+1}.
    Raises: RecursionError for length 1 or 2 (no repetition fits); EndlessListingError once max_draws are used up (a
        pool of one token never offers a token that differs from the last).
    """
    pool = list(range(mid_val + 1, max_val))
    rng.shuffle(pool)
    pool = pool[:length]
    row: list[int] = []
    follower: dict[int, int] = {}
    draws = 0
    while len(row) < length:
        if draws == max_draws:
            raise EndlessListingError(f"no row of length {length} from {len(pool)} tokens within {max_draws} draws")
        draws += 1
        token = rng.choice(pool)
        if row and token == row[-1]:
            continue
        if token in follower:
            scored = len(row)
            row += [token, follower[token]]
            return row + [0] * (PRINTED_ROW - len(row)), [scored]
        if row:
            follower[row[-1]] = token
        follower[token] = -1
        row.append(token)
    return listing_sample(rng, length, min_val, mid_val, max_val, max_draws=max_draws)
