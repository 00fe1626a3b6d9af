# SPDX-License-Identifier: Apache-2.0
"""Writes the forward pass of a small decoder in bf16 as a trace: parameters and every module's output.

    make_16bit_trace.py FOLDER [WAY...]

Ways that are as right as the plain one: `pieces` (products summed in two halves), `fused` (attention
without rounding in between), `f32` (nothing is rounded). Wrong ones: `eps` (norms with 1e-5 for 1e-6),
`rope` (halves change places with the wrong sign).
"""
import json
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
from write import bf16_codes, safetensors  # noqa: E402

BATCH, SEQ, HIDDEN, HEADS, WIDE, VOCABULARY, LAYERS = 2, 12, 32, 4, 64, 48, 4
WIDTH = HIDDEN // HEADS
ways = set(sys.argv[2:])
random = np.random.default_rng(11)
records = []


def rounded(x):
    """To bf16, nearest even, unless this run is of f32."""
    x = np.ascontiguousarray(x, np.float32)
    if "f32" in ways:
        return x
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def add(phase, module, kind, slot, value):
    records.append(({"seq": len(records), "phase": phase, "module": module, "kind": kind, "slot": slot}, value))
    return value


def output(module, value):
    return add("forward", module, "output", 0, rounded(value))


weights = {}


def weight(module, *shape, scale):
    weights[module] = add("state", module, "param", "weight", rounded(scale * random.standard_normal(shape)))


def linear(module, x):
    w = weights[module]
    if "pieces" not in ways:
        return output(module, x @ w.T)
    half = x.shape[-1] // 2
    return output(module, rounded(x[..., :half] @ w[:, :half].T) + rounded(x[..., half:] @ w[:, half:].T))


def norm(module, x):
    eps = 1e-5 if "eps" in ways else 1e-6
    scaled = rounded(x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(eps)))
    return output(module, scaled * weights[module])


def rope(x):
    """Of [batch, heads, seq, width]."""
    rate = 100.0 ** (-np.arange(0, WIDTH, 2) / WIDTH)
    angle = np.concatenate([np.arange(SEQ)[:, None] * rate] * 2, -1)
    cosine, sine = rounded(np.cos(angle)), rounded(np.sin(angle))
    a, b = x[..., : WIDTH // 2], x[..., WIDTH // 2:]
    turned = np.concatenate([b, -a] if "rope" in ways else [-b, a], -1)
    if "fused" in ways:
        return x * cosine + turned * sine
    return rounded(rounded(x * cosine) + rounded(turned * sine))


def attention(module, x):
    step = rounded if "fused" not in ways else lambda value: value
    heads = lambda y: y.reshape(BATCH, SEQ, HEADS, WIDTH).transpose(0, 2, 1, 3)
    q, k, v = (heads(linear(f"{module}.{one}_proj", x)) for one in "qkv")
    scores = step(step(rope(q) @ rope(k).swapaxes(-1, -2)) * np.float32(WIDTH ** -0.5))
    scores = np.where(np.tri(SEQ, dtype=bool), scores, -np.inf)
    weight = np.exp(scores - scores.max(-1, keepdims=True))
    weight = step(weight / weight.sum(-1, keepdims=True))
    return linear(f"{module}.o_proj", step((weight @ v).transpose(0, 2, 1, 3).reshape(BATCH, SEQ, HIDDEN)))


def main(folder):
    tokens = random.integers(0, VOCABULARY, (BATCH, SEQ))
    weight("embed_tokens", VOCABULARY, HIDDEN, scale=0.02)
    for n in (f"layers.{i}" for i in range(LAYERS)):
        for one in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{n}.{one}"] = add("state", f"{n}.{one}", "param", "weight", np.ones(HIDDEN, np.float32))
        for one in "qkvo":
            weight(f"{n}.self_attn.{one}_proj", HIDDEN, HIDDEN, scale=0.05 if one in "qk" else 0.02)
        for one in ("gate", "up"):
            weight(f"{n}.mlp.{one}_proj", WIDE, HIDDEN, scale=0.1)
        weight(f"{n}.mlp.down_proj", HIDDEN, WIDE, scale=0.02)
    weights["norm"] = add("state", "norm", "param", "weight", np.ones(HIDDEN, np.float32))
    x = output("embed_tokens", weights["embed_tokens"][tokens])
    for n in (f"layers.{i}" for i in range(LAYERS)):
        x = rounded(x + attention(f"{n}.self_attn", norm(f"{n}.input_layernorm", x)))
        y = norm(f"{n}.post_attention_layernorm", x)
        gate = linear(f"{n}.mlp.gate_proj", y)
        made = rounded(rounded(gate / (1 + np.exp(-gate))) * linear(f"{n}.mlp.up_proj", y))
        x = output(n, x + linear(f"{n}.mlp.down_proj", made))
    norm("norm", x)
    write(folder)


def write(folder):
    os.makedirs(folder)
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump({"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}]}, file)
    notes, arrays = {"ttcheck_trace": "1"}, {}
    for record, value in records:
        key = "{seq:05d}/{module}/{kind}.{slot}".format(**record)
        stored = np.ascontiguousarray(value, np.float32)
        if "f32" not in ways:
            stored = bf16_codes((stored.view(np.uint32) >> 16).astype(np.uint16))
        notes[key], arrays[key] = json.dumps(record), stored
    safetensors(os.path.join(folder, "step-000000", "rank-00000.safetensors"), arrays, notes)


main(sys.argv[1])
