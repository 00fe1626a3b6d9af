# SPDX-License-Identifier: Apache-2.0
"""What training engines say of themselves, which are asked by name and never imported.

DeepSpeed: the engine has the group of data parallelism; an optimizer of ZeRO is no torch optimizer, holds one over its
own flat shares, and puts the parameters together when that has stepped.
"""
import torch

from . import megatron


def is_deepspeed(model):
    return any(base.__name__ == "DeepSpeedEngine" for base in type(model).__mro__)


def data_group(model):
    """The process group over which DistributedDataParallel or an engine cuts the batch; False: none does."""
    if is_deepspeed(model):
        return model.data_parallel_group
    return model.process_group if isinstance(model, torch.nn.parallel.DistributedDataParallel) else False


def optimizers_of(model, given):
    """`given`, else the engine's own."""
    if given is None and is_deepspeed(model):
        given = model.optimizer
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def torch_optimizer(optimizer):
    """The one that holds learning rate and state."""
    while not hasattr(optimizer, "register_step_pre_hook") and hasattr(optimizer, "optimizer"):
        optimizer = optimizer.optimizer
    return optimizer


def share_of(parameter, layout):
    """What this rank holds of a parameter, and how that is said: of stage 3 of ZeRO, a piece of it flattened."""
    if parameter.numel() or not hasattr(parameter, "ds_tensor"):
        return parameter, {"axes": megatron.cut_of(parameter, layout)}
    return parameter.ds_tensor.detach(), {"dims": f"flat[{','.join(layout.data)}]", "shape": list(parameter.ds_shape)}
