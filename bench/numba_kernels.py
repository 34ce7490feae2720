"""The cases in Numba, each at the loop order that was fastest of those tried; parallel over the outer loop."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

fast = {"parallel": True, "fastmath": True}


@njit(**fast)
def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    y = np.zeros((m, n), np.float32)
    for i in prange(m):
        for q in range(k):
            for j in range(n):
                y[i, j] += a[i, q] * b[q, j]
    return y


@njit(**fast)
def batched_matmul(a, b):
    z, m, k = a.shape
    n = b.shape[2]
    y = np.zeros((z, m, n), np.float32)
    for t in prange(z):
        for i in range(m):
            for q in range(k):
                for j in range(n):
                    y[t, i, j] += a[t, i, q] * b[t, q, j]
    return y


@njit(**fast)
def conv2d(x, w):
    n_, i_, h, u = x.shape
    o_, _, r_, s_ = w.shape
    y = np.zeros((n_, o_, h, u), np.float32)
    for no in prange(n_ * o_):
        n, o = no // o_, no % o_
        for i in range(i_):
            for r in range(r_):
                for s in range(s_):
                    c = w[o, i, r, s]
                    for p in range(max(0, 1 - r), min(h, h + 1 - r)):
                        for q in range(max(0, 1 - s), min(u, u + 1 - s)):
                            y[n, o, p, q] += x[n, i, p + r - 1, q + s - 1] * c
    return y


@njit(**fast)
def conv3d(x, w):
    n_, i_, d_, h, u = x.shape
    o_, _, t_, r_, s_ = w.shape
    y = np.zeros((n_, o_, d_, h, u), np.float32)
    for no in prange(n_ * o_):
        n, o = no // o_, no % o_
        for i in range(i_):
            for t in range(t_):
                for r in range(r_):
                    for s in range(s_):
                        c = w[o, i, t, r, s]
                        for d in range(max(0, 1 - t), min(d_, d_ + 1 - t)):
                            for p in range(max(0, 1 - r), min(h, h + 1 - r)):
                                for q in range(max(0, 1 - s), min(u, u + 1 - s)):
                                    y[n, o, d, p, q] += x[n, i, d + t - 1, p + r - 1, q + s - 1] * c
    return y


@njit(**fast)
def depthwise(x, w):
    n_, c_, h, u = x.shape
    y = np.zeros((n_, c_, h, u), np.float32)
    for nc in prange(n_ * c_):
        n, c = nc // c_, nc % c_
        for p in range(h):
            for r in range(max(0, 1 - p), min(3, h + 1 - p)):
                for s in range(3):
                    for q in range(max(0, 1 - s), min(u, u + 1 - s)):
                        y[n, c, p, q] += x[n, c, p + r - 1, q + s - 1] * w[c, r, s]
    return y


@njit(**fast)
def gqa(q, k, v):
    _, h_, i_, d_ = q.shape
    group = h_ // k.shape[1]
    s = np.zeros((h_, i_, i_), np.float32)
    for hi in prange(h_ * i_):
        h, i = hi // i_, hi % i_
        for j in range(i_):
            for d in range(d_):
                s[h, i, j] += q[0, h, i, d] * k[0, h // group, j, d]
    top = np.full((h_, i_), -np.inf, np.float32)
    for hi in prange(h_ * i_):
        h, i = hi // i_, hi % i_
        for j in range(i_):
            top[h, i] = max(top[h, i], s[h, i, j])
    e = np.empty_like(s)
    for hi in prange(h_ * i_):
        h, i = hi // i_, hi % i_
        for j in range(i_):
            e[h, i, j] = math.exp((s[h, i, j] - top[h, i]) * np.float32(0.125))
    z = np.zeros((h_, i_), np.float32)
    for hi in prange(h_ * i_):
        h, i = hi // i_, hi % i_
        for j in range(i_):
            z[h, i] += e[h, i, j]
    u = np.zeros((h_, i_, d_), np.float32)
    for hi in prange(h_ * i_):
        h, i = hi // i_, hi % i_
        for j in range(i_):
            for d in range(d_):
                u[h, i, d] += e[h, i, j] * v[0, h // group, j, d]
    y = np.empty_like(q)
    for hi in prange(h_ * i_):
        h, i = hi // i_, hi % i_
        for d in range(d_):
            y[0, h, i, d] = u[h, i, d] / z[h, i]
    return y


@njit(**fast)
def relu(x):
    y = np.empty_like(x)
    for i in prange(x.size):
        y[i] = max(x[i], np.float32(0))
    return y


@njit(**fast)
def gelu(x):
    y = np.empty_like(x)
    for i in prange(x.size):
        y[i] = np.float32(0.5) * x[i] * (np.float32(1) + math.erf(x[i] * np.float32(0.7071067811865476)))
    return y


@njit(**fast)
def softmax(x):
    n, m = x.shape
    top = np.full(n, -np.inf, np.float32)
    for i in prange(n):
        for j in range(m):
            top[i] = max(top[i], x[i, j])
    e = np.empty_like(x)
    for i in prange(n):
        for j in range(m):
            e[i, j] = math.exp(x[i, j] - top[i])
    z = np.zeros(n, np.float32)
    for i in prange(n):
        for j in range(m):
            z[i] += e[i, j]
    y = np.empty_like(x)
    for i in prange(n):
        for j in range(m):
            y[i, j] = e[i, j] / z[i]
    return y


@njit(**fast)
def layernorm(x, w, b):
    n, m = x.shape
    s = np.zeros(n, np.float32)
    for i in prange(n):
        for j in range(m):
            s[i] += x[i, j]
    v = np.zeros(n, np.float32)
    for i in prange(n):
        mean = s[i] / np.float32(m)
        for j in range(m):
            d = x[i, j] - mean
            v[i] += d * d
    y = np.empty_like(x)
    for i in prange(n):
        mean = s[i] / np.float32(m)
        scale = np.float32(1) / math.sqrt(v[i] / np.float32(m) + np.float32(1e-5))
        for j in range(m):
            y[i, j] = (x[i, j] - mean) * scale * w[j] + b[j]
    return y


@njit(**fast)
def column_sums(x):
    n, m = x.shape
    y = np.zeros(m, np.float32)
    blocks = 8
    width = m // blocks
    for block in prange(blocks):
        for i in range(n):
            for j in range(block * width, (block + 1) * width):
                y[j] += x[i, j]
    return y


@njit(**fast)
def max_pool(x):
    n_, c_, h, u = x.shape
    y = np.empty((n_, c_, h // 2, u // 2), np.float32)
    for nc in prange(n_ * c_):
        n, c = nc // c_, nc % c_
        for p in range(h // 2):
            for q in range(u // 2):
                top = np.float32(-np.inf)
                for r in range(max(0, 1 - 2 * p), min(3, h + 1 - 2 * p)):
                    for s in range(max(0, 1 - 2 * q), min(3, u + 1 - 2 * q)):
                        top = max(top, x[n, c, 2 * p + r - 1, 2 * q + s - 1])
                y[n, c, p, q] = top
    return y


@njit(**fast)
def cumsum(x):
    n, m = x.shape
    y = np.empty_like(x)
    for i in prange(n):
        s = np.float32(0)
        for j in range(m):
            s += x[i, j]
            y[i, j] = s
    return y


@njit(**fast)
def embedding(ids, table):
    y = np.empty((ids.size, table.shape[1]), np.float32)
    for s in prange(ids.size):
        for d in range(table.shape[1]):
            y[s, d] = table[ids[s], d]
    return y


@njit(**fast)
def lstm(x, h0, c0, wi, wh, bi, bh):
    t_, b_, i_ = x.shape
    h_ = h0.shape[1]
    p = np.empty((t_, b_, 4 * h_), np.float32)
    for t in prange(t_):
        for b in range(b_):
            for n in range(4 * h_):
                s = bi[n]
                for i in range(i_):
                    s += x[t, b, i] * wi[n, i]
                p[t, b, n] = s
    y = np.empty((t_, b_, h_), np.float32)
    h, c = h0.copy(), c0.copy()
    a = np.empty((b_, 4 * h_), np.float32)
    for t in range(t_):
        for n in prange(4 * h_):
            for b in range(b_):
                s = p[t, b, n] + bh[n]
                for k in range(h_):
                    s += h[b, k] * wh[n, k]
                a[b, n] = s
        for b in range(b_):
            for n in range(h_):
                keep = c[b, n] / (np.float32(1) + math.exp(-a[b, n + h_]))
                c[b, n] = keep + math.tanh(a[b, n + 2 * h_]) / (np.float32(1) + math.exp(-a[b, n]))
                h[b, n] = math.tanh(c[b, n]) / (np.float32(1) + math.exp(-a[b, n + 3 * h_]))
                y[t, b, n] = h[b, n]
    return y


@njit(**fast)
def scatter_add(ids, table):
    e = embedding(ids, table)
    y = np.zeros_like(table)
    for s in range(ids.size):
        for d in range(table.shape[1]):
            y[ids[s], d] += e[s, d] * np.float32(0.5)
    return y


BY_FIRST_WORDS = {
    "LSTM": lstm,
    "matmul": matmul,
    "batched": batched_matmul,
    "conv2d": conv2d,
    "conv3d": conv3d,
    "depthwise": depthwise,
    "GQA": gqa,
    "relu": relu,
    "gelu": gelu,
    "softmax": softmax,
    "layernorm": layernorm,
    "column": column_sums,
    "max": max_pool,
    "cumsum": cumsum,
    "embedding": embedding,
    "embedding and scatter-add": scatter_add,
}
