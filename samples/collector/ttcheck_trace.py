# SPDX-License-Identifier: Apache-2.0
"""Writes a native ttcheck trace from a PyTorch training script. Needs torch, and safetensors or h5py.

    from ttcheck_trace import Trace

    trace = Trace("run_a", model, rank=rank, mesh={"tp": 2}, coordinates={"tp": rank},
                  dims={"layers.*.mlp.up_proj/output.*": "b s f[tp]"})
    for step, batch in enumerate(batches):
        with trace.step(step):
            loss = loss_function(model(batch.tokens), batch.labels)
            trace.loss(loss)
            loss.backward()
            reduce_gradients()          # whatever the run does
            trace.gradients()           # what the optimizer will see
            optimizer.step()

Recorded: parameters at the start of the step, the output of every module, the gradient that arrives
at every module's output, the loss, and the gradients of the parameters. `dims` maps
`<module>/<kind>.<slot>` globs to placements (`h[tp]`: this dim is sharded over tp); what no glob
matches is whole and replicated. `rename` turns a rank's module path into the global one (pipeline
stages and experts count their layers from zero). `microbatch` may be set between micro-batches.
"""
import contextlib
import fnmatch
import json
import os

import torch

FORMAT_VERSION = 1


class Trace:
    def __init__(self, folder, model, rank=0, mesh=None, coordinates=None, dims=None, facts=None,
                 world_size=1, ranks=None, encoding="safetensors", rename=lambda path: path):
        """`ranks`: the coordinates of every rank, in order; needed on rank 0 of a parallel run."""
        self.folder, self.model, self.rank = folder, model, rank
        self.dims, self.encoding, self.rename = dims or {}, encoding, rename
        self.microbatch, self.records, self.calls, self.active = 0, [], {}, False
        os.makedirs(folder, exist_ok=True)
        if rank == 0:
            ranks = ranks or [coordinates or {}]
            run = {"ttcheck_trace": FORMAT_VERSION, "world_size": world_size, "mesh": mesh or {},
                   "ranks": ranks, "framework": f"torch {torch.__version__}", **(facts or {})}
            with open(os.path.join(folder, "run.json"), "w") as file:
                json.dump(run, file, indent=1)
                file.write("\n")
        for path, module in model.named_modules():
            if path:
                module.register_forward_hook(self._hook(path))

    def _hook(self, path):
        def forward(module, inputs, output):
            if not self.active:
                return
            outputs = output if isinstance(output, (tuple, list)) else (output,)
            call = self.calls.get((path, self.microbatch), 0)
            self.calls[path, self.microbatch] = call + 1
            for slot, value in enumerate(outputs):
                if not isinstance(value, torch.Tensor):
                    continue
                self.add("forward", path, "output", slot, value, call)
                if value.requires_grad:
                    value.register_hook(self._arrived(path, slot, call, self.microbatch))
        return forward

    def _arrived(self, path, slot, call, microbatch):
        def backward(gradient):
            if self.active:
                self.add("backward", path, "grad_output", slot, gradient, call, microbatch)
        return backward

    def add(self, phase, path, kind, slot, value, call=0, microbatch=None):
        """One record; `value` is copied, so the run may go on writing into it."""
        module = self.rename(path)
        record = {"seq": len(self.records), "phase": phase, "module": module, "kind": kind,
                  "slot": slot}
        if phase in ("forward", "loss", "backward"):
            record["microbatch"] = self.microbatch if microbatch is None else microbatch
        if call:
            record["call"] = call
        name = f"{module}/{kind}.{slot}"
        for pattern, dims in self.dims.items():
            if fnmatch.fnmatchcase(name, pattern):
                record["dims"] = dims
                break
        self.records.append((record, value.detach().cpu().contiguous().clone()))

    def loss(self, value):
        self.add("loss", "loss", "loss", 0, value)

    def gradients(self):
        for path, parameter in self.model.named_parameters():
            if parameter.grad is not None:
                module, _, slot = path.rpartition(".")
                self.add("sync", module, "main_grad", slot, parameter.grad)

    @contextlib.contextmanager
    def step(self, number):
        self.records, self.calls, self.active = [], {}, True
        for path, parameter in self.model.named_parameters():
            module, _, slot = path.rpartition(".")
            self.add("state", module, "param", slot, parameter)
        yield self
        self.active = False
        folder = os.path.join(self.folder, f"step-{number:06d}")
        os.makedirs(folder, exist_ok=True)
        write = {"safetensors": write_safetensors, "h5": write_hdf5}[self.encoding]
        write(os.path.join(folder, f"rank-{self.rank:05d}.{self.encoding}"), self.records)


def keyed(records):
    for record, value in records:
        key = "{seq:05d}/{module}/{kind}.{slot}".format(**record)
        yield key, json.dumps(record, separators=(",", ":")), value


def write_safetensors(path, records):
    from safetensors.torch import save_file
    tensors, metadata = {}, {"ttcheck_trace": str(FORMAT_VERSION)}
    for key, record, value in keyed(records):
        tensors[key], metadata[key] = value, record
    save_file(tensors, path, metadata)


BITS = {torch.bfloat16: (torch.uint16, "bfloat16"), torch.float8_e4m3fn: (torch.uint8, "float8_e4m3fn"),
        torch.float8_e5m2: (torch.uint8, "float8_e5m2")}


def write_hdf5(path, records):
    import h5py
    with h5py.File(path, "w") as file:
        for record, value in records:
            if value.dtype in BITS:
                bits, record["dtype"] = BITS[value.dtype]
                value = value.view(bits)
            key, text, _ = next(keyed([(record, value)]))
            file.create_dataset(key, data=value.numpy()).attrs["ttcheck"] = text
