# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/recompute/{f32,bf16}: native traces of single ops, recomputed by torch in fp64.

What goes in is rounded to the stored dtype first; outputs and gradients (autograd) are computed from
that in double and rounded once. Each op is a module of its own; its record names op and attributes.

    python tests/support/make_recompute.py      (torch, safetensors)
"""
import json
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

B, S, H, V = 2, 6, 8, 11


class Writer:
    def __init__(self, dtype):
        self.dtype, self.records = dtype, []
        self.random = torch.Generator().manual_seed(5)

    def draw(self, *shape, scale=1.0):
        value = torch.randn(shape, generator=self.random, dtype=torch.float64) * scale
        return value.to(self.dtype).double()

    def integers(self, *shape, end=V):
        return torch.randint(0, end, shape, generator=self.random)

    def add(self, phase, module, kind, slot, value, **more):
        record = {"seq": len(self.records), "phase": phase, "module": module, "kind": kind,
                  "slot": slot, **more}
        value = value.detach()
        stored = value.to(self.dtype) if value.dtype == torch.float64 else value
        self.records.append((record, stored.contiguous().clone()))

    def op(self, module, op, function, arguments, attrs=None, weight=None, bias=None, parts=1,
           upstream=True, kinds=None, microbatch=0, stated=()):
        """`function(arguments, weight, bias)`; `stated`: names in place of recorded arguments."""
        parameters = {k: v for k, v in (("weight", weight), ("bias", bias)) if v is not None}
        if microbatch == 0:
            for slot, value in parameters.items():
                self.add("state", module, "param", slot, value)
        place = {"microbatch": microbatch} if microbatch else {}
        leaves = [a.clone().requires_grad_(a.dtype == torch.float64) for a in arguments]
        held = {k: v.clone().requires_grad_() for k, v in parameters.items()}
        outputs = function(leaves, held.get("weight"), held.get("bias"))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for k, value in enumerate(arguments):
            if k >= len(stated) or stated[k] is None:
                self.add("forward", module, "input", k, value, **place)
        names = [n for n in stated if n] + [f"{module}/param.{slot}" for slot in parameters]
        for slot, value in enumerate(outputs):
            kind = kinds[slot] if kinds else "output"
            self.add("forward", module, kind, slot, value, op=op,
                     inputs=names, **({"attrs": attrs} if attrs else {}), **place)
        given = [self.draw(*o.shape) if upstream else torch.ones_like(o) for o in outputs]
        if upstream:
            for slot, value in enumerate(given):
                self.add("backward", module, "grad_output", slot, value, **place)
        wanted = [(k, leaf) for k, leaf in enumerate(leaves) if leaf.requires_grad]
        gradients = torch.autograd.grad(outputs, [w for _, w in wanted] + list(held.values()),
                                        given, allow_unused=True)
        for (k, _), value in zip(wanted, gradients):
            if value is not None:
                self.add("backward", module, "grad_input", k, value, **place)
        return dict(zip(parameters, gradients[len(wanted):])), outputs, [
            g for g in gradients[:len(wanted)]]

    def gradients(self, module, values):
        for slot, value in values.items():
            self.add("backward", module, "grad", slot, value)

    def write(self, folder):
        step = folder / "step-000001"
        step.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text(json.dumps(
            {"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}]}) + "\n")
        keyed = {"{seq:05d}/{module}/{kind}.{slot}".format(**r): (r, v) for r, v in self.records}
        save_file({k: v for k, (_, v) in keyed.items()}, step / "rank-00000.safetensors",
                  metadata={"ttcheck_trace": "1", **{k: json.dumps(r, separators=(",", ":"))
                                                     for k, (r, _) in keyed.items()}})


def rms(x, weight, eps, outside=False, from_one=False):
    mean = x.square().mean(-1, keepdim=True)
    x = x / (mean.sqrt() + eps) if outside else x * torch.rsqrt(mean + eps)
    return x * (1 + weight if from_one else weight)


def turn(x, theta, interleaved, dim):
    """Rotates the last dim; positions run along `dim`."""
    half = x.shape[-1] // 2
    frequency = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(x.shape[dim], dtype=torch.float64)[:, None] * frequency
    shape = [1] * x.dim()
    shape[dim], shape[-1] = x.shape[dim], half
    cosine, sine = angle.cos().view(shape), angle.sin().view(shape)
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    a, b = a * cosine - b * sine, b * cosine + a * sine
    return torch.stack([a, b], -1).flatten(-2) if interleaved else torch.cat([a, b], -1)


def attend(q, k, v, causal, scale):
    """[b, h, s, d]; groups of query heads share keys and values."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    score = q @ k.transpose(-1, -2) * scale
    if causal:
        rows, columns = score.shape[-2:]
        allow = torch.ones(rows, columns).tril(columns - rows).bool()
        score = score.masked_fill(~allow, float("-inf"))
    return score.softmax(-1) @ v


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join(x):
    return x.transpose(1, 2).flatten(2)


def dense(w):
    x = w.draw(B, S, H)
    g, _, _ = w.op("linear", "linear", lambda a, u, b: F.linear(a[0], u, b), [x],
                   weight=w.draw(5, H), bias=w.draw(5))
    w.gradients("linear", g)
    g, _, _ = w.op("linear_in_out", "linear", lambda a, u, b: a[0] @ u, [x], weight=w.draw(H, 5))
    w.gradients("linear_in_out", g)
    g, _, _ = w.op("linear_square", "linear", lambda a, u, b: a[0] @ u, [x], weight=w.draw(H, H))
    w.gradients("linear_square", g)
    weight, total = w.draw(5, H), 0
    for microbatch in (0, 1):
        g, _, _ = w.op("linear_twice", "linear", lambda a, u, b: F.linear(a[0], u),
                       [w.draw(B, S, H)], weight=weight, microbatch=microbatch)
        total = total + g["weight"]
    w.gradients("linear_twice", {"weight": total})
    ids = w.integers(B, S)
    g, _, _ = w.op("embedding", "embedding", lambda a, u, b: F.embedding(a[0], u), [ids],
                   weight=w.draw(V, H))
    w.gradients("embedding", g)
    g, _, _ = w.op("embedding_swapped", "embedding",
                   lambda a, u, b: F.embedding(a[0].t(), u), [ids], weight=w.draw(V, H))
    w.gradients("embedding_swapped", g)


def norms(w):
    x = w.draw(B, S, H)
    for name, attrs, how in (("rmsnorm", {"eps": 1e-3}, {"eps": 1e-3}),
                             ("rmsnorm_unstated", None, {"eps": 1e-6}),
                             ("rmsnorm_outside", {"eps": 0.1}, {"eps": 0.1, "outside": True}),
                             ("rmsnorm_from_one", {"eps": 1e-5}, {"eps": 1e-5, "from_one": True})):
        g, _, _ = w.op(name, "rmsnorm", lambda a, u, b: rms(a[0], u, **how), [x], attrs,
                       weight=w.draw(H))
        w.gradients(name, g)
    g, _, _ = w.op("layernorm", "layernorm", lambda a, u, b: F.layer_norm(a[0], (H,), u, b, 1e-5),
                   [x], {"eps": 1e-5}, weight=w.draw(H), bias=w.draw(H))
    w.gradients("layernorm", g)


def pointwise(w):
    x, y = w.draw(B, S, H), w.draw(B, S, H)
    w.op("add", "add", lambda a, u, b: a[0] + a[1], [x, y])
    w.op("mul", "mul", lambda a, u, b: a[0] * a[1], [x, y])
    w.op("silu", "silu", lambda a, u, b: F.silu(a[0]), [x])
    w.op("gelu", "gelu", lambda a, u, b: F.gelu(a[0]), [x], {"approximate": "none"})
    w.op("gelu_tanh", "gelu", lambda a, u, b: F.gelu(a[0], approximate="tanh"), [x],
         {"approximate": "tanh"})
    w.op("gelu_unstated", "gelu", lambda a, u, b: F.gelu(a[0], approximate="tanh"), [x])
    w.op("swiglu", "swiglu", lambda a, u, b: F.silu(a[0].chunk(2, -1)[0]) * a[0].chunk(2, -1)[1],
         [w.draw(B, S, 2 * H)])
    w.op("swiglu_apart", "swiglu", lambda a, u, b: F.silu(a[0]) * a[1], [x, y])
    w.op("swiglu_up_first", "swiglu",
         lambda a, u, b: F.silu(a[0].chunk(2, -1)[1]) * a[0].chunk(2, -1)[0], [w.draw(B, S, 2 * H)])
    w.op("softmax", "softmax", lambda a, u, b: (0.5 * a[0]).softmax(-1), [x], {"scale": 0.5})


def functions(w):
    x, y = w.draw(B, S, H), w.draw(B, S, H).abs() + 0.5
    positive = y.to(w.dtype).double()
    w.op("sub", "sub", lambda a, u, b: a[0] - a[1], [x, positive])
    w.op("sub_scaled", "sub", lambda a, u, b: torch.sub(a[0], a[1], alpha=0.5), [x, positive],
         {"alpha": 0.5})
    w.op("div", "div", lambda a, u, b: a[0] / a[1], [x, positive])
    w.op("div_number", "div", lambda a, u, b: a[0] / 3.0, [x], {"other": 3.0})
    w.op("add_number", "add", lambda a, u, b: a[0] + 0.25, [x], {"other": 0.25})
    w.op("pow", "pow", lambda a, u, b: a[0] ** 3, [x], {"exponent": 3})
    for name in ("relu", "sigmoid", "tanh", "exp", "square", "neg"):
        w.op(name, name, lambda a, u, b: getattr(torch, name)(a[0]), [x])
    for name in ("sqrt", "rsqrt"):
        w.op(name, name, lambda a, u, b: getattr(torch, name)(a[0]), [positive])
    w.op("activation", "activation", lambda a, u, b: F.gelu(a[0], approximate="tanh"), [x])
    w.op("matmul", "matmul", lambda a, u, b: a[0] @ a[1], [w.draw(B, 3, S, H), w.draw(B, 3, H, 5)])
    w.op("matmul_flat", "matmul", lambda a, u, b: a[0] @ a[1], [x, w.draw(H, 5)])
    w.op("matmul_plain", "matmul", lambda a, u, b: a[0] @ a[1], [w.draw(S, H), w.draw(H, 5)])


def losses(w):
    logits, labels = w.draw(B, S, V, scale=2), w.integers(B, S)
    mask = (torch.rand(B, S, generator=w.random) < 0.7).double()
    flat = lambda z, t, **how: F.cross_entropy(z.flatten(0, -2), t.flatten(), **how)
    w.op("loss_masked", "cross_entropy",
         lambda a, u, b: flat(a[0], labels, reduction="none").view(B, S) * mask,
         [logits, labels, mask])
    ignoring = labels.clone()
    ignoring[0, 2] = ignoring[1, 4] = -100
    for how in ("mean", "sum"):
        w.op("loss_" + how, "cross_entropy",
             lambda a, u, b: flat(a[0], ignoring, reduction=how), [logits, ignoring],
             kinds=["loss"], upstream=False)
    w.op("loss_smoothed", "cross_entropy",
         lambda a, u, b: flat(a[0], labels, label_smoothing=0.1), [logits, labels],
         {"label_smoothing": 0.1}, kinds=["loss"], upstream=False)


def attention(w):
    heads, shared, width = 4, 2, 4
    sizes = [heads * width, shared * width, shared * width]
    attrs = {"theta": 100.0, "heads": heads, "kv_heads": shared, "head_dim": width}

    def fused(a, u, b):
        q, k, v = a[0].split(sizes, -1)
        turned = [turn(x.unflatten(-1, (-1, width)), 100.0, False, 1).flatten(2) for x in (q, k)]
        return (*turned, v)
    w.op("rope", "rope", fused, [w.draw(B, S, sum(sizes))], attrs)
    w.op("rope_interleaved", "rope", lambda a, u, b: turn(a[0], 100.0, True, 2),
         [w.draw(B, heads, S, width)], {"theta": 100.0, "interleaved": True})
    w.op("rope_unstated", "rope", lambda a, u, b: turn(a[0], 10000.0, True, 0),
         [w.draw(S, B, heads, width)])
    how = {"heads": heads, "kv_heads": shared, "causal": True, "scale": 0.4}
    flat = lambda a, u, b: join(attend(split(a[0], heads), split(a[1], shared), split(a[2], shared),
                                       True, 0.4))
    w.op("attention", "attention", flat, [w.draw(B, S, n) for n in sizes], how)
    w.op("attention_heads", "attention", lambda a, u, b: attend(*a, False, width ** -0.5),
         [w.draw(B, heads, S, width) for _ in range(3)], {"causal": False})
    w.op("attention_joined", "attention", lambda a, u, b: join(attend(*a, True, width ** -0.5)),
         [w.draw(B, heads, S, width), *(w.draw(B, shared, S, width) for _ in range(2))],
         {"causal": True})
    first = lambda x: x.transpose(0, 1)
    w.op("attention_sequence_first", "attention",
         lambda a, u, b: first(flat([first(x) for x in a], u, b)),
         [w.draw(S, B, n) for n in sizes], how)
    w.op("attention_cached", "attention",
         lambda a, u, b: attend(*a, True, width ** -0.5),
         [w.draw(B, heads, 2, width), *(w.draw(B, heads, S, width) for _ in range(2))],
         {"causal": True})


def residual(w):
    """One value that two ops consume: the gradient that arrives at it is the sum of theirs."""
    x = w.draw(B, S, H)
    _, (y,), _ = w.op("stream", "silu", lambda a, u, b: F.silu(a[0]), [x])
    y = y.detach().to(w.dtype).double()
    name = ["stream/output.0"]
    weight = w.draw(H)
    _, _, (one,) = w.op("branch", "rmsnorm", lambda a, u, b: rms(a[0], u, 1e-5), [y],
                        {"eps": 1e-5}, weight=weight, stated=name)
    _, _, (two, _) = w.op("join", "add", lambda a, u, b: a[0] + a[1], [y, w.draw(B, S, H)],
                          stated=name)
    arrived = next(i for i, (r, _) in enumerate(w.records)
                   if r["module"] == "stream" and r["kind"] == "grad_output")
    record, _ = w.records[arrived]
    w.records[arrived] = (record, (one + two).to(w.dtype))
    slope = torch.autograd.functional.vjp(F.silu, x, (one + two).to(w.dtype).double())[1]
    given = next(i for i, (r, _) in enumerate(w.records)
                 if r["module"] == "stream" and r["kind"] == "grad_input")
    w.records[given] = (w.records[given][0], slope.to(w.dtype))


def parts(w):
    for name, sizes in (("split", (H, H, H)), ("split_grouped", (2 * H, H, H)), ("split_in_two", (H, H))):
        w.op(name, "split", lambda a, u, b: a[0].split(sizes, -1), [w.draw(B, S, sum(sizes))])


def updates(w):
    x, y, z = w.draw(B, S, H), w.draw(B, S, H), (w.draw(B, S, H).abs() + 0.5).to(w.dtype).double()
    w.op("addcmul", "addcmul", lambda a, u, b: torch.addcmul(*a, value=0.1), [x, y, z], {"value": 0.1})
    w.op("addcdiv", "addcdiv", lambda a, u, b: torch.addcdiv(*a, value=-0.25), [x, y, z], {"value": -0.25})
    w.op("lerp", "lerp", lambda a, u, b: torch.lerp(*a, 0.1), [x, y], {"weight": 0.1})


if __name__ == "__main__":
    root = pathlib.Path(__file__).parent.parent / "data" / "recompute"
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        writer = Writer(dtype)
        for made in (dense, norms, pointwise, losses, attention, residual, functions, parts, updates):
            made(writer)
        writer.write(root / name)
