# SPDX-License-Identifier: Apache-2.0
"""Writers of the small files of the peers' cases: safetensors and native traces, NumPy alone."""
import json
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "samples"))
import write  # noqa: E402


def bf16(array):
    """Rounded to bfloat16, to nearest even, as the 16 bits that are stored."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def safetensors(path, tensors, notes=None):
    """Arrays of 16 bits are bfloat16."""
    arrays = {name: np.asarray(array) for name, array in tensors.items()}
    bf16_or_as_is = {name: write.bf16_codes(a) if a.dtype == np.uint16 else a for name, a in arrays.items()}
    write.safetensors(path, bf16_or_as_is, notes)


def record(phase, module, kind, array, slot=0, **more):
    return {"phase": phase, "module": module, "kind": kind, "slot": slot, **more}, array


def trace(folder, ranks, mesh=None, step=1):
    """`ranks`: for each rank its list of records in the order of execution."""
    mesh = mesh or {}
    axes = list(mesh)
    where, run = [], {"ttcheck_trace": 1, "world_size": len(ranks), "mesh": mesh}
    for rank in range(len(ranks)):
        place = {}
        for axis in reversed(axes):
            rank, place[axis] = divmod(rank, mesh[axis])
        where.append({axis: place[axis] for axis in axes})
    run["ranks"] = where
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump(run, file, indent=1)
        file.write("\n")
    for rank, records in enumerate(ranks):
        tensors, notes = {}, {"ttcheck_trace": "1"}
        for seq, (fields, array) in enumerate(records):
            key = f"{seq}/{fields['module']}/{fields['kind']}.{fields['slot']}"
            tensors[key] = array
            notes[key] = json.dumps({"seq": seq, **fields})
        safetensors(f"{folder}/step-{step:06}/rank-{rank:05}.safetensors", tensors, notes)
