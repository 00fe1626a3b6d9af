# SPDX-License-Identifier: Apache-2.0
"""Makes samples/norms: the gradients of one step of two layers, and the norm they were clipped by.

    python samples/make_norms.py [FOLDER]      (torch, safetensors)

`twice` counts the second layer's bias twice in its norm, as tensor-parallel ranks do that each add up what
they all hold: a few parts in a hundred, and all that follows is scaled by it. `logged` and `logged-twice`
record no norm, they log it.
"""
import json
import os
import shutil
import sys

import torch
from safetensors.torch import save_file

BATCH, INPUTS, HIDDEN, CLIP = 16, 6, 8, 0.05


def gradients():
    torch.manual_seed(11)
    model = torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1))
    model(torch.randn(BATCH, INPUTS)).square().mean().backward()
    return {name: p.grad for name, p in model.named_parameters()}


def make(folder, counted=None, record=True):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "step-000001"))
    tensors, metadata = {}, {"ttcheck_trace": "1"}

    def add(phase, module, kind, slot, value):
        record = {"seq": len(tensors), "phase": phase, "module": module, "kind": kind, "slot": slot}
        key = "{seq:05d}/{phase}/{module}/{kind}.{slot}".format(**record)
        tensors[key], metadata[key] = value.clone(), json.dumps(record, separators=(",", ":"))

    grads = gradients()
    for name, grad in grads.items():
        add("sync", *name.split(".")[:1], "main_grad", name.split(".")[1], grad)
    norm = sum((counted or {}).get(name, 1) * grad.square().sum() for name, grad in grads.items()).sqrt()
    if record:
        add("clip", "clip", "state", "grad_norm", norm)
    for name, grad in grads.items():
        add("clip", *name.split(".")[:1], "main_grad", name.split(".")[1], grad * (CLIP / norm) if record else grad)
    save_file(tensors, os.path.join(folder, "step-000001", "rank-00000.safetensors"), metadata=metadata)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump({"ttcheck_trace": 1, "run": os.path.basename(folder), "world_size": 1, "mesh": {}, "ranks": [{}]}, file)
        file.write("\n")
    with open(os.path.join(folder, "events.jsonl"), "w") as file:
        file.write(json.dumps({"step": 1, "rank": 0, "name": "grad_norm", "value": norm.item()}) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "norms")
    make(os.path.join(root, "reference"))
    make(os.path.join(root, "twice"), {"2.bias": 2})
    make(os.path.join(root, "logged"), record=False)
    make(os.path.join(root, "logged-twice"), {"2.bias": 2}, record=False)
