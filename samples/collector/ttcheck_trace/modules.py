# SPDX-License-Identifier: Apache-2.0
"""The modules of a model that are watched, by the path that each has in the model that its author wrote."""
import torch

WRAPPERS = ("_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module", "_fpw_module")
# torch's, Megatron-core's and DeepSpeed's.
WRAPPER_CLASSES = {"DistributedDataParallel", "DataParallel", "DeepSpeedEngine", "Float16Module"}


def canonical(path):
    """A path without the parts that only wrap."""
    return ".".join(part for part in path.split(".") if part not in WRAPPERS)


def is_compiled(module):
    """Its inside is one graph: only what goes in and comes out exists."""
    return type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None


def unwrapped(model):
    """The author's model: not DistributedDataParallel, a pipeline stage or an engine around it."""
    if hasattr(model, "submod") and hasattr(model, "stage_index"):  # torch.distributed.pipelining
        model = model.submod
    while WRAPPER_CLASSES.intersection(base.__name__ for base in type(model).__mro__):
        model = model.module
    return model


def watched(model):
    """(path, module) in the order of definition; the root's path is empty."""
    found, seen, waiting = [], set(), [("", model)]
    while waiting:
        path, module = waiting.pop(0)
        if id(module) in seen:
            continue
        seen.add(id(module))
        children = list(module.named_children())
        wraps = len(children) == 1 and children[0][0] in WRAPPERS and not is_compiled(module)
        if not wraps:
            found.append((canonical(path), module))
        if is_compiled(module):
            continue
        waiting[:0] = [(f"{path}.{name}" if path else name, child) for name, child in children]
    return found


def tensors_in(value, slot=""):
    """(slot, tensor) of all tensors in an output, however it is nested: 0, 1, `logits`, `0_1`."""
    if isinstance(value, torch.Tensor):
        yield slot or "0", value
    elif isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        for key in value.keys():
            yield from tensors_in(value[key], f"{slot}_{key}" if slot else str(key))
    elif isinstance(value, (tuple, list)):
        for i, one in enumerate(value):
            yield from tensors_in(one, f"{slot}_{i}" if slot else str(i))
