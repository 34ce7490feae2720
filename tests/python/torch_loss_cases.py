"""Losses, on generated shapes, types, axes and settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def losses(g: Generator) -> Iterator[Case]:
    for reduction in ("mean", "sum", "none"):
        shape = g.shape(1, 4)
        dtype = g.random.choice((torch.float32, torch.float64))
        x, y = g.floats(shape, dtype), g.floats(shape, dtype)
        signs = g.integers(shape, 0, 2).to(dtype) * 2 - 1
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
            function = getattr(F, name)
            call = lambda x, y, f=function, r=reduction: f(x, y, reduction=r)
            yield named(f"{name} {reduction}", call, x, y)
        yield named("smooth_l1_loss 0.3", lambda x, y, r=reduction: F.smooth_l1_loss(x, y, reduction=r, beta=0.3), x, y)
        yield named("huber_loss 0.3", lambda x, y, r=reduction: F.huber_loss(x, y, reduction=r, delta=0.3), x, y)
        p, q = g.positive(shape, dtype), g.positive(shape, dtype)
        yield named(f"kl_div {reduction}", lambda x, y, r=reduction: F.kl_div(x.log(), y, reduction=r), p, q)
        call = lambda x, y, r=reduction: F.kl_div(x, y, reduction=r, log_target=True)
        yield named(f"kl_div of logs {reduction}", call, x, y)
        yield named(f"bce {reduction}", lambda x, y, r=reduction: F.binary_cross_entropy(x, y, reduction=r), p, q)
        call = lambda x, y, r=reduction: F.binary_cross_entropy_with_logits(x, y, reduction=r)
        yield named(f"bce of logits {reduction}", call, x, q)
        call = lambda x, y, w, r=reduction: F.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction=r)
        yield named(f"bce of logits, weighted {reduction}", call, x, q, g.positive(shape[-1:], dtype))
        call = lambda x, y, r=reduction: F.hinge_embedding_loss(x, y, 0.7, reduction=r)
        yield named(f"hinge_embedding {reduction}", call, x, signs)
        call = lambda x, y, t, r=reduction: F.margin_ranking_loss(x, y, t, 0.3, reduction=r)
        yield named(f"margin_ranking {reduction}", call, x, y, signs)
        yield named(
            f"soft_margin {reduction}", lambda x, y, r=reduction: F.soft_margin_loss(x, y, reduction=r), x, signs
        )
        rows = [g.floats((4, 6)) for _ in range(3)]
        for p_ in (1.0, 2.0, 3.0):
            swap = g.flag()
            call = lambda a, b, c, r=reduction, p=p_, s=swap: F.triplet_margin_loss(
                a, b, c, 5.0, p=p, swap=s, reduction=r
            )
            yield named(f"triplet_margin {p_} {swap} {reduction}", call, *rows)
        call = lambda a, b, t, r=reduction: F.cosine_embedding_loss(a, b, t, 0.1, reduction=r)
        yield named(f"cosine_embedding {reduction}", call, rows[0], rows[1], g.integers((4,), 0, 2) * 2 - 1)
    yield named(
        "kl_div batchmean",
        lambda x, y: F.kl_div(x.log(), y, reduction="batchmean"),
        g.positive((3, 4)),
        g.positive((3, 4)),
    )
    yield named("kl_div with zeros", F.kl_div, g.floats((3, 4)), g.integers((3, 4), 0, 2).float())
    yield named(
        "mse_loss broadcast", lambda x, y: F.mse_loss(*torch.broadcast_tensors(x, y)), g.floats((3, 4)), g.floats((4,))
    )
    for dim in (0, 1, -1):
        x, y = g.floats((3, 4, 5)), g.floats((3, 4, 5))
        yield named(f"cosine_similarity {dim}", lambda x, y, d=dim: F.cosine_similarity(x, y, d), x, y)
    yield named(
        "pairwise_distance", lambda x, y: F.pairwise_distance(x, y, keepdim=True), g.floats((3, 4)), g.floats((3, 4))
    )
    yield named("hinge", lambda x, y: torch.mean(torch.clamp(1 - x * y, min=0)), g.floats((5, 4)), g.floats((4,)))


def class_losses(g: Generator) -> Iterator[Case]:
    for reduction in ("mean", "sum", "none"):
        for shape in ((6, 5), (2, 5, 3), (2, 4, 3, 2)):
            dtype = g.random.choice((torch.float32, torch.float64))
            x = g.floats(shape, dtype)
            t = g.integers((shape[0], *shape[2:]), 0, shape[1])
            weight = g.positive((shape[1],), dtype)
            yield named(
                f"cross_entropy {reduction}", lambda x, t, r=reduction: F.cross_entropy(x, t, reduction=r), x, t
            )
            call = lambda x, t, w, r=reduction: F.cross_entropy(x, t, w, reduction=r, ignore_index=1)
            yield named(f"cross_entropy weighted, ignoring {reduction}", call, x, t, weight)
            call = lambda x, t, r=reduction: F.cross_entropy(x, t, reduction=r, ignore_index=0, label_smoothing=0.1)
            yield named(f"cross_entropy smoothed {reduction}", call, x, t)
            call = lambda x, t, w, r=reduction: F.cross_entropy(x, t, w, reduction=r, label_smoothing=0.2)
            yield named(f"cross_entropy weighted, smoothed {reduction}", call, x, t, weight)
            yield named(f"nll_loss {reduction}", lambda x, t, r=reduction: F.nll_loss(x, t, reduction=r), x, t)
            p = g.positive(shape, dtype)
            call = lambda x, p, r=reduction: F.cross_entropy(x, p, reduction=r, label_smoothing=0.1)
            yield named(f"cross_entropy of probabilities {reduction}", call, x, p)
    yield named("cross_entropy of one", F.cross_entropy, g.floats((5,)), g.integers((), 0, 5))
    t = g.integers((6,), 0, 5)
    t[2] = -100
    yield named("cross_entropy with ignored", F.cross_entropy, g.floats((6, 5)), t)
    yield named("cross_entropy bf16", F.cross_entropy, g.floats((6, 5), torch.bfloat16), t)
