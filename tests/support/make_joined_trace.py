# SPDX-License-Identifier: Apache-2.0
"""Writes a trace whose queries, keys and values are three modules, or one of that name.

    make_joined_trace.py FOLDER NAMES [noise|wrong] [STEPS]

NAMES: three and the name of what follows, `wa,wb,wc,wd`, or one and that, `mix,wd`. `noise`: what is computed is as
another order of sums would have it, and so are later steps' parameters; `wrong`: so, but for a third of the second
layer's gradients, which are doubled.
"""
import json
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
from write import safetensors  # noqa: E402

LAYERS, HIDDEN, ROWS = 2, 16, (16, 8, 8)
names, rest = sys.argv[2].split(",")[:-1], sys.argv[2].split(",")[-1]
ways = sys.argv[3:]


def noisy(values, random):
    if not {"noise", "wrong"} & set(ways):
        return values
    return (values * (1 + 1e-7 * random.standard_normal(values.shape))).astype(np.float32)


def write(folder, step):
    random, noise = np.random.default_rng(3 + step), np.random.default_rng(99)
    tensors = {"state": [], "forward": [], "backward": [], "sync": []}

    def drawn(*shape):
        return random.standard_normal(shape).astype(np.float32)

    def add(phase, kind, slot, parts, layer, dim):
        modules = names if len(names) > 1 else [names[0]]
        made = parts if len(names) > 1 else [np.concatenate(parts, dim)]
        for module, values in zip(modules, made):
            keep = phase == "state" and step == 0
            tensors[phase].append((f"layers.{layer}.attn.{module}", kind, slot, values if keep else noisy(values, noise)))

    for layer in range(LAYERS):
        add("state", "param", "weight", [drawn(rows, HIDDEN) for rows in ROWS], layer, 0)
        add("state", "param", "bias", [drawn(rows) for rows in ROWS], layer, 0)
        x = drawn(2, 4, HIDDEN)
        add("forward", "input", 0, [x] * 3 if len(names) > 1 else [x[..., :0], x], layer, -1)
        add("forward", "output", 0, [drawn(2, 4, rows) for rows in ROWS], layer, -1)
        add("backward", "grad_output", 0, [drawn(2, 4, rows) for rows in ROWS], layer, -1)
        gradients = [drawn(rows, HIDDEN) for rows in ROWS]
        if "wrong" in ways and layer == 1:
            gradients[1] = 2 * gradients[1]
        add("sync", "main_grad", "weight", gradients, layer, 0)
        other = f"layers.{layer}.attn.{rest}"
        tensors["state"].append((other, "param", "weight", drawn(HIDDEN, HIDDEN)))
        tensors["forward"].append((other, "output", 0, drawn(2, 4, HIDDEN)))
    notes, arrays = {"ttcheck_trace": "1"}, {}
    records = [(phase, *one) for phase, some in tensors.items() for one in some]
    for seq, (phase, module, kind, slot, values) in enumerate(records):
        key = f"{seq:03}/{module}/{kind}.{slot}"
        notes[key] = json.dumps({"seq": seq, "phase": phase, "module": module, "kind": kind, "slot": slot})
        arrays[key] = values
    safetensors(os.path.join(folder, f"step-{step:06d}", "rank-00000.safetensors"), arrays, notes)


os.makedirs(sys.argv[1])
with open(os.path.join(sys.argv[1], "run.json"), "w", encoding="utf-8") as file:
    json.dump({"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}]}, file)
for step in range(int(ways[-1]) if ways and ways[-1].isdigit() else 1):
    write(sys.argv[1], step)
