# SPDX-License-Identifier: Apache-2.0
"""Makes samples/within: a bf16 trace of four layers' rotary attention inputs, forward alone.

    python samples/make_within.py [FOLDER]      (torch, safetensors)

`pieces` sums products in two halves, as another kernel would. `theta` does, too, and turns layer 2's
channels by another base: at so few positions that is less than bf16 limits hold after four layers,
but it is not what the op's own inputs give.
"""
import json
import os
import shutil
import sys

import torch
from safetensors.torch import save_file

STEP, BATCH, SEQ, HIDDEN, HEADS, LAYERS = 1, 2, 6, 32, 2, 4
BF16 = torch.bfloat16


def rope(x, theta):
    """Halves of each head turn by position x theta^(-2i/n)."""
    width = HIDDEN // HEADS
    rate = theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(SEQ, dtype=torch.float64)[:, None] * rate
    cosine, sine = (f(angle)[None, :, None, :] for f in (torch.cos, torch.sin))
    a, b = x.double().unflatten(-1, (HEADS, width)).chunk(2, -1)
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1).flatten(2).to(BF16)


def linear(x, w, pieces):
    parts = zip(x.float().chunk(pieces, -1), w.float().chunk(pieces, -1))
    return sum((a @ b.T).to(BF16) for a, b in parts).to(BF16)


def make(folder, pieces=1, theta=10000.0):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, f"step-{STEP:06d}"))
    random = torch.Generator().manual_seed(7)
    tensors, metadata = {}, {"ttcheck_trace": "1"}

    def add(phase, module, kind, slot, value, **more):
        record = {"seq": len(tensors), "phase": phase, "module": module, "kind": kind, "slot": slot, **more}
        key = "{seq:05d}/{module}/{kind}.{slot}".format(**record)
        tensors[key], metadata[key] = value.contiguous(), json.dumps(record, separators=(",", ":"))
        return f"{module}/{kind}.{slot}"

    def op(module, name, value, inputs, **attrs):
        more = {"attrs": attrs} if attrs else {}
        return value, add("forward", module, "output", 0, value, op=name, inputs=inputs, **more)

    weights = {}
    for n in (f"layers.{i}.attn.{m}" for i in range(LAYERS) for m in "qo"):
        weights[n] = (torch.randn(HIDDEN, HIDDEN, generator=random) * HIDDEN ** -0.5).to(BF16)
        add("state", n, "param", "weight", weights[n])
    x = torch.randn(BATCH, SEQ, HIDDEN, generator=random).to(BF16)
    name = add("forward", "layers.0.attn.q", "input", 0, x)
    for i in range(LAYERS):
        n = f"layers.{i}.attn"
        q, q_name = op(f"{n}.q", "linear", linear(x, weights[f"{n}.q"], pieces), [name, f"{n}.q/param.weight"])
        turned = rope(q, theta if i == 2 else 10000.0)
        r, r_name = op(f"{n}.rope", "rope", turned, [q_name], head_dim=HIDDEN // HEADS, theta=10000.0)
        y, y_name = op(f"{n}.o", "linear", linear(r, weights[f"{n}.o"], pieces), [r_name, f"{n}.o/param.weight"])
        x, name = op(f"{n}.add", "add", (x.float() + y.float()).to(BF16), [name, y_name])
    save_file(tensors, os.path.join(folder, f"step-{STEP:06d}", "rank-00000.safetensors"), metadata=metadata)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump({"ttcheck_trace": 1, "run": os.path.basename(folder), "world_size": 1, "mesh": {}, "ranks": [{}]}, file)
        file.write("\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "within")
    make(os.path.join(root, "reference"))
    make(os.path.join(root, "pieces"), pieces=2)
    make(os.path.join(root, "theta"), pieces=2, theta=20000.0)
