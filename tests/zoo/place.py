# SPDX-License-Identifier: Apache-2.0
"""Where one rank stands: its coordinates, its groups, its part of the batch, and how it says so in `dims`."""
import numpy as np

import faults
from collectives import Group, Mail
from config import AXES, coordinates, where
from rounding import ROUND, matmul


class World:
    """What the ranks of a run share."""

    def __init__(self, config, planted):
        self.config, self.planted, self.mail = config, planted, Mail()
        self.everybody = Group(range(config.world))
        self.groups = {}
        for axis in AXES:
            for rank in range(config.world):
                at = coordinates(config, rank)
                others = {a: i for a, i in at.items() if a != axis}
                self.groups.setdefault((axis, tuple(others.items())), Group(where(config, **others)))

    def group(self, axis, rank):
        others = {a: i for a, i in coordinates(self.config, rank).items() if a != axis}
        return self.groups[axis, tuple(others.items())]

    def all_groups(self):
        return [self.everybody, *self.groups.values()]


class Place:
    def __init__(self, world, rank, trace):
        self.world, self.rank, self.trace, self.c = world, rank, trace, world.config
        self.at = coordinates(self.c, rank)
        self.round = ROUND[self.c.precision]
        self.phase, self.microbatch, self.step = "forward", 0, 0
        self.recording = self.recomputing = False
        self.feeds = {}  # identity of an activation -> the modules that it goes into

    # ---- faults and records
    def site(self, name, value, /, **context):
        context.update(rank=self.rank, at=self.at, step=self.step, microbatch=self.microbatch, recomputing=self.recomputing, p=self)
        return faults.apply(self.world.planted, name, value, **context)

    def record(self, name, value, dims=None, phase=None, microbatch=0, **fields):
        if not self.recording or self.recomputing:
            return
        if dims and dims.startswith("t ") and self.c.dp * self.c.cp * self.c.mb > 1:
            return  # a rank has only some of the expert's tokens
        if "inputs" in fields:
            fields["inputs"] = [spelled(self.c, text) for text in fields["inputs"]]
        self.trace.add(phase or self.phase, spelled(self.c, name), value, dims, microbatch=microbatch, **fields)

    # ---- arithmetic
    def matmul(self, a, b):
        return matmul(a, b, self.c.pieces)

    def sum(self, axis, x, site):
        return self.site(site, self.world.group(axis, self.rank).sum(self.rank, x), local=x, members=self.world.group(axis, self.rank).members)

    def max(self, axis, x):
        return self.world.group(axis, self.rank).max(self.rank, x)

    def gather(self, axis, x, dim):
        return self.world.group(axis, self.rank).gather(self.rank, x, dim)

    def sum_and_cut(self, axis, x, dim, site):
        group = self.world.group(axis, self.rank)
        mine = np.split(x, len(group.members), dim)[group.members.index(self.rank)]
        return self.site(site, group.sum_and_cut(self.rank, x, dim), local=mine, members=group.members)

    def sum_over_tp(self, x, site):
        """The sum of what the tensor-parallel ranks hold; under sequence parallelism this rank's part of it."""
        if self.c.sp:
            return self.round(self.sum_and_cut("tp", x, 1, site))
        return self.round(self.sum("tp", x, site))

    # ---- this rank's part of the batch
    def rows(self, microbatch):
        rows = np.split(np.arange(self.c.batch), self.c.mb)[microbatch]
        return np.split(rows, self.c.dp * self.c.ep)[self.at["dp"] * self.c.ep + self.at["ep"]]

    def positions_of(self, cp_rank):
        """Zigzag: of 2n chunks rank r holds r and 2n-1-r."""
        if self.c.cp == 1:
            return np.arange(self.c.seq)
        chunks = np.split(np.arange(self.c.seq), 2 * self.c.cp)
        return np.concatenate([chunks[cp_rank], chunks[2 * self.c.cp - 1 - cp_rank]])

    def positions(self):
        return self.site("positions", self.positions_of(self.at["cp"]))

    def take(self, whole, sequence_cut=False):
        """This rank's part of an array [batch, sequence, ...]; `sequence_cut`: as the residual stream is cut."""
        part = whole[self.rows(self.microbatch)][:, self.positions_of(self.at["cp"])]
        if sequence_cut and self.c.sp:
            part = np.split(part, self.c.tp, 1)[self.at["tp"]]
        return part

    # ---- dims
    def cut(self, name, *axes):
        axes = [axis for axis in axes if getattr(self.c, axis.partition(":")[0]) > 1]
        return f"{name}[{','.join(axes)}]" if axes else name

    @property
    def batch_dim(self):
        return self.cut("b", "mb", "dp", "ep")

    def whole_sequence(self, last):
        """dims of an activation whose last dimension may be cut over tp."""
        return f"{self.batch_dim} {self.cut('s', 'cp:zigzag')} {last}".strip()

    def stream(self, last="h"):
        """dims of an activation of the residual stream."""
        axes = ("cp:zigzag", "tp") if self.c.sp else ("cp:zigzag",)
        return f"{self.batch_dim} {self.cut('s', *axes)} {last}".strip()

    def notes(self, axes):
        return " ".join(f"{axis}:partial" for axis in axes if getattr(self.c, axis) > 1)


HUGGING_FACE = [(f".{ours}/", f".{theirs}/") for ours, theirs in (
    ("attn.qkv", "self_attn.qkv_proj"), ("attn.q", "self_attn.q_proj"), ("attn.k", "self_attn.k_proj"), ("attn.v", "self_attn.v_proj"),
    ("mlp.gate_up", "mlp.gate_up_proj"), ("mlp.gate", "mlp.gate_proj"), ("mlp.up", "mlp.up_proj"))]


def spelled(c, text):
    """A record's name as the trace has it, also behind its phase."""
    phase, colon, name = text.rpartition(":")
    for ours, theirs in HUGGING_FACE if c.names == "hf" else ():
        name = name.replace(ours, theirs)
    return f"{phase}{colon}{c.prefix}{name}"
