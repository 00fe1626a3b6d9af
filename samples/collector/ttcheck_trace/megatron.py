# SPDX-License-Identifier: Apache-2.0
"""What Megatron-core says of itself, which is asked by name and never imported: its process groups, along which dim a
parameter is cut, and which modules put out a part of what they would put out alone. Its activations are [positions,
batch, width].
"""
import sys

CUT_OUTPUTS = ("ColumnParallelLinear", "TEColumnParallelLinear", "TELayerNormColumnParallelLinear", "DotProductAttention",
               "TEDotProductAttention")


def parallel_state():
    module = sys.modules.get("megatron.core.parallel_state")
    return module if module is not None and module.model_parallel_is_initialized() else None


def places():
    """(axis, coordinate of this rank, size) of those that cut anything; none without Megatron."""
    state = parallel_state()
    if state is None:
        return []
    asked = [("tp", state.get_tensor_model_parallel_rank, state.get_tensor_model_parallel_world_size),
             ("cp", state.get_context_parallel_rank, state.get_context_parallel_world_size),
             ("pp", state.get_pipeline_model_parallel_rank, state.get_pipeline_model_parallel_world_size),
             ("dp", state.get_data_parallel_rank, state.get_data_parallel_world_size)]
    return [(axis, rank(), size()) for axis, rank, size in asked if size() > 1]


class Halves(list):
    """Axes of a dim of two parts, gate and up, each of which is cut by itself."""


def gated(model):
    """Ids of the projections that make gate and up in one, and of their parameters."""
    found = set()
    for module in model.modules():
        projection = getattr(module, "linear_fc1", None)
        if projection is not None and getattr(getattr(module, "config", None), "gated_linear_unit", False):
            found.update(map(id, [projection, *projection.parameters()]))
    return found


def gradient_of(parameter):
    """Where its data parallelism adds gradients up in buffers of its own, the one that is there."""
    return parameter.grad if parameter.grad is not None else getattr(parameter, "main_grad", None)


def cut_of(parameter, layout):
    """The axes of a parameter's dims, and of its gradient's; None where it is whole."""
    if not getattr(parameter, "tensor_model_parallel", False) or "tp" not in layout.sizes:
        return None
    cut = Halves(["tp"]) if id(parameter) in layout.gated else ["tp"]
    return [cut if dim == parameter.partition_dim else [] for dim in range(parameter.dim())]


def cut_of_output(module, value, layout, heads):
    """The axes of what such a module puts out, and of [positions, batch, heads, width] or [batch, heads, positions,
    positions] where the model has more heads; None of others."""
    if "tp" not in layout.sizes or parallel_state() is None or value.dim() < 3:
        return None
    for dim in (2, 1) if value.dim() == 4 else ():
        if value.shape[dim] * layout.sizes["tp"] in heads:
            return [["tp"] if one == dim else [] for one in range(4)]
    names = {base.__name__ for base in type(module).__mro__}
    if getattr(module, "gather_output", False) or not names.intersection(CUT_OUTPUTS):
        return None
    return [[] for _ in value.shape[:-1]] + [Halves(["tp"]) if id(module) in layout.gated else ["tp"]]


def batch_dim(value, first_input):
    """1 of activations [positions, batch, ...], 0 of all else; `first_input` is [batch, positions]."""
    if parallel_state() is None or value.dim() < 2 or len(first_input) < 2:
        return 0
    return int(tuple(value.shape[:2]) == (first_input[1], first_input[0]))
