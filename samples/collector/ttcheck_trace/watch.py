# SPDX-License-Identifier: Apache-2.0
"""Hooks on modules and on tensors: outputs, what goes into ops, and the gradients that come back.

Nothing here changes what a module computes: hooks return None, values are copied, and graphs that torch.compile
makes hold none of it, since a hook that is being compiled returns at once.
"""
import torch

from . import megatron
from .layout import DTensor, axes_of_dims
from .modules import tensors_in, watched
from .ops import attention_attrs, op_of


def is_recomputed():
    """Within backward: activation checkpointing runs a forward pass again."""
    return torch._C._current_graph_task_id() != -1


def is_scalar(value):
    """A number of its micro-batch that gradients flow through."""
    return value.dim() == 0 and value.requires_grad and not isinstance(value, DTensor)


class Watch:
    """Puts hooks on a model; what they see goes into `trace.now`, the step that is being recorded, if one is."""

    def __init__(self, trace, model, name_of):
        self.trace, self.name_of, self.root = trace, name_of, model
        self.handles, self.stack, self.raw = [], [], {}
        self.input = None  # the record that the op which is being called takes
        self.tensor_parallel = any(isinstance(p, DTensor) for p in model.parameters())
        for path, module in watched(model):
            self._attach(path, module)
        for path, parameter in model.named_parameters():
            self._attach_parameter(path, parameter)

    def forget_calls(self):
        """Those that an error left."""
        self.stack.clear()

    def detach(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def _attach(self, path, module):
        name, op = self.name_of(path), op_of(module)
        safe = self.trace.guarded
        if self.tensor_parallel:
            self.handles.append(module.register_forward_hook(safe(self._raw(path)), prepend=True))
        self.handles.append(module.register_forward_pre_hook(safe(self._before(path, name, op)), with_kwargs=True))
        self.handles.append(module.register_forward_hook(safe(self._after(path, name, op))))

    def _attach_parameter(self, path, parameter):
        if not parameter.requires_grad or self.trace.layout.is_sharded_data(parameter):
            return  # what fully_shard cuts is no part of the graph
        module, _, slot = self.name_of(path).rpartition(".")
        cut = megatron.cut_of(parameter, self.trace.layout)

        def arrived(gradient):
            step = self.trace.now
            if step is not None and gradient is not None:
                step.add("backward", module, "grad", slot, gradient, microbatch=self.trace.microbatch_of_backward(),
                         axes=cut, notes=self.trace.sums())
        self.handles.append(parameter.register_hook(self.trace.guarded(arrived)))

    def _raw(self, path):
        """How an output lies before tensor parallelism makes a local tensor of it."""
        def see(module, inputs, output):
            if torch.compiler.is_compiling():
                return
            self.raw[path] = {slot: value for slot, value in tensors_in(output) if isinstance(value, DTensor)}
        return see

    def _before(self, path, name, op):
        def enter(module, args, kwargs):
            if torch.compiler.is_compiling() or is_recomputed():
                return
            if module is self.root:
                self.stack.clear()
            if not self.stack:  # else within a call; a training step may call parts of the model alone
                self.trace.begin_forward(args, kwargs, module is self.root)
            self.stack.append(path)
            step = self.trace.now
            if step is None:
                return
            first = next((value for _, value in tensors_in((args, kwargs))), None)
            if op is not None and first is not None:
                self.input = self.input_name(step, name, 0, first)
        return enter

    def input_name(self, step, name, slot, value):
        """The record that a tensor is; where nobody put it out, it is recorded as an input of this module."""
        known = step.known_as(value)
        if known is not None:
            return known.name
        microbatch = self.trace.microbatch()
        axes, notes = self.trace.batched(value, self.axes_of(value, None, ()))
        record = step.add("forward", name, "input", str(slot), value, microbatch=microbatch, axes=axes, notes=notes,
                          call=step.calls.get((name, microbatch), 0))
        step.remember(value, record, axes)
        return record

    def _after(self, path, name, op):
        def leave(module, inputs, output):
            if torch.compiler.is_compiling():
                return
            again = is_recomputed()
            if not again and path in self.stack:
                del self.stack[self.stack.index(path):]
            if module is self.root and self.trace.end_forward():
                return
            step = self.trace.now
            if step is None or (module is self.root and not self.trace.is_last_stage()):
                return
            microbatch = self.trace.microbatch()
            call = self.trace.call_again(name) if again else step.call_of(name, microbatch)
            for slot, value in tensors_in(output):
                if isinstance(value, torch.nn.Parameter):  # which the module hands on, as a bias that is added later
                    continue
                if is_scalar(value):
                    self.scalar(step, name, slot, value, call, microbatch, again)
                    continue
                axes = (megatron.cut_of_output(module, value, self.trace.layout, self.trace.heads)
                        or self.axes_of(value, self.raw.get(path, {}).get(slot), inputs))
                axes, notes = self.trace.batched(value, axes, [one for _, one in tensors_in(inputs)])
                if not again:
                    fields = self.op_fields(step, module, name, op) if op is not None and slot == "0" else {}
                    record = step.add("forward", name, "output", slot, value, call=call, microbatch=microbatch,
                                      axes=axes, notes=notes, **fields)
                    step.remember(value, record, axes)
                self.follow(step, name, slot, value, call, axes, notes)
        return leave

    def scalar(self, step, name, slot, value, call, microbatch, again):
        """A loss that the model makes, of this micro-batch."""
        if not again:
            step.add_scalar(name, slot, value, "output", call=call, microbatch=microbatch)

        def arrived(gradient):
            if self.trace.now is step and gradient is not None:
                step.add_scalar(name, slot, gradient, "grad_output", call=call, microbatch=microbatch)
        value.register_hook(self.trace.guarded(arrived))

    def follow(self, step, name, slot, value, call, axes, notes):
        """Records the gradient that arrives at a value: of one that all micro-batches share, their parts add up."""
        if not value.requires_grad:
            return
        if "mb:replicated" in notes:
            notes = self.trace.sums()
        microbatch = self.trace.microbatch()

        def arrived(gradient):
            if self.trace.now is step and gradient is not None:
                step.add("backward", name, "grad_output", slot, gradient, call=call, microbatch=microbatch, axes=axes,
                         notes=notes)
        value.register_hook(self.trace.guarded(arrived))

    def op_fields(self, step, module, name, op):
        word, attrs, slots = op
        first, self.input = self.input, None
        if first is None:
            return {}
        taken = [f"{name}/param.{slot}" for slot in slots if getattr(module, slot, None) is not None]
        return {"op": word, "inputs": [first, *taken], **({"attrs": attrs} if attrs else {})}

    def axes_of(self, value, raw, inputs):
        """Of a local tensor: as the DTensor was that it was made of, or as an input of the same shape is cut."""
        if isinstance(value, DTensor):
            return None
        step = self.trace.now
        if raw is not None:
            cut, _ = axes_of_dims(raw, step.layout)
            names = [name for name, size in zip(step.layout.axes_of(raw.device_mesh), raw.device_mesh.shape) if size > 1]
            whole = list(raw.shape)
            if len(whole) != value.dim():
                return None
            return [[] if mine == all_of else (axes or names[-1:]) for mine, all_of, axes in zip(value.shape, whole, cut)]
        for _, one in tensors_in(inputs):
            known = step.known_as(one)
            if known is not None and known.axes is not None and one.shape == value.shape:
                return [[axis for axis in cut if axis not in self.trace.batch_axes] for cut in known.axes]
        return None

    def attention(self, original):
        """In place of torch.nn.functional.scaled_dot_product_attention: an op that no module is."""
        def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, **more):
            given = {**({"enable_gqa": enable_gqa} if enable_gqa else {}), **more}
            output = original(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal,
                              scale=scale, **given)
            if torch.compiler.is_compiling() or self.trace.now is None or is_recomputed() or not self.stack:
                return output
            self.trace.guarded(self._attended)(query, key, value, output,
                                               attention_attrs(query, key, attn_mask, dropout_p, is_causal, scale, enable_gqa))
            return output
        return attend

    def _attended(self, query, key, value, output, attrs):
        step, microbatch = self.trace.now, self.trace.microbatch()
        name = ".".join(part for part in (self.name_of(self.stack[-1]), "attention") if part)
        call = step.call_of(name, microbatch)
        known = [step.by_heads(tensor, f"{self.name_of(self.stack[-1])}.") for tensor in (query, key, value)]
        names = [one.name for one in known if one is not None]
        if len(names) < 3:  # turned, or with heads repeated: nobody put them out
            names = []
            for slot, tensor in (("query", query), ("key", key), ("value", value)):
                axes, notes = self.trace.batched(tensor, self.trace.head_axes(tensor))
                names.append(step.add("forward", name, "input", slot, tensor, call=call, microbatch=microbatch, axes=axes,
                                      notes=notes))
        axes, notes = self.trace.batched(output, self.trace.head_axes(output))
        if attrs is not None:
            whole = {"heads": self.trace.heads_cut(query), "kv_heads": self.trace.heads_cut(key)}
            attrs = {word: one * whole[word] if word in whole else one for word, one in attrs.items()}
        fields = {"op": "attention", "attrs": attrs, "inputs": names} if attrs is not None else {}
        step.add("forward", name, "output", "0", output, call=call, microbatch=microbatch, axes=axes, notes=notes, **fields)
        self.follow(step, name, "0", output, call, axes, notes)
