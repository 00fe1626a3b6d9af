# SPDX-License-Identifier: Apache-2.0
"""One rank's records of a step, written as ttcheck's native trace (safetensors)."""
import json
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
from write import safetensors  # noqa: E402


class Recorder:
    def __init__(self, folder, rank):
        self.folder, self.rank = folder, rank
        self.records, self.events = [], []

    def begin(self, step):
        self.step, self.records = step, []

    def add(self, phase, name, value, dims=None, dtype=None, microbatch=0, **fields):
        """`name`: module/kind.slot; `dtype`: "bf16" for values on its grid."""
        module, slot = name.rsplit("/", 1)
        kind, slot = slot.split(".", 1)
        record = {"seq": len(self.records), "phase": phase, "module": module, "kind": kind, "slot": slot, "microbatch": microbatch}
        if dims:
            record["dims"] = dims
        record.update({key: field for key, field in fields.items() if field})
        self.records.append((record, *encode(np.array(value), dtype)))

    def event(self, name, value):
        self.events.append({"step": self.step, "rank": self.rank, "name": name, "value": value})

    def end(self):
        notes, tensors = {"ttcheck_trace": "1"}, {}
        for record, *tensor in self.records:
            key = f"{record['seq']:05d}/{record['module']}/{record['kind']}.{record['slot']}"
            notes[key], tensors[key] = json.dumps(record), tuple(tensor)
        step = os.path.join(self.folder, f"step-{self.step:06d}")
        safetensors(os.path.join(step, f"rank-{self.rank:05d}.safetensors"), tensors, notes)


def encode(value, dtype):
    if value.dtype.kind == "i":
        return "I64", list(value.shape), value.astype("<i8").tobytes()
    flat = np.ascontiguousarray(value, "<f4").reshape(-1)
    if dtype == "bf16":
        return "BF16", list(value.shape), (flat.view("<u4") >> 16).astype("<u2").tobytes()
    return "F32", list(value.shape), flat.tobytes()


def write_run(folder, facts, recorders):
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump({"ttcheck_trace": 1, **facts}, file, indent=1)
    events = sorted((e for r in recorders for e in r.events), key=lambda e: (e["step"], e["rank"]))
    with open(os.path.join(folder, "events.jsonl"), "w") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)
