# SPDX-License-Identifier: Apache-2.0
"""Makes samples/unseen: a trace of two steps of one attention layer whose keys have a bias.

    python samples/make_unseen.py [FOLDER]      (torch, safetensors)

Softmax does not see what is added to all keys, so the bias's gradient is zero but for round-off, and Adam
steps along that with full length. `pieces` sums products over the tokens in two halves, as another kernel
would. In `leak` a thousandth of the values' gradient gets into the bias's. `bare-*` record parameters as each
step finds them and state no optimizer, as a plain collector does; in `bare-rate` the first update is one part in
a hundred longer.
"""
import json
import os
import shutil
import sys

import torch
from safetensors.torch import save_file

BATCH, SEQ, HIDDEN, STEPS, LR = 4, 8, 16, 2, 1e-3


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b, pieces):
        ctx.save_for_backward(x, w)
        ctx.pieces = pieces
        return sum(p @ v.T for p, v in zip(x.chunk(pieces, -1), w.chunk(pieces, -1))) + b

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        rows, inputs = g.flatten(0, 1).chunk(ctx.pieces), x.flatten(0, 1).chunk(ctx.pieces)
        return g @ w, sum(r.T @ i for r, i in zip(rows, inputs)), sum(r.sum(0) for r in rows), None


def make(folder, pieces=1, leak=0.0, bare=False, longer=1.0):
    shutil.rmtree(folder, ignore_errors=True)
    random = torch.Generator().manual_seed(3)
    names = [f"attn.{m}" for m in "qkvo"]
    params = {}
    for n in names:
        params[f"{n}.weight"] = torch.randn(HIDDEN, HIDDEN, generator=random) * HIDDEN ** -0.5
        params[f"{n}.bias"] = torch.randn(HIDDEN, generator=random) * 0.1
    for p in params.values():
        p.requires_grad_()
    adam = torch.optim.Adam(params.values(), lr=LR, foreach=False)
    for step in range(1, STEPS + 1):
        tensors, metadata = {}, {"ttcheck_trace": "1"}

        def add(phase, module, kind, slot, value, **more):
            record = {"seq": len(tensors), "phase": phase, "module": module, "kind": kind, "slot": slot, **more}
            key = "{seq:05d}/{module}/{kind}.{slot}".format(**record)
            tensors[key], metadata[key] = value.detach().clone().contiguous(), json.dumps(record, separators=(",", ":"))

        def every(phase, kind, of):
            for name, p in params.items():
                module, slot = name.rsplit(".", 1)
                add(phase, module, kind, slot, of(p))

        if step == 1 or bare:
            every("state", "param", lambda p: p)
        x = torch.randn(BATCH, SEQ, HIDDEN, generator=random)
        target = torch.randn(BATCH, SEQ, HIDDEN, generator=random)
        out = {}
        for m in "qkv":
            out[m] = Linear.apply(x, params[f"attn.{m}.weight"], params[f"attn.{m}.bias"], pieces)
            add("forward", f"attn.{m}", "output", 0, out[m])
        weights = torch.softmax(out["q"] @ out["k"].mT * HIDDEN ** -0.5, -1)
        core = weights @ out["v"]
        add("forward", "attn.core", "output", 0, core)
        y = Linear.apply(core, params["attn.o.weight"], params["attn.o.bias"], pieces)
        add("forward", "attn.o", "output", 0, y)
        loss = (y - target).square().mean()
        add("loss", "loss", "loss", 0, loss)
        adam.zero_grad()
        loss.backward()
        params["attn.k.bias"].grad += leak * params["attn.v.bias"].grad
        every("backward", "grad", lambda p: p.grad)
        adam.param_groups[0]["lr"] = LR * (longer if step == 1 else 1)
        adam.step()
        if not bare:
            every("optimizer", "param", lambda p: p)
            every("optimizer", "moment1", lambda p: adam.state[p]["exp_avg"])
            every("optimizer", "moment2", lambda p: adam.state[p]["exp_avg_sq"])
        path = os.path.join(folder, f"step-{step:06d}")
        os.makedirs(path)
        save_file(tensors, os.path.join(path, "rank-00000.safetensors"), metadata=metadata)
    facts = {"ttcheck_trace": 1, "run": os.path.basename(folder), "world_size": 1, "mesh": {}, "ranks": [{}],
             "optimizer": {"name": "adam", "lr": LR, "betas": [0.9, 0.999]}}
    if bare:
        del facts["optimizer"]
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump(facts, file)
        file.write("\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "unseen")
    make(os.path.join(root, "reference"))
    make(os.path.join(root, "pieces"), pieces=2)
    make(os.path.join(root, "leak"), pieces=2, leak=1e-3)
    make(os.path.join(root, "bare-reference"), bare=True)
    make(os.path.join(root, "bare-pieces"), pieces=2, bare=True)
    make(os.path.join(root, "bare-rate"), pieces=2, bare=True, longer=1.01)
