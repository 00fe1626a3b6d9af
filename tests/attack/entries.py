# SPDX-License-Identifier: Apache-2.0
"""Honest inputs of n entries, one for each way in which a reader meets many of them."""
import json
import os
import struct
import zipfile

from opcodes import archive, place, row, table, tensor


def safetensors(path, names, about=None):
    header = {"__metadata__": about} if about else {}
    for k, name in enumerate(names):
        header[name] = {"dtype": "F32", "shape": [1], "data_offsets": [4 * k, 4 * k + 4]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + bytes(4 * len(names)))


def npy():
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(4)


def weights(n):
    return [f"model.layers.{k // 8}.mlp.experts.{k % 8}.up_proj.weight" for k in range(n)]


def write(folder, name, value):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(value if isinstance(value, str) else json.dumps(value))


def tensors(folder, n):
    """safetensors: tensors."""
    safetensors(os.path.join(folder, "state.safetensors"), weights(n))


def index(folder, n):
    """hf: an index, and shards of four tensors each."""
    names, shards = weights(n), -(-n // 4)
    shard_of = {name: f"model-{k // 4 + 1:05d}-of-{shards:05d}.safetensors" for k, name in enumerate(names)}
    for k in range(shards):
        safetensors(os.path.join(folder, f"model-{k + 1:05d}-of-{shards:05d}.safetensors"), names[4 * k:4 * k + 4])
    write(folder, "model.safetensors.index.json", {"weight_map": shard_of})
    write(folder, "config.json", {"model_type": "llama", **{f"key_{k}": k for k in range(n)}})


def members(folder, n):
    """npz: members."""
    with zipfile.ZipFile(os.path.join(folder, "arrays.npz"), "w") as out:
        for name in weights(n):
            out.writestr(f"{name}.npy", npy())


def state(folder, n):
    """torch: a state dict."""
    def pairs(out):
        for k, name in enumerate(weights(n)):
            out.text(name)
            row(out, k, 1, n)
    archive(os.path.join(folder, "state.pt"), lambda out: out.dict(lambda: pairs(out)), n)


def chunks(folder, n):
    """dcp: tensors of a table, each with its place."""
    names = weights(n)

    def places(out):
        for k, name in enumerate(names):
            def key():
                out.text("fqn")
                out.text(name)
                out.text("offset")
                out.numbers([0])
            out.made("torch.distributed.checkpoint.metadata", "MetadataIndex", key)
            place(out, 16 * k)
    table(folder, lambda out: [tensor(out, name, [4]) for name in names], places, 16 * n)


def records(folder, n):
    """ttcheck-trace: records of a step, and events."""
    names = [f"{k:05d}/layers.{k}/output.0" for k in range(n)]
    about = {name: json.dumps({"seq": k, "phase": "forward", "module": f"layers.{k}", "kind": "output", "slot": 0})
             for k, name in enumerate(names)}
    write(folder, "run.json", {"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}]})
    os.makedirs(os.path.join(folder, "step-000001"))
    safetensors(os.path.join(folder, "step-000001", "rank-00000.safetensors"), names, {"ttcheck_trace": "1", **about})
    write(folder, "events.jsonl", "".join(json.dumps({"step": 1, "rank": 0, "name": f"scalar.{k}", "value": k}) + "\n"
                                          for k in range(n)))


def operations(folder, n):
    """msprobe: operations of dump.json."""
    one = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": 1, "Min": 0, "Mean": 0.5, "Norm": 1}
    data = {f"Module.layers.{k}.Linear.forward.0": {"input_args": [one], "input_kwargs": {}, "output": [one]} for k in range(n)}
    write(folder, "step0/rank0/dump.json",
          {"task": "statistics", "level": "L0", "framework": "pytorch", "dump_data_dir": None, "data": data})
    write(folder, "step0/rank0/construct.json", dict.fromkeys(data))


def lines(folder, n):
    """debugmode: operations of a log."""
    line = "      aten::mm(t: f32[4, 4], t: f32[4, 4])  ->  t: f32[4, 4]  # {'input_hash': (((1.5, 3), (2.5, 7)), {}), 'hash': (3.5, 9)}\n"
    write(folder, "rank-00000.txt", "    [nn.Mod] Tiny\n" + "".join(f"      [nn.Mod] Tiny.layers.{k}\n  " + line for k in range(n)))


def calls(folder, n):
    """hf-debug: modules of a call tree."""
    def value():
        return {"shape": "torch.Size([4])", "dtype": "torch.float32", "mean": "tensor(0.5)", "std": "tensor(1.)",
                "min": "tensor(0.)", "max": "tensor(1.)"}
    children = [{"module_path": f"Tiny.layers.{k}", "inputs": {"args": [value()]}, "outputs": value()} for k in range(n)]
    write(folder, "Tiny_debug_tree_SUMMARY.json", {"module_path": "Tiny", "inputs": {"args": [value()]}, "children": children,
                                                   "outputs": value()})


def files(folder, n):
    """folder: files of one array each."""
    for name in weights(n):
        with open(os.path.join(folder, f"{name}.npy"), "wb") as out:
            out.write(npy())


def steps(folder, n):
    """series: steps."""
    for k in range(n):
        safetensors(os.path.join(folder, f"step-{k}.safetensors"), ["w"])


ENTRIES = {tensors: 200, index: 40, members: 100, state: 100, chunks: 100, records: 80, operations: 80, lines: 200, calls: 200,
           files: 25, steps: 25}
