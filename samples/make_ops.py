# SPDX-License-Identifier: Apache-2.0
"""Makes samples/ops: forward and backward of a tiny model, each op with its attributes and inputs.

    python samples/make_ops.py [FOLDER]      (torch, safetensors)

`two-bugs` writes what two tensor-parallel ranks would (values are computed whole and cut), with two
faults: layer 0's attention sees one token of the future, and in layer 1 rank 1 computes
silu(up) * gate. What follows the first fault is wrong anyway, so only recomputing shows the second.
"""
import json
import os
import shutil
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

STEP, BATCH, SEQ, HIDDEN, HEADS, FFN, VOCAB, EPS = 1, 2, 5, 8, 2, 6, 11, 1e-5


def halves(x, rank, dim):
    return x.chunk(2, dim)[rank]


class Recorder:
    def __init__(self, tp):
        self.tp, self.records, self.names, self.kept = tp, [], {}, []

    def add(self, phase, module, kind, slot, value, cut=None, **more):
        """`cut`: how many equal parts the last dim (a weight's: `dim`) has that ranks cut each."""
        self.records.append(({"seq": len(self.records), "phase": phase, "module": module,
                              "kind": kind, "slot": slot, **more}, value.detach().clone(), cut))

    def op(self, module, op, value, inputs, attrs=None, cut=None, phase="forward", kind="output"):
        names = [self.names.get(id(i), i) for i in inputs]
        self.add(phase, module, kind, 0, value, cut, op=op, inputs=names,
                 **({"attrs": attrs} if attrs else {}))
        self.names[id(value)] = f"{module}/{kind}.0"
        self.kept.append(value)
        if value.dim():
            value.register_hook(lambda g: self.add("backward", module, "grad_output", 0, g, cut))
        return value

    def write(self, folder):
        step = os.path.join(folder, f"step-{STEP:06d}")
        os.makedirs(step)
        mesh = {"tp": 2} if self.tp else {}
        world = 2 if self.tp else 1
        with open(os.path.join(folder, "run.json"), "w") as file:
            json.dump({"ttcheck_trace": 1, "run": os.path.basename(folder), "world_size": world,
                       "mesh": mesh, "ranks": [{"tp": r} if self.tp else {} for r in range(world)]},
                      file)
            file.write("\n")
        for rank in range(world):
            tensors, metadata = {}, {"ttcheck_trace": "1"}
            for record, value, cut in self.records:
                if cut and self.tp:
                    dims, dim, parts = cut
                    value = torch.cat([halves(p, rank, dim) for p in value.chunk(parts, dim)], dim)
                    record = {**record, "dims": dims}
                key = "{seq:05d}/{module}/{kind}.{slot}".format(**record)
                tensors[key] = value.contiguous()
                metadata[key] = json.dumps(record, separators=(",", ":"))
            save_file(tensors, os.path.join(step, f"rank-{rank:05d}.safetensors"), metadata=metadata)


class Model:
    def __init__(self, recorder, bugs):
        self.r, self.bugs = recorder, bugs
        random = torch.Generator().manual_seed(3)
        self.random = lambda *shape: torch.randn(shape, generator=random)

    def weight(self, module, *shape, cut=None):
        value = (self.random(*shape) if len(shape) > 1 else 1 + 0.2 * self.random(*shape))
        value = (value * shape[-1] ** -0.5 if len(shape) > 1 else value).requires_grad_()
        self.r.add("state", module, "param", "weight", value, cut)
        self.r.names[id(value)] = f"{module}/param.weight"
        self.parameters[module] = (value, cut)
        return value

    def norm(self, module, x):
        w = self.parameters[module][0]
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * w
        return self.r.op(module, "rmsnorm", y, [x, w], {"eps": EPS})

    def linear(self, module, x, cut=None):
        w = self.parameters[module][0]
        return self.r.op(module, "linear", F.linear(x, w), [x, w], cut=cut)

    def attention(self, module, x, late):
        q, k, v = (self.linear(f"{module}.{n}", x) for n in "qkv")
        heads = [t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in (q, k, v)]
        scale = (HIDDEN // HEADS) ** -0.5
        allow = torch.ones(SEQ, SEQ).tril(1 if late else 0).bool()
        score = (heads[0] @ heads[1].transpose(-1, -2) * scale).masked_fill(~allow, float("-inf"))
        y = (score.softmax(-1) @ heads[2]).transpose(1, 2).flatten(2)
        y = self.r.op(f"{module}.core", "attention", y, [q, k, v],
                      {"heads": HEADS, "kv_heads": HEADS, "causal": True, "scale": scale})
        return self.linear(f"{module}.o", y)

    def mlp(self, module, x, swapped):
        gate_up = self.linear(f"{module}.gate_up", x, ("b s (gate|up)[tp]", 2, 2))
        gate, up = gate_up.chunk(2, -1)
        y = F.silu(gate) * up
        if swapped:
            wrong = F.silu(up) * gate
            y = torch.cat([halves(y, 0, 2), halves(wrong, 1, 2)], 2)
        y = self.r.op(f"{module}.act", "swiglu", y, [gate_up], cut=("b s f[tp]", 2, 1))
        return self.linear(f"{module}.down", y)

    def run(self):
        r, self.parameters = self.r, {}
        self.weight("embedding", VOCAB, HIDDEN)
        for i in (0, 1):
            for name in ("input_norm", "post_norm"):
                self.weight(f"layers.{i}.{name}", HIDDEN)
            for name in "qkvo":
                self.weight(f"layers.{i}.attn.{name}", HIDDEN, HIDDEN)
            self.weight(f"layers.{i}.mlp.gate_up", 2 * FFN, HIDDEN, cut=("(gate|up)[tp] i", 0, 2))
            self.weight(f"layers.{i}.mlp.down", HIDDEN, FFN, cut=("o i[tp]", 1, 1))
        self.weight("head", VOCAB, HIDDEN)
        ids = torch.randint(0, VOCAB, (BATCH, SEQ + 1), generator=torch.Generator().manual_seed(9))
        tokens, labels = ids[:, :-1], ids[:, 1:]
        r.add("forward", "embedding", "input", 0, tokens)
        table = self.parameters["embedding"][0]
        x = r.op("embedding", "embedding", F.embedding(tokens, table), [table])
        for i in (0, 1):
            n = f"layers.{i}"
            y = self.attention(f"{n}.attn", self.norm(f"{n}.input_norm", x), self.bugs and i == 0)
            x = r.op(f"{n}.attn.add", "add", x + y, [x, y])
            y = self.mlp(f"{n}.mlp", self.norm(f"{n}.post_norm", x), self.bugs and i == 1)
            x = r.op(f"{n}.mlp.add", "add", x + y, [x, y])
        logits = self.linear("head", x)
        r.add("loss", "loss", "input", 1, labels)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        r.op("loss", "cross_entropy", loss, [logits], {"reduction": "mean"}, phase="loss", kind="loss")
        loss.backward()
        for module, (value, cut) in self.parameters.items():
            r.add("backward", module, "grad", "weight", value.grad, cut)


def make(folder, tp=False, bugs=False):
    shutil.rmtree(folder, ignore_errors=True)
    recorder = Recorder(tp)
    Model(recorder, bugs).run()
    recorder.write(folder)


if __name__ == "__main__":
    torch.set_num_threads(1)
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "ops")
    make(os.path.join(root, "reference"))
    make(os.path.join(root, "tp2"), tp=True)
    make(os.path.join(root, "two-bugs"), tp=True, bugs=True)
