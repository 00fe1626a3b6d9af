# SPDX-License-Identifier: Apache-2.0
"""One rank's records of a step, written as ttcheck's native trace (safetensors, encoded by hand)."""
import json
import os
import struct

import numpy as np


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
        path = os.path.join(self.folder, f"step-{self.step:06d}", f"rank-{self.rank:05d}.safetensors")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        header, data, at = {"__metadata__": {"ttcheck_trace": "1"}}, [], 0
        for record, dtype, shape, raw in self.records:
            key = f"{record['seq']:05d}/{record['module']}/{record['kind']}.{record['slot']}"
            header["__metadata__"][key] = json.dumps(record)
            header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(raw)]}
            data.append(raw)
            at += len(raw)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


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
