# SPDX-License-Identifier: Apache-2.0
"""Where this rank is on the mesh, and how a tensor of its lies in the whole one (the `dims` of a record).

Axes come from what the run is made of: DTensors name their DeviceMesh, DistributedDataParallel its process group, a
pipeline stage its index. Where nothing has a name, an axis of data parallelism is `dp` and any other `tp`.
"""
import torch.distributed as dist

from . import megatron
from .engines import data_group

try:
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor.placement_types import Partial, Shard
except ImportError:  # torch before 2.5
    from torch.distributed._tensor import DTensor
    from torch.distributed._tensor.placement_types import Partial, Shard

DATA_AXES = ("dp", "data", "fsdp", "dp_shard", "dp_replicate", "replicate", "shard", "hsdp")


def is_distributed():
    return dist.is_available() and dist.is_initialized()


def rank_and_world():
    return (dist.get_rank(), dist.get_world_size()) if is_distributed() else (0, 1)


def fsdp_mesh(module):
    """The mesh over which fully_shard cut this module's parameters; None where it did not."""
    state = getattr(module, "_get_fsdp_state", None)
    if state is None:
        return None
    try:
        return module._get_fsdp_state()._fsdp_param_group.mesh_info.mesh
    except AttributeError:  # it holds no parameters itself
        return None


def names_of(mesh, data):
    """The axes of a mesh, in its order."""
    names = mesh.mesh_dim_names
    if names:
        return tuple(names)
    if mesh.ndim == 1:
        return ("dp",) if data else ("tp",)
    return tuple(f"axis{i}" for i in range(mesh.ndim))


class Layout:
    """What is known of the mesh: the coordinates of this rank, and the axes along which the batch is cut."""

    def __init__(self, model, batch=None):
        self.here, self.sizes, self.data, self.data_meshes = {}, {}, [], []
        for module in model.modules():
            mesh = fsdp_mesh(module)
            if mesh is not None and not any(mesh is other for other in self.data_meshes):
                self.data_meshes.append(mesh)
                self._add_mesh(mesh)
                self._add_data(names_of(mesh, True))
        for parameter in model.parameters():
            if isinstance(parameter, DTensor):
                self._add_mesh(parameter.device_mesh)
        for name in list(self.sizes):
            if name in DATA_AXES:
                self._add_data((name,))
        group = data_group(model)
        if group is not False and not self.data:
            self.add("dp", dist.get_rank(group), dist.get_world_size(group))
            self._add_data(("dp",))
        self.gated = megatron.gated(model)
        for axis, coordinate, size in megatron.places():
            self.add(axis, coordinate, size)
            if axis == "dp":
                self._add_data((axis,))
        if batch is not None:
            self.data = [batch] if isinstance(batch, str) else list(batch)
        for name in self.data:  # nothing but the user says so: all ranks there are
            if name not in self.sizes and name != "mb" and is_distributed() and not self.sizes:
                self.add(name, *rank_and_world())

    def add(self, name, coordinate, size):
        self.here[name], self.sizes[name] = int(coordinate), int(size)

    def is_sharded_data(self, parameter):
        """Whether fully_shard cut it."""
        return isinstance(parameter, DTensor) and any(
            name in self.data for name in self.axes_of(parameter.device_mesh))

    def axes_of(self, mesh):
        return names_of(mesh, any(mesh is other or mesh == other for other in self.data_meshes))

    def gathered(self):
        """The mesh and the coordinates of all ranks, as run.json has them. Every rank must ask."""
        rank, world = rank_and_world()
        everyone = [self.here] * world
        if world > 1:
            dist.all_gather_object(everyone, self.here)
        return {"world_size": world, "mesh": dict(self.sizes), "ranks": everyone}

    def _add_mesh(self, mesh):
        coordinates = mesh.get_coordinate()
        for name, coordinate, size in zip(self.axes_of(mesh), coordinates or (), mesh.shape):
            self.add(name, coordinate, size)

    def _add_data(self, names):
        self.data += [name for name in names if name not in self.data]


def axes_of_dims(value, layout):
    """Of a DTensor: for each dim the axes that cut it, outermost first, and the axes along which it is to be summed."""
    axes, partial = [[] for _ in value.shape], []
    for name, placement in zip(layout.axes_of(value.device_mesh), value.placements):
        if isinstance(placement, Shard) or hasattr(placement, "split_factor"):
            cut = axes[placement.dim]
            # A strided shard was cut after those that follow it in the mesh.
            cut.append((name, getattr(placement, "split_factor", 0)))
        elif isinstance(placement, Partial):
            reduce = getattr(placement, "reduce_op", "sum")
            partial.append(f"{name}:partial" + ("" if reduce == "sum" else f"={reduce}"))
    return [[name for name, factor in cut if not factor] + [name for name, factor in cut if factor] for cut in axes], partial


def local_of(value):
    """What this rank holds of it, without autograd."""
    if isinstance(value, DTensor):
        value = value.to_local()
    if hasattr(value, "wait") and hasattr(value, "elem"):  # an AsyncCollectiveTensor
        value = value.wait()
    return value.detach()


def dims_of(axes, notes=()):
    """`d0[dp] d1 # mb:partial`; None for a tensor that is whole on every rank."""
    if not any(axes) and not notes:
        return None
    names = ["(gate|up)" if isinstance(cut, megatron.Halves) else f"d{i}" for i, cut in enumerate(axes)]
    words = [name + (f"[{','.join(cut)}]" if cut else "") for name, cut in zip(names, axes)]
    return " ".join([*words, *(["#", *notes] if notes else [])])
