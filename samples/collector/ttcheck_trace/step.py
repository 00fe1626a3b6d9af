# SPDX-License-Identifier: Apache-2.0
"""One step of one rank while it is recorded: its records in their order, and which tensor is which."""
import fnmatch

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import values
from .layout import DTensor, axes_of_dims, dims_of, local_of

PER_MICROBATCH = ("forward", "loss", "backward", "comm")


class Known:
    """A tensor that was recorded and may be met again as somebody's input: itself, or another name for its memory."""

    def __init__(self, local, name, axes, stored):
        self.storage, self.name, self.axes, self.stored = StorageWeakRef(local.untyped_storage()), name, axes, stored

    def is_still(self, local):
        """Whether its memory was neither freed nor written to since."""
        return not self.storage.expired() and self.holds(local)

    def holds(self, local):
        """Whether its values are these."""
        record, value = self.stored
        if value.dtype != local.dtype:
            return False
        if "hash" in record:
            return values.hash_of(values.copied(local)) == record["hash"]
        return torch.equal(local.cpu(), value) if not torch.isnan(value).any() else False


def place_of(local):
    """Where a tensor's elements lie."""
    return local.data_ptr(), local.dtype, tuple(local.shape), tuple(local.stride())


class Scalar:
    """A number that gradients flow through, as a loss that the model itself makes: one for each micro-batch. What arrives
    at it says how these make the step's: 1 for each where they are added up, shares of 1 where their mean is meant."""

    def __init__(self):
        self.outputs, self.gradients, self.weights = [], [], []

    def state(self, step):
        added = len(self.weights) > 1 and all(weight == 1 for weight in self.weights)
        for index in self.outputs:
            step.set_notes(index, "mb:partial" if added else "mb:partial=avg")
        for index in self.gradients:
            step.set_notes(index, "mb:replicated" if added else "mb:partial")


class Step:
    def __init__(self, number, layout, rules, whole, max_bytes=None):
        """`rules`: dims by glob of `module/kind.slot`, before all that is known; `whole(name)`: keep the bytes?"""
        self.number, self.layout, self.rules, self.whole, self.max_bytes = number, layout, rules, whole, max_bytes
        self.records, self.events, self.calls, self.known, self.at = [], [], {}, {}, {}
        self.backwards, self.forwards, self.batches, self.first_input, self.inputs, self.no_batch = 0, 0, (), (), (), set()
        self.has_gradients, self.scalars, self.batch_of = False, {}, None

    def finished(self):
        """(record, value) in their order."""
        for scalar in self.scalars.values():
            scalar.state(self)
        return [(record, value) for record, value in self.records if value is not None]

    def call_of(self, module, microbatch):
        """How often it was called before in this micro-batch."""
        calls = self.calls.get((module, microbatch), 0)
        self.calls[module, microbatch] = calls + 1
        return calls

    def add(self, phase, module, kind, slot, value, *, call=0, microbatch=0, axes=None, notes=(), **fields):
        """`axes` and `notes`: how the whole tensor is cut; of a DTensor they are its own."""
        name = f"{module}/{kind}.{slot}"
        record = {"seq": len(self.records), "phase": phase, "module": module, "kind": kind,
                  "slot": int(slot) if slot.isdecimal() else slot}
        if phase in PER_MICROBATCH:
            record["microbatch"] = microbatch
        if call:
            record["call"] = call
        axes, notes = self.placed(value, axes, notes)
        dims = self.ruled(name)
        dims = dims_of(axes, notes) if dims is None else dims
        if dims:
            record["dims"] = dims
        record.update(fields)
        self.records.append((record, None))  # its place is taken, should another thread add one
        local = local_of(value)
        fits = self.max_bytes is None or local.numel() * local.element_size() <= self.max_bytes
        stored, more = values.stored(local, fits and self.whole(name))
        self.records[record["seq"]] = ({**record, **more}, stored)
        return name

    def ruled(self, name):
        return next((dims for glob, dims in self.rules.items() if fnmatch.fnmatchcase(name, glob)), None)

    def add_scalar(self, module, slot, value, kind, **fields):
        """An output without dims, or the gradient that arrived at it."""
        scalar = self.scalars.setdefault((module, slot, fields.get("call")), Scalar())
        (scalar.outputs if kind == "output" else scalar.gradients).append(len(self.records))
        if kind != "output":
            scalar.weights.append(float(local_of(value)))
        return self.add("forward" if kind == "output" else "backward", module, kind, slot, value, **fields)

    def set_notes(self, index, of_microbatches):
        """Of a record without dims."""
        record = self.records[index][0]
        if self.ruled(f"{record['module']}/{record['kind']}.{record['slot']}") is None:
            record["dims"] = dims_of([], [*(f"{axis}:partial=avg" for axis in self.layout.data if axis != "mb"), of_microbatches])

    def placed(self, value, axes, notes):
        """The axes that cut each dim, and notes, the value's own before those that are given."""
        if isinstance(value, DTensor):
            own, partial = axes_of_dims(value, self.layout)
            given = axes or [[] for _ in own]
            return [[*more, *(axis for axis in cut if axis not in more)] for cut, more in zip(own, given)], [*notes, *partial]
        return axes or [[] for _ in value.shape], list(notes)

    def remember(self, tensor, name, axes):
        """`tensor` is what the last record holds."""
        local = local_of(tensor)
        if local.numel():
            known = self.known[place_of(local)] = Known(local, name, axes, self.records[-1])
            self.at.setdefault(tuple(local.shape), []).append(known)

    def known_as(self, tensor):
        """The record that holds this tensor as it is now; None if there is none."""
        local = local_of(tensor)
        known = self.known.get(place_of(local))
        return known if known is not None and known.is_still(local) else None

    def set_batch(self, shape):
        """Of the first input of the model: [batch, ...], or [batch, positions] of tokens."""
        self.first_input = shape
        self.batches = {shape[0], shape[0] * shape[1]} if len(shape) == 2 else set(shape[:1])

    def note_no_batch(self, tensor):
        local = local_of(tensor)
        if local.numel():
            self.no_batch.add(place_of(local))

    def are_of_no_batch(self, tensors):
        """Whether there are some, and each was seen to be none of the batch."""
        places = [place_of(local_of(one)) for one in tensors]
        return bool(places) and all(place in self.no_batch for place in places)

    def by_heads(self, tensor, module):
        """The record [batch, positions, heads x width] below `module` that a tensor [batch, heads, positions, width] is,
        seen by heads, be it a view or a copy."""
        local = local_of(tensor)
        if local.dim() != 4:
            return None
        flat = local.transpose(1, 2)
        flat = flat.reshape(*flat.shape[:2], -1)
        for known in reversed(self.at.get(tuple(flat.shape), ())[-8:]):
            if known.name.startswith(module) and known.holds(flat):
                return known
        return None
