# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/msprobe, samples/msprobe/, samples/msprobe-ops/, samples/msprobe-update/ and
samples/msprobe-steps/: dumps that msprobe's PrecisionDebugger wrote on a CPU.

    python samples/make_msprobe.py [FOLDER]      (torch, mindstudio-probe)
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
if len(sys.argv) > 1 and sys.argv[1] != "--run":
    FOLDER = sys.argv[1]


def config(task, level, mode=None, data="all"):
    settings = {"scope": [], "list": [], "data_mode": [data]}
    if mode:
        settings["summary_mode"] = mode
    return {"task": task, "level": level, "rank": [], "step": [], task: settings}


def run_ops(folder, settings, what):
    """A step of a small transformer. `kernel`: silu computes something else than it says; `eps`: the
    first norm states another eps."""
    import torch
    from torch.nn import functional as F

    if what == "kernel":
        right = F.silu
        F.silu = lambda x, inplace=False: right(x * 1.03)
    from msprobe.pytorch import PrecisionDebugger

    path = os.path.join(folder, "config.json")
    with open(path, "w") as f:
        json.dump({**settings, "dump_path": os.path.join(folder, "dump")}, f)
    torch.manual_seed(7)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(11, 8)
            self.norm = torch.nn.LayerNorm(8, eps=0.3 if what == "eps" else 1e-5)
            self.qkv, self.up = torch.nn.Linear(8, 24), torch.nn.Linear(8, 16, bias=False)
            self.down, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 11)

        def forward(self, ids, labels):
            x = self.embedding(ids)
            h = self.qkv(self.norm(x))
            q, k, v = (part.view(2, 5, 2, 4).transpose(1, 2) for part in h.chunk(3, -1))
            h = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + h.transpose(1, 2).reshape(2, 5, 8)
            gate, up = self.up(F.rms_norm(x, (8,), eps=1e-6)).chunk(2, -1)
            x = F.gelu(x + self.down(F.silu(gate) * up))
            weights = torch.softmax(torch.matmul(x, x.transpose(-1, -2)) / 2.0, dim=-1)
            x = torch.bmm(weights, x) - 0.5
            return F.cross_entropy(self.head(x).view(-1, 11), labels.view(-1))

    model = Model()
    debugger = PrecisionDebugger(config_path=path)
    ids, labels = torch.randint(0, 11, (2, 5)), torch.randint(0, 11, (2, 5))
    debugger.start(model=model)
    model(ids, labels).backward()
    debugger.stop()
    debugger.step()


def run_update(folder, settings, what):
    """A step of attention, the optimizer's too, whose keys have a bias: the softmax does not see it. `kernel` and
    `gelu` attend with another kernel, `gelu` also computes another activation in the last step."""
    import torch
    from msprobe.pytorch import PrecisionDebugger
    from torch.nn import functional as F

    path = os.path.join(folder, "config.json")
    with open(path, "w") as f:
        json.dump({**settings, "dump_path": os.path.join(folder, "dump")}, f)
    torch.manual_seed(5)
    torch.set_num_threads(1)
    name, dtype, steps = what.split("-")
    last = False

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.LayerNorm(8)
            self.q, self.k, self.v, self.o = (torch.nn.Linear(8, 8, bias=n == 1) for n in range(4))

        def forward(self, x):
            y = self.norm(x)
            q, k, v = (m(y).view(2, 6, 2, 4).transpose(1, 2) for m in (self.q, self.k, self.v))
            if name == "reference":
                scores = torch.matmul(q, k.transpose(-1, -2)) / 2.0
                scores = scores.masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), float("-inf"))
                y = torch.matmul(torch.softmax(scores, -1), v)
            else:
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = self.o(y.transpose(1, 2).reshape(2, 6, 8))
            return x + (F.relu(y) if name == "gelu" and last else F.gelu(y))

    model = torch.nn.Sequential(Attention(), Attention()).to(getattr(torch, dtype))
    x = torch.randn(2, 6, 8).to(getattr(torch, dtype))
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    debugger = PrecisionDebugger(config_path=path)
    for step in range(int(steps)):
        last = step + 1 == int(steps)
        debugger.start(model=model)
        model(x).square().mean().backward()
        adam.step()
        adam.zero_grad()
        debugger.stop()
        debugger.step()


def run(folder, settings, what):
    """One process of its own: msprobe keeps its state in modules."""
    import torch
    from msprobe.pytorch import PrecisionDebugger

    path = os.path.join(folder, "config.json")
    with open(path, "w") as f:
        json.dump({**settings, "dump_path": os.path.join(folder, "dump")}, f)
    torch.manual_seed(3)

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(4, 6), torch.nn.Linear(6, 4)

        def forward(self, x):
            y = self.up(x)
            if what == "inserted":
                y = y + 0.0  # one more addition: the ones behind it get other numbers
            y = torch.nn.functional.silu(y) + (0.01 if what == "wrong" else 0.001)
            return x + self.down(y)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    model = torch.nn.Linear(2, 3) if what == "tiny" else Model()
    if what == "tiny":
        model = torch.nn.Sequential(model)
    debugger = PrecisionDebugger(config_path=path)
    x = torch.randn(3, 2 if what == "tiny" else 4)
    for _ in range(1 if what == "tiny" else 2):
        debugger.start(model=model)
        loss = model(x).square().sum()
        if what != "tiny":
            loss.backward()
        debugger.stop()
        debugger.step()


def dump(target, settings, what):
    folder = tempfile.mkdtemp()
    subprocess.run([sys.executable, __file__, "--run", folder, json.dumps(settings), what], check=True)
    out = os.path.join(FOLDER, target)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(os.path.dirname(out), exist_ok=True)
    shutil.move(os.path.join(folder, "dump"), out)
    for step in glob.glob(os.path.join(out, "step*")):
        rank, = os.listdir(step)
        os.rename(os.path.join(step, rank), os.path.join(step, "proc1000"))
        path = os.path.join(step, "proc1000", "dump.json")
        text = open(path).read().replace(folder, "/tmp").replace(rank, "proc1000")
        open(path, "w").write(text)
        path = os.path.join(step, "proc1000", "stack.json")
        text = re.sub(r'File (\\?"?)/[^ ,"\\]*/', r"File \1", open(path).read())
        open(path, "w").write(text)


if len(sys.argv) > 1 and sys.argv[1] == "--run":
    what = sys.argv[4]
    kind, _, rest = what.partition("-")
    one = {"ops": run_ops, "update": run_update}.get(kind, run)
    one(sys.argv[2], json.loads(sys.argv[3]), rest or what)
else:
    dump("small/msprobe", config("tensor", "L0", data="forward"), "tiny")
    for kind in ("reference", "inserted", "wrong"):
        dump("msprobe/" + kind, config("statistics", "mix", "md5"), kind)
    for kind in ("reference", "kernel"):
        dump("msprobe-ops/" + kind, config("tensor", "L1"), "ops-" + kind)
    for kind in ("reference", "eps"):
        dump("msprobe-ops/statistics-" + kind, config("statistics", "L1"), "ops-" + kind)
    for kind in ("reference", "kernel", "gelu"):
        dump("msprobe-update/" + kind, config("statistics", "L1", "statistics"), f"update-{kind}-float32-1")
    for kind in ("reference", "kernel"):
        settings = config("tensor", "L1")
        settings["tensor"]["list"] = ["addcdiv_"]
        dump("msprobe-update/bf16-" + kind, settings, f"update-{kind}-bfloat16-1")
    for name, task, level, steps in (
        ("L0", "statistics", "L0", 3),
        ("tensors", "tensor", "L0", 2),
        ("mix", "statistics", "mix", 2),
    ):
        for kind in ("reference", "kernel", "gelu"):
            if kind != "gelu" or name == "L0":
                dump(f"msprobe-steps/{name}-{kind}", config(task, level), f"update-{kind}-float32-{steps}")
