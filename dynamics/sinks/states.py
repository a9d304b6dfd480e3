"""What is measured of vectors (length, d): their norms, how alike they are, and their spectrum."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def norms(states: Tensor) -> Tensor:
    """||x_i|| in double precision, of the shape of states but for the last axis."""
    return states.double().norm(dim=-1)


def relative_change(before: Tensor, after: Tensor) -> Tensor:
    """||y_i - x_i|| / ||x_i|| of states x before and y after, (..), in double precision; 0 where they are equal.

    Args: before, after (.., d). The change is sqrt(2 - 2 cos) where the norms are equal, sqrt(2) of orthogonal states.
    """
    gap = norms(after.double() - before.double())
    return torch.where(gap == 0, 0.0, gap / norms(before))


def mean_cosine(states: Tensor) -> Tensor:
    """s = (1/(l (l - 1))) sum_{i != j} cos(x_i, x_j), the mean over pairs of different tokens; a vector of 0 counts 0.

    Source: ResFormer, Eq. 13. With u_i = x_i/||x_i||, sum_{i != j} u_i.u_j = ||sum_i u_i||^2 - sum_i ||u_i||^2, so that
    no pair is formed: O(l d). Args: states (l, d), l >= 2. Returns: a scalar in [-1/(l - 1), 1].
    """
    length = len(states)
    directions = F.normalize(states.double(), dim=-1, eps=torch.finfo(torch.float64).tiny)
    pairs = directions.sum(0).square().sum() - directions.square().sum()
    return pairs / (length * (length - 1))


def spectrum(states: Tensor, centred: bool) -> Tensor:
    """Eigenvalues of (1/l) sum_i x_i x_i^T, or of the covariance where the mean is taken out, largest first.

    Source: ResFormer, Eq. 12, which does not centre. With fewer tokens than dimensions they are those of the Gram
    matrix (1/l) x_i.x_j, and zeros. Args: states (l, d). Returns: (d,) in double precision, >= 0.
    """
    x = states.double()
    if centred:
        x = x - x.mean(0)
    length, width = x.shape
    found = torch.linalg.eigvalsh((x @ x.T if length < width else x.T @ x) / length)
    return F.pad(found.flip(0).clamp(min=0), (0, max(0, width - length)))


def effective_rank(eigenvalues: Tensor) -> Tensor:
    """exp(-sum_j p_j ln p_j) with p = lambda / sum lambda, from 1, one direction, to d; 0 where all are 0.

    Source: Roy and Vetterli, The effective rank (EUSIPCO 2007), of the covariance. Args: (..., d), >= 0.
    """
    total = eigenvalues.sum(-1, keepdim=True)
    shares = eigenvalues / total.clamp(min=torch.finfo(eigenvalues.dtype).tiny)
    return torch.where(total[..., 0] > 0, torch.special.entr(shares).sum(-1).exp(), 0.0)


def top_share(eigenvalues: Tensor) -> Tensor:
    """lambda_1 / sum lambda; 0 where all are 0. Args: (..., d), largest first."""
    total = eigenvalues.sum(-1)
    return eigenvalues[..., 0] / total.clamp(min=torch.finfo(eigenvalues.dtype).tiny)


def first_over_others(sizes: Tensor, token: Tensor | int = 0) -> Tensor:
    """x_t / mean of the x_i with i != t: below 1 where the token is drained, above 1 where it is a peak.

    Args: sizes (..., l), l >= 2; token t (...) or one for all. Returns: (...), NaN where all others are 0.
    """
    at = torch.as_tensor(token, device=sizes.device).expand(sizes.shape[:-1])[..., None]
    chosen = sizes.gather(-1, at)[..., 0]
    others = (sizes.sum(-1) - chosen) / (sizes.shape[-1] - 1)
    return torch.where(others > 0, chosen / others, torch.nan)
