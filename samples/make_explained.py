# SPDX-License-Identifier: Apache-2.0
"""Makes samples/explained: faults planted with NumPy, one a tensor, and what an explanation should find.

    python samples/make_explained.py [FOLDER]      (numpy)

`reference.safetensors` and `candidate.safetensors`: a checkpoint. `trace/reference` (one rank) and `trace/tp2`: a trace of
tensor-parallel training. `expected.json`: per tensor the residual that its explanation leaves, |left| / |reference|, in fp64.
"""
import json
import os
import sys

import numpy as np

from write import safetensors

RNG = np.random.default_rng(23)
F32 = np.float32


def normal(*shape):
    return RNG.standard_normal(shape).astype(F32)


def left(corrected, reference):
    """What a right explanation leaves."""
    difference = corrected.astype(np.float64) - reference.astype(np.float64)
    return float(np.linalg.norm(difference) / np.linalg.norm(reference.astype(np.float64)))


def checkpoint(folder):
    a = {f"same.{i}.weight": normal(2) for i in range(16)}
    b, expected = dict(a), {}

    def plant(name, reference, candidate, corrected):
        a[name], b[name] = reference, np.ascontiguousarray(candidate, dtype=F32)
        if corrected is not None:
            expected[name] = left(corrected, reference)

    w = normal(24)
    less = w - F32(1)
    plant("norm.weight", w, less, less - np.mean(less.astype(np.float64) - w))
    w = normal(6, 10)
    plant("scaled.weight", w, w * F32(0.25), w)
    w = normal(6, 10)
    noisy = w * F32(0.3)
    k = np.sum(noisy.astype(np.float64) * w) / np.sum(w.astype(np.float64) ** 2)
    plant("rescaled.weight", w, noisy, None)
    expected["rescaled.weight"] = left(k * w.astype(np.float64), noisy)  # over the candidate's norm
    w = normal(6, 10)
    flipped = w.copy()
    flipped.view(np.uint32)[3, 7] ^= 1 << 29
    plant("flipped.weight", w, flipped, w)
    w = normal(16, 20)
    tile = w.copy()
    tile[4:8, 8:12] += 3
    plant("tile.weight", w, tile, w)
    w = normal(16, 20)
    chunk = w.copy()
    chunk.reshape(-1)[47:90] = 0
    plant("chunk.weight", w, chunk, w)
    w = normal(12, 8)
    rows = w.copy()
    rows[[2, 3, 9]] += normal(3, 8)
    plant("rows.weight", w, rows, w)
    w = normal(24, 8)
    plant("attention.qkv.weight", w, w.reshape(3, 4, 2, 8).swapaxes(0, 1).reshape(24, 8), w)
    w = normal(16, 8)
    plant("attention.q_proj.weight", w, w.reshape(2, 2, 4, 8).swapaxes(1, 2).reshape(16, 8), w)
    w = normal(12, 8)
    plant("mlp.gate_up.weight", w, np.concatenate([w[6:], w[:6]]), w)
    w = normal(8, 8)
    plant("square.weight", w, w.T, w)
    w = normal(16, 4)
    plant("positions.weight", w, np.roll(w, 3, 0), w)
    w = normal(10, 8)
    coarse = (w.view(np.uint32) + 0x8000 & 0xFFFF0000).view(F32)
    plant("coarse.weight", w, coarse, w)
    one, two = normal(5, 6), normal(5, 6)
    plant("layers.0.weight", one, two, one)
    plant("layers.1.weight", two, one, two)
    safetensors(os.path.join(folder, "reference.safetensors"), a)
    safetensors(os.path.join(folder, "candidate.safetensors"), b)
    return expected


def trace(folder):
    """What one rank computes, and what two ranks with a fault in each record hold."""
    expected = {}
    ranks = ([], [], [])  # of the reference, then of the two ranks

    def put(rank, phase, module, kind, slot, array, **other):
        record = {"seq": len(ranks[rank]), "phase": phase, "module": module, "kind": kind, "slot": slot, **other}
        ranks[rank].append((record, np.asarray(array, order="C")))

    def add(phase, module, kind, slot, reference, parts, corrected, **other):
        put(0, phase, module, kind, slot, reference)
        for rank, part in enumerate(parts):
            put(1 + rank, phase, module, kind, slot, part, **other)
        if corrected is not None:
            expected[f"{module}/{kind}.{slot}"] = left(corrected, reference)

    weight = normal(6, 4)
    add("state", "proj", "param", "weight", weight, (weight, weight), None)
    x, y = normal(2, 5, 4), normal(2, 5, 4)
    add("forward", "embedding", "output", 0, x, (x, x), None)
    part = normal(2, 5, 4)
    add("forward", "proj", "output", 0, y, (y - part, part), (y - part) + part)
    twice = y + 2 * x
    difference = twice.astype(np.float64) - y
    k = np.sum(difference * x) / np.sum(x.astype(np.float64) ** 2)
    add("forward", "residual", "output", 0, y, (twice, twice), twice - k * x.astype(np.float64))
    labels = RNG.integers(0, 9, (4, 8))
    for row, count in enumerate((7, 5, 3, 1)):
        labels[row, count:] = -100
    tokens = labels != -100
    each = np.where(tokens, RNG.random((4, 8)), 0).astype(F32)
    total = F32(each.sum(dtype=np.float64) / tokens.sum())
    put(0, "loss", "loss", "input", 1, labels)
    put(0, "loss", "loss", "loss", 0, np.array(total))
    for rank in (1, 2):
        means = []
        for batch in range(4):
            put(rank, "loss", "loss", "input", 1, labels[batch:batch + 1], microbatch=batch, dims="b[mb] s")
            mean = F32(each[batch].sum(dtype=np.float64) / tokens[batch].sum() / 4)
            put(rank, "loss", "loss", "loss", 0, np.array(mean), microbatch=batch, dims="# mb:partial")
            means.append(np.float64(mean) * 4 * tokens[batch].sum() / tokens.sum())
    expected["loss/loss.0"] = left(np.array(sum(means)), np.array(total))
    grad = normal(6, 4)
    add("sync", "proj", "main_grad", "weight", grad, (grad / 2, grad / 2), grad)
    updated = weight - F32(0.01) * np.sign(grad)
    add("optimizer", "proj", "param", "weight", updated, (updated, weight), None)
    model = {"layers": 1, "hidden": 4}
    for name, mesh, held in (("reference", {}, ranks[:1]), ("tp2", {"tp": 2}, ranks[1:])):
        places = [{axis: rank for axis in mesh} for rank in range(len(held))]
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, "run.json"), "w") as file:
            json.dump({"ttcheck_trace": 1, "world_size": len(held), "mesh": mesh, "ranks": places, "model": model}, file)
        for rank, records in enumerate(held):
            key = lambda record: "{seq:05d}/{module}/{kind}.{slot}".format(**record)
            safetensors(os.path.join(folder, name, "step-000001", f"rank-{rank:05d}.safetensors"),
                        {key(record): array for record, array in records},
                        {"ttcheck_trace": "1", **{key(record): json.dumps(record) for record, _ in records}})
    return expected


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "explained")
    found = {**checkpoint(target), **trace(os.path.join(target, "trace"))}
    with open(os.path.join(target, "expected.json"), "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
