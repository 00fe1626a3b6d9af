# SPDX-License-Identifier: Apache-2.0
"""Makes samples/collectives: what two ranks brought to collectives and got from them, one fault each.

    python samples/make_collectives.py [FOLDER]      (numpy)

`reference` is one rank, which has no collectives; `tp2` has one in each layer. `expected.json`: per record that is wrong the ranks
that got something else and how far off it is at most, in fp64. Layers in `quiet` have collectives that are right.
"""
import json
import os
import sys

import numpy as np

from write import bf16_codes, safetensors

RNG = np.random.default_rng(105)
F32 = np.float32


def normal(*shape):
    return RNG.standard_normal(shape).astype(F32)


def bf16(x):
    """Codes of the nearest bf16 values."""
    bits = np.asarray(x, F32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def wide(codes):
    return (codes.astype(np.uint32) << 16).view(F32)


RANKS = ([], [], [])  # of the reference, then of the two ranks
EXPECTED, QUIET = {}, []


def put(rank, phase, name, array, **other):
    module, slot = name.rsplit("/", 1)
    kind, slot = slot.split(".")
    record = {"seq": len(RANKS[rank]), "phase": phase, "module": module, "kind": kind, "slot": slot, **other}
    RANKS[rank].append((record, np.asarray(array, order="C")))


def add(module, op, whole, brought, got, right, dims=("", "", ""), attrs=None, phase="forward", result="output.0", kept=None):
    """`brought`, `got`: by rank; `right`: what each should have got; `dims`: of what went in, came out and the result."""
    slot = result.split(".")[1]
    put(0, phase, f"{module}/{result}", whole)
    wrong, off = [], 0.0
    for rank in range(2):
        stated = [{"dims": text} if text else {} for text in dims]
        put(1 + rank, "comm", f"{module}/comm_in.{slot}", brought[rank], op=op, **({"attrs": attrs} if attrs else {}), **stated[0])
        put(1 + rank, "comm", f"{module}/comm_out.{slot}", got[rank], op=op, **({"attrs": attrs} if attrs else {}), **stated[1])
        put(1 + rank, phase, f"{module}/{result}", got[rank] if kept is None else kept[rank], **stated[2])
        distance = np.abs(np.asarray(got[rank], np.float64) - right[rank]).max()
        if distance > 1e-5:
            wrong.append(rank)
            off = max(off, distance)
    if wrong:
        EXPECTED[f"{module}/{result}"] = {"ranks": wrong, "off": off}
    else:
        QUIET.append(f"{module}/{result}")


def exact(*parts):
    return sum(np.asarray(part, np.float64) for part in parts)


def layers():
    x = normal(6, 8)
    for rank in range(3):
        put(rank, "state", "proj/param.weight", x)
    # A chunk of the sum did not arrive on rank 1, as its dims lines tell.
    a, b = normal(4, 6, 8), normal(4, 6, 8)
    torn = (a + b).copy()
    torn.reshape(-1)[64:128] = 0
    add("layers.0", "all_reduce", a + b, (a, b), (a + b, torn), (exact(a, b),) * 2, ("b s h # tp:partial", "b s h", "b s h"))
    # Rank 1 keeps its own addend of the part that it should get.
    a, b = normal(4, 6, 8), normal(4, 6, 8)
    parts = np.split(a + b, 2, 1)
    add("layers.1", "reduce_scatter", a + b, (a, b), (parts[0], np.split(b, 2, 1)[1]), np.split(exact(a, b), 2, 1),
        ("b s h # tp:partial", "b s[tp] h", "b s[tp] h"))
    # Both ranks put the parts together in the wrong order; no dims line, so the op's name tells.
    a, b = normal(3, 8), normal(3, 8)
    mixed = np.concatenate((b, a))
    add("layers.2", "all_gather", np.concatenate((a, b)), (a, b), (mixed, mixed), (np.concatenate((a, b)).astype(np.float64),) * 2)
    # Rank 0 gets what was meant for rank 1.
    a, b = normal(4, 8), normal(4, 8)
    meant = (np.concatenate((a[:2], b[:2])), np.concatenate((a[2:], b[2:])))
    add("layers.3", "all_to_all", np.concatenate(meant), (a, b), (meant[1], meant[1]), meant, ("", "", "t[tp] h"), {"group": "tp"})
    # Rank 1 never got what rank 0 sent.
    a, b = normal(5), normal(5)
    add("layers.4", "broadcast", a, (a, b), (a, b), (a, a), ("", "", "n"), {"root": 0})
    # The largest value is asked for, and the sum comes.
    a, b = np.abs(normal(5, 3)), np.abs(normal(5, 3))
    add("layers.5", "all_reduce", np.maximum(a, b), (a, b), (a + b, a + b), (np.maximum(a, b),) * 2, ("", "", "n h"), {"reduce": "max"})
    # The sum is right, and what went into it is wrong already.
    a, b = normal(4, 6, 8), normal(4, 6, 8)
    add("layers.6", "all_reduce", a + b, (a, -b), (a - b, a - b), (exact(a, -b),) * 2, ("b s h # tp:partial", "b s h", "b s h"))
    # A sum of bf16 addends that nearly cancel is right, and its module then doubles it.
    a = normal(4, 64)
    low, high = bf16(a), bf16(-a + 0.01 * normal(4, 64))
    sums = bf16(wide(low) + wide(high))
    put(0, "forward", "layers.7/output.0", sums)
    for rank, part in enumerate((low, high)):
        put(1 + rank, "comm", "layers.7/comm_in.0", part, op="all_reduce", dims="b h # tp:partial")
        put(1 + rank, "comm", "layers.7/comm_out.0", sums, op="all_reduce", dims="b h")
        put(1 + rank, "forward", "layers.7/output.0", bf16(2 * wide(sums)), dims="b h")
    QUIET.append("layers.7/output.0")
    # The mean of a gradient is a sum on both ranks.
    a, b = normal(6, 8), normal(6, 8)
    add("proj", "all_reduce", (a + b) / 2, (a, b), (a + b, a + b), (exact(a, b) / 2,) * 2, ("", "", "o i"), {"reduce": "avg", "group": [0, 1]},
        "sync", "main_grad.weight")


def write(folder):
    for name, mesh, held in (("reference", {}, RANKS[:1]), ("tp2", {"tp": 2}, RANKS[1:])):
        places = [{axis: rank for axis in mesh} for rank in range(len(held))]
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, "run.json"), "w") as file:
            json.dump({"ttcheck_trace": 1, "world_size": len(held), "mesh": mesh, "ranks": places}, file)
        for rank, records in enumerate(held):
            key = lambda record: "{seq:05d}/{module}/{kind}.{slot}".format(**record)
            safetensors(os.path.join(folder, name, "step-000001", f"rank-{rank:05d}.safetensors"),
                        {key(record): bf16_codes(array) if array.dtype == np.uint16 else array for record, array in records},
                        {"ttcheck_trace": "1", **{key(record): json.dumps(record) for record, _ in records}})
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump({"wrong": EXPECTED, "quiet": QUIET}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    layers()
    write(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "collectives"))
