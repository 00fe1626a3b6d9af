# SPDX-License-Identifier: Apache-2.0
"""The modules of a decoder as a rank runs them. `forward` records its output, `backward` the gradient that arrives at it."""
import numpy as np

import ops


class Module:
    op = ""

    def __init__(self, p, name, inputs, params=(), outputs=1, **attrs):
        self.p, self.name, self.inputs, self.attrs, self.kept = p, name, list(inputs), attrs, {}
        self.params = list(params)
        for identity in self.inputs:
            p.feeds.setdefault(identity, []).extend(f"backward:{name}/grad_output.{slot}" for slot in range(outputs))
        for param in self.params:
            param.sources = getattr(param, "sources", []) + self.inputs + [f"backward:{name}/grad_output.0"]

    @property
    def identity(self):
        return self.name + "/output.0"

    def keep(self, *values):
        self.kept[self.p.microbatch] = values

    def recall(self):
        return self.kept.pop(self.p.microbatch)

    def came_in(self, value, slot, dims):
        self.p.record(f"{self.name}/input.{slot}", value, dims, microbatch=self.p.microbatch)

    def out(self, value, dims, slot=0, kind="output", dtype=None, **context):
        p = self.p
        identity = f"{self.name}/{kind}.{slot}"
        value = p.site(f"{p.phase}:{identity}", value, **context)
        inputs = self.inputs + [param.identity("param") for param in self.params]
        p.record(identity, value, dims, microbatch=p.microbatch, dtype=dtype or p.c.precision, op=self.op, attrs=self.attrs, inputs=inputs)
        return value

    def arrives(self, g, dims, slot=0, dtype=None):
        p = self.p
        identity = f"{self.name}/grad_output.{slot}"
        g = p.site(f"backward:{identity}", g)
        inputs = p.feeds.get(f"{self.name}/output.{slot}", [])
        p.record(identity, g, dims, microbatch=p.microbatch, dtype=dtype or p.c.precision, inputs=inputs)
        return g

    def add_gradient(self, param, value, **context):
        p = self.p
        value = p.site(f"gradient:{param.name}", value, module=self.name, **context)
        if not param.frozen:
            param.grad += p.site("accumulate", p.round(value))


class Embedding(Module):
    op = "embedding"

    def forward(self, ids):
        p, weight = self.p, self.weight()
        if not p.recomputing:
            self.came_in(ids, 0, p.whole_sequence(""))
        first = p.at["tp"] * len(weight)
        here = (ids >= first) & (ids < first + len(weight)) if p.c.tp > 1 else np.ones(ids.shape, bool)
        local = np.clip(ids - first, 0, len(weight) - 1)
        self.keep(local, here)
        shown = p.site("embedding.mask", here)
        y = p.sum_over_tp(weight[local] * shown[..., None].astype(np.float32), "sum:embedding")
        if p.c.nudge:
            whole = np.random.default_rng(p.c.nudge_seed).uniform(-1, 1, (p.c.batch, p.c.seq, p.c.hidden)).astype(np.float32)
            y = p.round(y * (1 + np.float32(p.c.nudge) * p.take(whole, sequence_cut=True)))
        return self.out(y, p.stream())

    def weight(self):
        return self.p.site(f"weight:{self.params[0].name}", self.params[0].value, before=self.params[0].before)

    def backward(self, g):
        p = self.p
        g = self.arrives(g, p.stream())
        if p.c.sp:
            g = p.gather("tp", g, 1)
        local, here = self.recall()
        grad = np.zeros_like(self.params[0].grad)
        tokens = np.flatnonzero(here)
        if p.c.scatter == "reversed":
            tokens = tokens[::-1]
        np.add.at(grad, local.reshape(-1)[tokens], g.reshape(-1, g.shape[-1])[tokens])
        self.add_gradient(self.params[0], grad)


class Norm(Module):
    op = "rmsnorm"

    def forward(self, x):
        p = self.p
        weight = p.site(f"weight:{self.params[0].name}", self.params[0].value, before=self.params[0].before)
        y, kept = ops.rmsnorm(x, weight, p.site(f"eps:{self.name}", p.c.eps), p.round, p.c.norm)
        self.keep(kept)
        return self.out(y, p.stream())

    def backward(self, g):
        p = self.p
        dx, dweight = ops.rmsnorm_backward(self.arrives(g, p.stream()), *self.recall())
        self.add_gradient(self.params[0], dweight)
        return p.round(dx)


class Linear(Module):
    """`cut`: "column" (the output is cut over tp), "row" (the input is, and the sum is taken) or None."""
    op = "linear"

    def __init__(self, p, name, inputs, param, cut, last):
        super().__init__(p, name, inputs, [param])
        self.cut, self.last = cut, last

    def dims(self):
        p = self.p
        last = self.last
        if self.cut == "column" and p.c.tp > 1:
            pad = f":pad={p.c.vocab}" if self.name == "lm_head" else ""
            last = f"{last}[tp{pad}]"
        return p.whole_sequence(last) if self.cut == "column" else p.stream(last)

    def forward(self, x):
        p, param = self.p, self.params[0]
        if self.cut == "column" and p.c.sp:
            x = p.gather("tp", x, 1)
        weight = p.site(f"weight:{param.name}", param.value, before=param.before)
        self.keep(x, weight)
        y = p.round(p.matmul(p.site(f"into:{self.name}", x), weight.T))
        if self.cut == "row":
            y = p.sum_over_tp(y, f"sum:{self.name}")
        return self.out(y, self.dims())

    def backward(self, g):
        p, param = self.p, self.params[0]
        g = self.arrives(g, self.dims())
        if self.cut == "row" and p.c.sp:
            g = p.gather("tp", g, 1)
        x, weight = self.recall()
        flat = lambda a: a.reshape(-1, a.shape[-1])
        self.add_gradient(param, p.matmul(flat(g).T, flat(x)), x=flat(x), g=flat(g))
        dx = p.round(p.matmul(g, weight))
        return p.sum_over_tp(dx, f"sum:{self.name}.backward") if self.cut == "column" else dx


class Rope(Module):
    """Splits what the projections put out into heads and turns q and k."""
    op = "rope"

    def dims(self):
        return [self.p.whole_sequence(self.p.cut(part, "tp")) for part in "qkv"]

    def forward(self, q, k, v):
        p = self.p
        heads = lambda x: x.reshape(*x.shape[:2], -1, p.c.head_dim)
        flat = lambda x: np.ascontiguousarray(x).reshape(*x.shape[:2], -1)
        positions = p.site(f"positions:{self.name}", p.positions())
        theta = p.site(f"theta:{self.name}", p.c.theta)
        turned = [p.round(ops.rotate(heads(x), positions, theta)) for x in (q, k)]
        self.keep(positions, theta)
        parts = (flat(turned[0]), flat(turned[1]), v)
        return [heads(self.out(part, dims, slot)) for slot, (part, dims) in enumerate(zip(parts, self.dims()))]

    def backward(self, *grads):
        p = self.p
        flat = lambda x: np.ascontiguousarray(x).reshape(*x.shape[:2], -1)
        grads = [self.arrives(flat(g), dims, slot) for slot, (g, dims) in enumerate(zip(grads, self.dims()))]
        positions, theta = self.recall()
        heads = lambda x: x.reshape(*x.shape[:2], -1, p.c.head_dim)
        back = lambda g: flat(p.round(ops.rotate(heads(g), positions, theta, -1)))
        return back(grads[0]), back(grads[1]), grads[2]


class Attention(Module):
    """Keys and values of all context-parallel ranks are gathered; each rank has its own queries."""
    op = "attention"

    def allowed(self):
        p, c = self.p, self.p.c
        queries = p.positions_of(p.at["cp"])[:, None]
        keys = np.concatenate([p.positions_of(r) for r in range(c.cp)])[None, :]
        allow = keys <= queries
        if c.window:
            allow &= keys > queries - c.window
        if c.documents > 1:
            length = c.seq // c.documents
            allow &= keys // length == queries // length
        return p.site(f"mask:{self.name}", allow, keys=keys, queries=queries)[None]

    def dims(self):
        return self.p.whole_sequence(self.p.cut("o", "tp"))

    def forward(self, q, k, v):
        p = self.p
        if p.c.cp > 1:
            k, v = p.gather("cp", k, 1), p.gather("cp", v, 1)
        y, kept = ops.attention(q, k, v, self.allowed(), p.round)
        self.keep(kept)
        y = p.round(np.ascontiguousarray(y)).reshape(*y.shape[:2], -1)
        return self.out(y, self.dims())

    def backward(self, g):
        p = self.p
        g = self.arrives(g, self.dims())
        grads = ops.attention_backward(g.reshape(*g.shape[:2], -1, p.c.head_dim), *self.recall(), p.round)
        dq, dk, dv = [p.round(np.ascontiguousarray(x)) for x in grads]
        dk, dv = p.site(f"keys:{self.name}.backward", (dk, dv))
        if p.c.cp > 1:
            dk = p.round(p.sum_and_cut("cp", dk, 1, f"cp:{self.name}.backward"))
            dv = p.round(p.sum_and_cut("cp", dv, 1, f"cp:{self.name}.backward"))
        return dq, dk, dv


class Add(Module):
    op = "add"

    def forward(self, x, y):
        return self.out(self.p.round(x + y), self.p.stream())

    def backward(self, g):
        return self.arrives(g, self.p.stream())


class Dropout(Module):
    """The mask depends on seed, step, module and place in the whole batch, not on the layout."""
    op = "dropout"

    def forward(self, x):
        p = self.p
        seed = p.site(f"rng:{self.name}", p.c.seed)
        random = np.random.default_rng([seed, p.step, *self.name.encode()])
        whole = random.random((p.c.batch, p.c.seq, p.c.hidden)) >= p.c.dropout
        mask = p.take(whole, sequence_cut=True).astype(np.float32) / np.float32(1 - p.c.dropout)
        self.keep(mask)
        return self.out(p.round(x * mask), p.stream())

    def backward(self, g):
        return self.p.round(self.arrives(g, self.p.stream()) * self.recall()[0])


class SwiGLU(Module):
    op = "swiglu"

    def __init__(self, p, name, inputs, dims):
        super().__init__(p, name, inputs)
        self.dims = dims

    def forward(self, gate, up):
        p = self.p
        self.keep(gate, up)
        return self.out(p.round(p.round(ops.silu(gate)) * up), self.dims)

    def backward(self, g):
        p = self.p
        g = self.arrives(g, self.dims)
        gate, up = self.recall()
        return p.round(g * up * ops.silu_slope(gate)), p.round(g * ops.silu(gate))
