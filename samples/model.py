# SPDX-License-Identifier: Apache-2.0
"""A small language model, whole or tensor-parallel, that makes the samples. Needs torch.

Column-parallel q, k, v, gate and up, row-parallel o and down, a vocabulary-parallel embedding whose
vocabulary is padded so that it divides, replicated norms and head: the layout of the usual trainers.
"""
import torch
import torch.distributed as dist
from torch import nn

VOCAB, HIDDEN, HEADS, FFN, LAYERS = 37, 16, 4, 24, 2


class ToParallel(torch.autograd.Function):
    """Identity forward, all-reduce backward: where a replicated value enters sharded work."""
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.contiguous().clone()
        dist.all_reduce(gradient)
        return gradient


class FromParallel(torch.autograd.Function):
    """All-reduce forward, identity backward: where partial results become a replicated value."""
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Column(nn.Linear):
    def __init__(self, inputs, outputs, tp):
        super().__init__(inputs, outputs // tp, bias=False)
        self.tp = tp

    def forward(self, x):
        return super().forward(ToParallel.apply(x) if self.tp > 1 else x)


class Row(nn.Linear):
    def __init__(self, inputs, outputs, tp):
        super().__init__(inputs // tp, outputs, bias=False)
        self.tp = tp

    def forward(self, x):
        x = super().forward(x)
        return FromParallel.apply(x) if self.tp > 1 else x


class Embedding(nn.Embedding):
    def __init__(self, tp, rank):
        self.rows = -(-VOCAB // tp)
        super().__init__(self.rows, HIDDEN)
        self.tp, self.first = tp, rank * self.rows

    def forward(self, tokens):
        local = tokens - self.first
        mine = (local >= 0) & (local < self.rows)
        x = super().forward(local.clamp(0, self.rows - 1)) * mine[..., None]
        return FromParallel.apply(x) if self.tp > 1 else x


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)
        return (x.float() * scale).to(x.dtype) * self.weight


class Gated(nn.Module):
    """silu(gate) * up; the planted bug takes the two the other way round."""
    def __init__(self, swapped):
        super().__init__()
        self.swapped = swapped

    def forward(self, gate, up):
        return nn.functional.silu(up) * gate if self.swapped else nn.functional.silu(gate) * up


class Attention(nn.Module):
    def __init__(self, tp):
        super().__init__()
        self.heads = HEADS // tp
        self.q_proj, self.k_proj, self.v_proj = (Column(HIDDEN, HIDDEN, tp) for _ in range(3))
        self.o_proj = Row(HIDDEN, HIDDEN, tp)

    def forward(self, x):
        q, k, v = (p(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for p in (self.q_proj, self.k_proj, self.v_proj))
        x = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(x.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, tp, swapped):
        super().__init__()
        self.gate_proj, self.up_proj = Column(HIDDEN, FFN, tp), Column(HIDDEN, FFN, tp)
        self.act_fn, self.down_proj = Gated(swapped), Row(FFN, HIDDEN, tp)

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x), self.up_proj(x)))


class Layer(nn.Module):
    def __init__(self, tp, swapped):
        super().__init__()
        self.input_layernorm, self.self_attn = Norm(), Attention(tp)
        self.post_attention_layernorm, self.mlp = Norm(), Mlp(tp, swapped)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    def __init__(self, tp=1, rank=0, swapped_layer=None):
        """`swapped_layer`: on this rank, that layer's MLP has the planted bug."""
        super().__init__()
        self.embed_tokens = Embedding(tp, rank)
        self.layers = nn.ModuleList(Layer(tp, i == swapped_layer) for i in range(LAYERS))
        self.norm, self.lm_head = Norm(), nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def shard_dim(name):
    """The dim of parameter `name` that tensor parallelism cuts, or None."""
    if any(p in name for p in ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "embed_tokens")):
        return 0
    return 1 if any(p in name for p in ("o_proj", "down_proj")) else None


def initial(generator_seed=1234):
    """The whole model's initial parameters: the same numbers whatever the layout."""
    generator = torch.Generator().manual_seed(generator_seed)
    return {name: torch.ones_like(p) if p.dim() == 1
            else 0.2 * torch.randn(p.shape, generator=generator)
            for name, p in Model().named_parameters()}


def slice_of(name, whole, tp, rank):
    """Rank's piece of a whole parameter; the vocabulary is padded with zeros."""
    dim = shard_dim(name)
    if dim is None or tp == 1:
        return whole.clone()
    rows = -(-whole.shape[dim] // tp)
    missing = rows * tp - whole.shape[dim]
    if missing:
        padding = whole.new_zeros([missing, *whole.shape[1:]])
        whole = torch.cat([whole, padding])
    return whole.narrow(dim, rank * rows, rows).clone()
