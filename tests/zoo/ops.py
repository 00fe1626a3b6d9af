# SPDX-License-Identifier: Apache-2.0
"""What modules compute, forward and backward, on one rank's arrays. Sums are in fp32, as on accelerators."""
import numpy as np


def rmsnorm(x, weight, eps, round_to, order):
    scale = 1 / np.sqrt(np.mean(x * x, -1, keepdims=True, dtype=np.float32) + np.float32(eps))
    normed = x * scale
    y = round_to(normed * weight) if order == "weight-then-cast" else round_to(round_to(normed) * weight)
    return y, (x, scale, weight)


def rmsnorm_backward(g, kept):
    x, scale, weight = kept
    normed = x * scale
    gw = g * weight
    dx = scale * (gw - normed * np.mean(gw * normed, -1, keepdims=True, dtype=np.float32))
    return dx, np.sum(g * normed, (0, 1), dtype=np.float32)


def rotate(x, positions, theta, sign=1):
    """Rotary embedding of [batch, sequence, heads, head_dim] in halves; sign -1 turns back."""
    half = x.shape[-1] // 2
    frequency = np.float32(theta) ** (-np.arange(half, dtype=np.float32) / half)
    angle = positions.astype(np.float32)[:, None] * frequency
    cos, sin = np.cos(angle)[:, None, :], np.float32(sign) * np.sin(angle)[:, None, :]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, allow, round_to):
    """[batch, sequence, heads, head_dim]; `allow`: [batch or 1, queries, keys]."""
    groups = q.shape[2] // k.shape[2]
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, np.repeat(k, groups, 2), np.repeat(v, groups, 2)))
    scale = np.float32(q.shape[-1] ** -0.5)
    score = np.where(allow[:, None], q @ k.swapaxes(-1, -2) * scale, np.float32(-1e30))
    prob = softmax(score)
    out = round_to(prob) @ v
    return out.transpose(0, 2, 1, 3), (q, k, v, prob, scale, groups)


def attention_backward(g, kept, round_to):
    q, k, v, prob, scale, groups = kept
    g = g.transpose(0, 2, 1, 3)
    dv = round_to(prob).swapaxes(-1, -2) @ g
    dprob = g @ v.swapaxes(-1, -2)
    dscore = round_to(prob * (dprob - np.sum(dprob * prob, -1, keepdims=True)))
    dq, dk = dscore @ k * scale, dscore.swapaxes(-1, -2) @ q * scale
    per_group = lambda x: x.reshape(x.shape[0], -1, groups, *x.shape[2:]).sum(2).transpose(0, 2, 1, 3)
    return dq.transpose(0, 2, 1, 3), per_group(dk), per_group(dv)


def sigmoid(x):
    return 1 / (1 + np.exp(np.minimum(-x, 80)))


def silu(x):
    return x * sigmoid(x)


def silu_slope(x):
    s = sigmoid(x)
    return s * (1 + x * (1 - s))


def top_two(logits):
    """Dense weights, zero where not chosen, the two chosen ones summing to 1."""
    prob = softmax(logits)
    chosen = np.zeros(prob.shape, bool)
    np.put_along_axis(chosen, np.argsort(-prob, -1, kind="stable")[..., :2], True, -1)
    kept = np.where(chosen, prob, 0)
    total = kept.sum(-1, keepdims=True)
    return kept / total, (prob, chosen, kept, total)


def top_two_backward(g, kept):
    prob, chosen, picked, total = kept
    dkept = np.where(chosen, (g - np.sum(g * picked / total, -1, keepdims=True)) / total, 0)
    return prob * (dkept - np.sum(dkept * prob, -1, keepdims=True))
