# SPDX-License-Identifier: Apache-2.0
"""The files of a trace, version 1 (ttcheck-trace.5): run.json, events.jsonl and one file for each step and rank.

A rank's file appears whole or not at all: it is written under another name and renamed.
"""
import json
import os

import torch

FORMAT_VERSION = 1

# Dtypes that HDF5 lacks, the integers that hold their bits, and the word of the format.
BITS = {torch.bfloat16: (torch.uint16, "bfloat16"), torch.float8_e4m3fn: (torch.uint8, "float8_e4m3fn"),
        torch.float8_e5m2: (torch.uint8, "float8_e5m2")}


def key_of(record):
    return "{seq:05d}/{module}/{kind}.{slot}".format(**record)


def write_safetensors(path, records):
    from safetensors.torch import save_file
    tensors, metadata = {}, {"ttcheck_trace": str(FORMAT_VERSION)}
    for record, value in records:
        key = key_of(record)
        tensors[key], metadata[key] = value, json.dumps(record, separators=(",", ":"))
    save_file(tensors, path, metadata)


def write_hdf5(path, records):
    import h5py
    with h5py.File(path, "w") as file:
        for record, value in records:
            if value.dtype in BITS:
                bits, word = BITS[value.dtype]
                record, value = {**record, "dtype": word}, value.view(bits)
            text = json.dumps(record, separators=(",", ":"))
            file.create_dataset(key_of(record), data=value.numpy()).attrs["ttcheck"] = text


WRITERS = {"safetensors": write_safetensors, "h5": write_hdf5}


def write_step(folder, step, rank, records, encoding):
    """The whole file of a rank, or none."""
    where = os.path.join(folder, f"step-{step:06d}")
    os.makedirs(where, exist_ok=True)
    path = os.path.join(where, f"rank-{rank:05d}.{encoding}")
    written = f"{path}.part"
    try:
        WRITERS[encoding](written, records)
        os.replace(written, path)
    except BaseException:
        if os.path.exists(written):
            os.remove(written)
        raise


def write_run(folder, facts):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump({"ttcheck_trace": FORMAT_VERSION, **facts}, file, indent=1)
        file.write("\n")


def add_events(folder, step, rank, events):
    """Appends a line for each event; lines of several ranks may mix."""
    if not events:
        return
    lines = [json.dumps({"step": step, "rank": rank, "name": name, "value": value}) + "\n" for name, value in events]
    with open(os.path.join(folder, "events.jsonl"), "a", encoding="utf-8") as file:
        file.write("".join(lines))
