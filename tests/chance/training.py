# SPDX-License-Identifier: Apache-2.0
"""One attention layer whose keys have a bias, trained in NumPy, and the traces that it leaves. Softmax does not see
what all keys have in common, so the bias's gradient is round-off."""
import json
import os
import subprocess
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
from write import bf16_codes, safetensors  # noqa: E402

BATCH, TOKENS, WIDTH, RATE = 4, 8, 16, 1e-3
F = np.float32


class Dump:
    """The records of one step."""

    def __init__(self, dtype="F32", autocast=False):
        """`autocast`: parameters and their gradients stay f32."""
        self.dtype, self.autocast, self.arrays, self.records = dtype, autocast, [], []

    def add(self, phase, module, kind, slot, value, **more):
        array = np.ascontiguousarray(value, F)
        wide = self.autocast and kind in ("param", "grad", "loss")
        if self.dtype == "BF16" and not wide:  # REQUIRES values of bf16
            array = (array.view(np.uint32) >> 16).astype(np.uint16)
        self.arrays.append(array)
        self.records.append({"seq": len(self.records), "phase": phase, "module": module, "kind": kind, "slot": slot, **more})

    def write(self, folder):
        notes = {str(n): json.dumps(record) for n, record in enumerate(self.records)}
        arrays = {str(n): bf16_codes(array) if array.itemsize == 2 else array for n, array in enumerate(self.arrays)}
        safetensors(os.path.join(folder, "rank-00000.safetensors"), arrays, {"ttcheck_trace": "1", **notes})


def linear(x, weight, bias, parts):
    cut = np.split(np.arange(x.shape[-1]), parts)
    return sum((x[..., c] @ weight[:, c].T).astype(F) for c in cut) + bias


def gradients(slope, x, parts):
    slope, x = slope.reshape(-1, slope.shape[-1]), x.reshape(-1, x.shape[-1])
    cut = np.split(np.arange(len(x)), parts)
    return sum(slope[c].T @ x[c] for c in cut), sum(slope[c].sum(0, dtype=F) for c in cut)


def orthogonal(g):
    """Newton-Schulz, as Muon's reference code has it (Jordan and others, 2024)."""
    x = (g / (np.linalg.norm(g) + F(1e-7))).astype(F)
    for _ in range(5):
        y = (x @ x.T).astype(F)
        x = (F(3.4445) * x + (F(-4.775) * y + F(2.0315) * (y @ y)) @ x).astype(F)
    return x


class Optimizer:
    def __init__(self, name, params):
        self.name, self.first, self.second = name, {n: 0 * p for n, p in params.items()}, {n: 0 * p for n, p in params.items()}

    def adam(self, n, g, step):
        m, v = self.first, self.second
        m[n] = (F(.9) * m[n] + F(.1) * g).astype(F)
        v[n] = (F(.999) * v[n] + F(.001) * g * g).astype(F)
        return m[n] / F(1 - .9 ** step) / (np.sqrt(v[n] / F(1 - .999 ** step)) + F(1e-12))

    def adafactor(self, n, g, step):
        """Shazeer and Stern, 2018: rows and columns of a matrix's squares, clipped to an rms of 1."""
        v, beta, square = self.second, F(1 - step ** -.8), (g * g + F(1e-30)).astype(F)
        v[n] = (beta * v[n] + (1 - beta) * square).astype(F)
        size = v[n] if g.ndim < 2 else v[n].mean(1, keepdims=True) * v[n].mean(0, keepdims=True) / v[n].mean()
        way = (g / np.sqrt(size)).astype(F)
        return way / np.maximum(F(1), np.sqrt((way * way).mean(dtype=F)))

    def way(self, n, g, step):
        m, v = self.first, self.second
        if self.name == "adam" or (self.name == "muon" and g.ndim < 2):
            return self.adam(n, g, step)
        if self.name in ("sgd", "muon"):
            m[n] = (F(.9) * m[n] + g).astype(F)
            return orthogonal(m[n]) if self.name == "muon" else m[n]
        if self.name == "lion":
            way = np.sign(F(.9) * m[n] + F(.1) * g)
            m[n] = (F(.99) * m[n] + F(.01) * g).astype(F)
            return way
        if self.name == "adafactor":
            return self.adafactor(n, g, step)
        v[n] = (F(.99) * v[n] + F(.01) * g * g).astype(F)
        return g / (np.sqrt(v[n]) + F(1e-12))

    def update(self, n, p, g, step):
        return (p - F(RATE) * self.way(n, g, step)).astype(F)


def train(folder, parts=1, dumps=(1, 2), optimizer="adam", owner=False, wrong=None, zero=False, moved=0, states=False):
    """`wrong`: what gets into gradients, by name, of a step's gradients; `zero`: biases begin so; `moved`: by how
    much somebody moves the keys' bias in front of the last step; `states`: every step records what it finds."""
    draw = np.random.default_rng(3)
    params = {}
    for m in "qkvo":
        params[f"attn.{m}.weight"] = (draw.standard_normal((WIDTH, WIDTH)) * WIDTH ** -0.5).astype(F)
        params[f"attn.{m}.bias"] = (draw.standard_normal(WIDTH) * (0 if zero else 0.1)).astype(F)
    how = Optimizer(optimizer, params)
    for step in range(1, max(dumps) + 1):
        dump = Dump()

        def every(phase, kind, values):
            for i, name in enumerate(params):
                module, slot = name.rsplit(".", 1)
                if owner and kind == "main_grad":
                    dump.add(phase, "ddp", kind, i, values[name], owner=name)
                else:
                    dump.add(phase, module, kind, slot, values[name])

        if step == max(dumps):
            params["attn.k.bias"] = params["attn.k.bias"] + F(moved)
        if step == dumps[0] or states:
            every("state", "param", params)
        x, target = (draw.standard_normal((BATCH, TOKENS, WIDTH)).astype(F) for _ in "xt")
        q, k, v = (linear(x, params[f"attn.{m}.weight"], params[f"attn.{m}.bias"], parts) for m in "qkv")
        for m, value in zip("qkv", (q, k, v)):
            dump.add("forward", f"attn.{m}", "output", 0, value)
        scale = F(WIDTH ** -0.5)
        scores = q @ k.transpose(0, 2, 1) * scale
        weights = np.exp(scores - scores.max(-1, keepdims=True)).astype(F)
        weights /= weights.sum(-1, keepdims=True, dtype=F)
        core = (weights @ v).astype(F)
        dump.add("forward", "attn.core", "output", 0, core)
        y = linear(core, params["attn.o.weight"], params["attn.o.bias"], parts)
        dump.add("forward", "attn.o", "output", 0, y)
        dump.add("loss", "loss", "loss", 0, np.mean((y - target) ** 2, dtype=F).reshape(()))
        slope = ((y - target) * F(2 / y.size)).astype(F)
        of_core = (slope @ params["attn.o.weight"]).astype(F)
        of_weights = (of_core @ v.transpose(0, 2, 1)).astype(F)
        of_scores = (weights * (of_weights - (of_weights * weights).sum(-1, keepdims=True, dtype=F))).astype(F) * scale
        slopes = {"q": of_scores @ k, "k": of_scores.transpose(0, 2, 1) @ q, "v": weights.transpose(0, 2, 1) @ of_core,
                  "o": slope}
        grads = {}
        for m in "qkvo":
            grads[f"attn.{m}.weight"], grads[f"attn.{m}.bias"] = gradients(slopes[m].astype(F), core if m == "o" else x, parts)
        if wrong:
            wrong(grads)
        every("sync" if owner else "backward", "main_grad" if owner else "grad", grads)
        for name in params:
            params[name] = how.update(name, params[name], grads[name], step)
        every("optimizer", "param", params)
        if step in dumps:
            dump.write(os.path.join(folder, f"step-{step:06d}"))
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump({"ttcheck_trace": 1, "run": "r", "world_size": 1, "mesh": {}, "ranks": [{}],
                   "optimizer": {"name": optimizer, "lr": RATE, "betas": [0.9, 0.999], "momentum": 0.9 if optimizer == "sgd" else 0}}, file)


def told(program, command, sides, *words):
    got = subprocess.run([program, command, *sides, "--json", "--threads", "1", *words], capture_output=True)
    return json.loads(got.stdout)


def said(program, *sides):
    """The verdict of a diff, the tensor that differs first, and the rules by which something is noise."""
    report = told(program, "diff", sides)
    rules = {(one.get("allowance") or {}).get("rule") for one in report["tensors"]}
    return report["verdict"], (report["first"] or {}).get("tensor"), rules
