# SPDX-License-Identifier: Apache-2.0
"""Trace: records the steps of a training run for `ttcheck diff`."""
import contextlib
import fnmatch
import sys
import warnings

import torch
import torch.nn.functional as functional

from . import files, megatron
from .engines import optimizers_of, share_of, torch_optimizer
from .facts import facts_of, model_facts
from .layout import Layout, rank_and_world
from .modules import canonical, is_compiled, tensors_in, unwrapped, watched
from .step import Step
from .watch import Watch, is_recomputed

# What torch.distributed.pipelining calls to learn shapes: no step of the run.
SHAPE_INFERENCE = ("_shape_inference", "_forward_metadata_inference", "_backward_metadata_inference")


def _asked_for_shapes():
    frame = sys._getframe(1)
    for _ in range(40):
        if frame is None:
            return False
        if frame.f_code.co_name in SHAPE_INFERENCE:
            return True
        frame = frame.f_back
    return False


def _updates_made(optimizer):
    """As its state counts them; a resumed run goes on from there."""
    steps = [state["step"] for state in optimizer.state.values() if isinstance(state, dict) and "step" in state]
    return int(max(float(step) for step in steps)) if steps else 0


class Trace:
    """Records what a model and its optimizer do while it is entered, one step after the other:

        with Trace("run_a", model, optimizer):
            train()

    A step begins with a forward pass of the model and ends when the optimizer (one of several: the last) has stepped;
    steps count from 1, or on from what the optimizer has in its state. Without an optimizer, or to number steps oneself,
    `with trace.step(12):` surrounds one. `model` is what the script calls: the module, a DistributedDataParallel around
    it, a stage or schedule of torch.distributed.pipelining, a DeepSpeed engine (whose optimizer is known).

    steps       which to record: a range or any container of numbers; all
    every       of those, each so many-th
    keep        "all"; "hashes"; or globs of `module/kind.slot`, whose bytes are kept beside the hashes of all others
    max_bytes   larger tensors are hashed
    batch       the axes along which the batch is cut, outermost first; by default those of data parallelism
    place       axes of parallelism that no wrapper tells, as of layers that communicate by themselves: {axis: (coordinate
                of this rank, size)}
    names       gives a module's path the one it has in the whole model (a stage that counts its layers from 0)
    dims        placements by glob of `module/kind.slot`, in the grammar of ttcheck-layout(5), where it knows better
    facts       more to say of the run, beside what is found

    It changes no result and stops no training: whatever goes wrong in it is one warning, and the end of recording. A
    step that was not finished leaves no file of this rank.
    """

    def __init__(self, folder, model, optimizer=None, *, steps=None, every=1, keep="all", max_bytes=None, batch=None,
                 place=None, names=None, dims=None, facts=None, encoding="safetensors"):
        stage = getattr(model, "_stage", model)
        self.folder, self.called, self.root = str(folder), stage, unwrapped(stage)
        self.stepping = optimizers_of(model, optimizer)
        self.optimizers = [torch_optimizer(one) for one in self.stepping]
        self.steps, self.every, self.keep, self.max_bytes = steps, every, keep, max_bytes
        self.batch, self.place, self.names, self.rules = batch, dict(place or {}), names, dict(dims or {})
        self.more_facts, self.encoding = dict(facts or {}), encoding
        self.pipelined = hasattr(stage, "stage_index")
        self.averaged = getattr(model, "scale_grads", False)
        self.rank = rank_and_world()[0]
        self.now = self.number = self.watch = self.layout = None
        self.broken, self.began, self.last_whole, self.stepped, self.by_hand = False, False, None, 0, False
        self.repeated, self.undo = {}, contextlib.ExitStack()
        self.paused, self.now_before = False, None

    # ---- its life

    def __enter__(self):
        self.guarded(self._start)()
        return self

    def __exit__(self, kind, error, where):
        if kind is None and self.began and not self.optimizers and not self.by_hand:
            self.guarded(self._finish)()
        self.close()

    def close(self):
        """No more is recorded; an unfinished step is dropped."""
        self.now, self.began = None, False
        if self.watch is not None:
            self.watch.detach()
        self.undo.close()

    def guarded(self, function):
        """The same, but for errors: they end the recording, not the run."""
        def call(*args, **kwargs):
            if self.broken:
                return None
            try:
                with torch.no_grad():
                    return function(*args, **kwargs)
            except Exception as error:
                self.broken, self.now = True, None
                warnings.warn(f"ttcheck_trace: nothing more is recorded: {type(error).__name__}: {error}", stacklevel=2)
                return None
        return call

    def _start(self):
        self.layout = Layout(self.called if isinstance(self.called, torch.nn.Module) else self.root, self.batch)
        for axis, (coordinate, size) in self.place.items():
            self.layout.add(axis, coordinate, size)
        if self.pipelined:
            self.layout.add("pp", self.called.stage_index, self.called.num_stages)
        model = {**model_facts(self.root), **self.more_facts.get("model", {})}
        self.heads = (model.get("heads"), model.get("kv_heads"))
        where = self.layout.gathered()
        if self.rank == 0:
            graphs = [self._name_of(path) for path, module in watched(self.root) if is_compiled(module)]
            facts = {**facts_of(self.root, self.optimizers), **({"graphs": graphs} if graphs else {})}
            files.write_run(self.folder, {**where, **facts, **self.more_facts})
        self.batch_axes = [*self.layout.data, *([] if "mb" in self.layout.data else ["mb"])]
        self.number = 1 + max([_updates_made(one) for one in self.optimizers], default=0)
        self.watch = Watch(self, self.root, self._name_of)
        for one, inner in zip(self.stepping, self.optimizers):
            if one is inner:
                self.watch.handles.append(one.register_step_pre_hook(self.guarded(self._before_update)))
                self.watch.handles.append(one.register_step_post_hook(self.guarded(self._after_update)))
            else:  # an engine's, which has no hooks
                self._replace(one, "step", self._engine_step(inner))
        self._replace(functional, "scaled_dot_product_attention", self.watch.attention)
        self._replace(torch.autograd, "backward", self._backward)
        for module in (torch.nn.utils, torch.nn.utils.clip_grad, sys.modules.get("__main__")):
            if hasattr(module, "clip_grad_norm_"):
                self._replace(module, "clip_grad_norm_", self._clip)

    def _replace(self, module, name, made):
        original = getattr(module, name)
        setattr(module, name, made(original))
        self.undo.callback(setattr, module, name, original)

    def _name_of(self, path):
        path = canonical(path)
        if callable(self.names):
            path = self.names(path)
        return path or "root"

    # ---- steps

    @contextlib.contextmanager
    def step(self, number):
        """Records one step under this number, also where no optimizer steps."""
        if self.watch is None and not self.broken:
            self.__enter__()
        self.number, self.by_hand = number, True
        self.guarded(self._begin)()
        yield self
        self.guarded(self._finish)()

    def _wanted(self, number):
        return (self.steps is None or number in self.steps) and number % self.every == 0

    def _whole(self, name):
        if isinstance(self.keep, str):
            return self.keep == "all"
        return any(fnmatch.fnmatchcase(name, glob) for glob in self.keep)

    def _begin(self):
        self.began, self.stepped, self.repeated = True, 0, {}
        if not self._wanted(self.number):
            return
        self.now = Step(self.number, self.layout, self.rules, self._whole, self.max_bytes)
        if self.last_whole != self.number - 1:  # else what that step left
            self._add_parameters("state")

    def _finish(self):
        step, self.now, self.began = self.now, None, False
        self.watch.forget_calls()
        if step is not None:
            if not self.optimizers:
                self._add_gradients("sync", step)
            files.write_step(self.folder, step.number, self.rank, step.finished(), self.encoding)
            files.add_events(self.folder, step.number, self.rank, step.events)
            self.last_whole = step.number if self.optimizers else None
        self.number += 1

    # ---- what hooks ask

    def begin_forward(self, args, kwargs, whole=True):
        """Of the model or, where somebody calls its parts, of one of them: the first of a micro-batch tells its batch."""
        if self.by_hand and not self.began:
            return
        if _asked_for_shapes():
            self.paused, self.now_before, self.now = True, self.now, None
            return
        if not self.began:
            self._begin()
        if self.now is not None and (whole or self.now.batch_of != self.now.backwards):
            self.now.batch_of = self.now.backwards
            first = next((value for _, value in tensors_in((args, kwargs)) if value.dim()), None)
            self.now.set_batch(tuple(first.shape) if first is not None else ())
            self.now.inputs = [id(value) for _, value in tensors_in((args, kwargs))]
            self.now.forwards += 1

    def end_forward(self):
        """Whether it was a pass that tells of shapes alone."""
        if not self.paused:
            return False
        self.paused, self.now = False, self.now_before
        return True

    def is_last_stage(self):
        return not self.pipelined or self.called.is_last

    def microbatch(self):
        return max(self.now.forwards - 1, 0) if self.pipelined else self.now.backwards

    def microbatch_of_backward(self):
        return self.now.backwards

    def call_again(self, name):
        """Of a module whose forward pass is run again within a backward pass."""
        key = (name, self.now.backwards)
        self.repeated[key] = self.repeated.get(key, -1) + 1
        return self.repeated[key]

    def batched(self, value, axes, made_of=()):
        """Axes and notes of a tensor of a micro-batch, in which the first dim may be that of the batch: where it has the
        batch's extent, or that of all its positions; else where gradients flow, as in what a router gave an expert, and
        what it was made of is of the batch (positions are not)."""
        axes = [type(cut)(cut) for cut in axes] if axes else [[] for _ in value.shape]
        step = self.now
        dim = megatron.batch_dim(value, step.first_input)
        if dim or (value.dim() and value.shape[0] in step.batches):
            of_batch = value.shape[0] > 1 or value.requires_grad or id(value) in step.inputs
        else:
            of_batch = value.dim() > 0 and value.requires_grad and not step.are_of_no_batch(made_of)
        if of_batch:
            axes[dim] = [*self.batch_axes, *axes[dim]]
            return axes, ()
        step.note_no_batch(value)
        return axes, ("mb:replicated",)

    def sums(self):
        """How a loss, and what one backward pass adds to a gradient, make those of the step."""
        return [*(f"{axis}:partial=avg" for axis in self.layout.data if axis != "mb"),
                "mb:partial=avg" if self.averaged else "mb:partial"]

    def head_axes(self, value):
        """Of queries, keys or values [batch, heads, positions, width]: cut by heads where the model has more."""
        others = [(name, size) for name, size in self.layout.sizes.items() if name not in self.layout.data and name != "pp"]
        if value.dim() == 4 and len(others) == 1:
            name, size = others[0]
            if value.shape[1] * size in self.heads:
                return [[], [name], [], []]
        return None

    def heads_cut(self, value):
        """Over how many ranks the heads of queries, keys or values lie."""
        axes = self.head_axes(value)
        return self.layout.sizes[axes[1][0]] if axes else 1

    # ---- backward, clipping, updates

    def _backward(self, original):
        def backward(tensors, *args, **kwargs):
            outermost = not torch.compiler.is_compiling() and not is_recomputed()
            if outermost and self.now is not None:
                self.guarded(self._add_losses)(tensors)
            result = original(tensors, *args, **kwargs)
            if outermost and self.now is not None:
                self.now.backwards += 1
            return result
        return backward

    def _add_losses(self, tensors):
        roots = [one for one in (tensors if isinstance(tensors, (tuple, list)) else [tensors]) if one is not None]
        for slot, one in enumerate(roots):
            if one.numel() == 1 and one.requires_grad:
                self.loss(one, slot)

    def loss(self, value, slot=0):
        """Called for each scalar that backward() is called on."""
        if self.now is not None:
            self.now.add("loss", "loss", "loss", str(slot), value.reshape(()), microbatch=self.microbatch_of_backward(),
                         notes=self.sums())

    def _clip(self, original):
        def clip_grad_norm_(parameters, max_norm, *args, **kwargs):
            step = self.now
            if step is not None:
                parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
                self.guarded(self._add_gradients)("sync", step)
            norm = original(parameters, max_norm, *args, **kwargs)
            if step is not None:
                self.guarded(self._clipped)(step, norm)
            return norm
        return clip_grad_norm_

    def _clipped(self, step, norm):
        norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
        step.events.append(("grad_norm", float(norm)))
        self._add_gradients("clip", step, again=True)

    def _engine_step(self, inner):
        def made(original):
            def step(*args, **kwargs):
                self.guarded(self._before_update)(inner, args, kwargs)
                result = original(*args, **kwargs)
                self.guarded(self._after_update)(inner, args, kwargs)
                return result
            return step
        return made

    def _before_update(self, optimizer, args, kwargs):
        if self.now is None or self.stepped:
            return
        self._add_gradients("sync", self.now)
        self.now.events.append(("lr", float(optimizer.param_groups[0]["lr"])))

    def _after_update(self, optimizer, args, kwargs):
        if not self.began:
            return
        self.stepped += 1
        if self.stepped < len(self.optimizers):
            return
        if self.now is not None:
            self._add_parameters("optimizer")
        if not self.by_hand:
            self._finish()

    def _parameters(self):
        for path, parameter in self.root.named_parameters():
            module, _, slot = self._name_of(path).rpartition(".")
            yield module or "root", slot, parameter

    def _add_parameters(self, phase):
        for module, slot, parameter in self._parameters():
            value, fields = share_of(parameter, self.layout)
            self.now.add(phase, module, "param", slot, value, **fields)

    def _add_gradients(self, phase, step, again=False):
        if step.has_gradients and not again:
            return
        step.has_gradients = True
        for module, slot, parameter in self._parameters():
            gradient = megatron.gradient_of(parameter)
            if gradient is not None:
                step.add(phase, module, "main_grad", slot, gradient, axes=megatron.cut_of(parameter, self.layout))
