# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts: experts are spread over ep, each may be cut over tp. Tokens are gathered over ep, and each rank's sums are
given back to where the tokens came from."""
import numpy as np

import ops
from modules import Linear, Module, SwiGLU


class Gate(Module):
    """Weights of the two best experts of each token, zero for the others."""
    op = "softmax_topk"

    def forward(self, logits):
        p = self.p
        picked, kept = ops.top_two(logits)
        self.keep(kept)
        return self.out(p.round(picked), p.stream("e"))

    def backward(self, g):
        p = self.p
        return p.round(ops.top_two_backward(self.arrives(g, p.stream("e")), *self.recall()))


class Expert:
    """One expert on the tokens that were routed to it, in their global order."""

    def __init__(self, p, name, inputs, params, number):
        self.p, self.number = p, number
        self.gate_up = ExpertLinear(p, name + "gate_up", inputs, params[name + "gate_up.weight"], "column", "(gate|up)")
        self.act = SwiGLU(p, name + "act", [self.gate_up.identity], p.cut("t f", "tp"))
        self.down = ExpertLinear(p, name + "down", [self.act.identity], params[name + "down.weight"], "row", "h")

    def forward(self, x):
        return self.down.forward(self.act.forward(*np.split(self.gate_up.forward(x), 2, -1)))

    def backward(self, g):
        return self.gate_up.backward(np.concatenate(self.act.backward(self.down.backward(g)), -1))


class ExpertLinear(Linear):
    """Its sums over tp are taken once for all experts, by whoever combines them."""

    def dims(self):
        last = self.p.cut(self.last, "tp") if self.cut == "column" else self.last
        partial = " # tp:partial" if self.cut == "row" and self.p.c.tp > 1 else ""
        return f"t {last}{partial}"

    def forward(self, x):
        p, param = self.p, self.params[0]
        weight = p.site(f"weight:{param.name}", param.value, before=param.before)
        self.keep(x, weight)
        return self.out(p.round(p.matmul(x, weight.T)), self.dims())

    def backward(self, g):
        p, param = self.p, self.params[0]
        g = self.arrives(g, self.dims().partition(" #")[0])
        x, weight = self.recall()
        self.add_gradient(param, p.matmul(g.T, x), x=x, g=g)
        return p.round(p.matmul(g, weight))


class Combine(Module):
    op = "moe_combine"

    def forward(self, partial):
        p = self.p
        if p.c.ep > 1:
            partial = p.sum_and_cut("ep", partial, 0, f"ep:{self.name}")
        return self.out(p.sum_over_tp(partial, f"sum:{self.name}"), p.stream())

    def backward(self, g):
        p = self.p
        g = self.arrives(g, p.stream())
        if p.c.sp:
            g = p.gather("tp", g, 1)
        return p.gather("ep", g, 0) if p.c.ep > 1 else g


class Mixture:
    def __init__(self, p, name, inputs, params):
        self.p, c = p, p.c
        self.router = Linear(p, name + "router", inputs, params[name + "router.weight"], None, "e")
        self.gate = Gate(p, name + "topk", [self.router.identity])
        per_rank = c.experts // c.ep
        mine = range(p.at["ep"] * per_rank, (p.at["ep"] + 1) * per_rank)
        self.experts = [Expert(p, f"{name}experts.{e}.", inputs, params, e) for e in mine]
        every = [f"{name}experts.{e}.down/output.0" for e in range(c.experts)]
        self.combine = Combine(p, name + "combine", [self.gate.identity] + every)
        self.kept = {}

    def gathered(self, x):
        p = self.p
        x = p.gather("tp", x, 1) if p.c.sp else x
        return p.gather("ep", x, 0) if p.c.ep > 1 else x

    def given_back(self, g, sums_over_tp, site):
        """The gradient of `gathered`; over tp the ranks hold addends of it."""
        p = self.p
        if p.c.ep > 1:
            g = p.sum_and_cut("ep", g, 0, f"ep:{site}")
        return p.sum_over_tp(g, f"sum:{site}") if sums_over_tp else g

    def forward(self, x):
        p = self.p
        weights = self.gate.forward(self.router.forward(x))
        wide = self.gathered(x)
        flat, picked = wide.reshape(-1, wide.shape[-1]), self.gathered(weights).reshape(-1, p.c.experts)
        total = np.zeros_like(flat)
        done = []
        for expert in self.experts:
            rows = np.flatnonzero(p.site(f"routed:{self.gate.name}", picked)[:, expert.number])
            y = expert.forward(flat[rows])
            total[rows] += y * picked[rows, expert.number, None]
            done.append((rows, y))
        self.kept[p.microbatch] = (wide.shape, picked, done)
        return self.combine.forward(p.round(total).reshape(wide.shape))

    def backward(self, g):
        p = self.p
        g = self.combine.backward(g).reshape(-1, g.shape[-1])
        shape, picked, done = self.kept.pop(p.microbatch)
        dx, dpicked = np.zeros_like(g), np.zeros_like(picked)
        for expert, (rows, y) in zip(self.experts, done):
            dpicked[rows, expert.number] = np.sum(g[rows] * y, -1)
            dx[rows] += expert.backward(p.round(g[rows] * picked[rows, expert.number, None]))
        dx = self.given_back(p.round(dx).reshape(shape), True, f"{self.combine.name}.backward")
        dpicked = self.given_back(dpicked.reshape(*shape[:2], -1), True, f"{self.gate.name}.backward")
        return p.round(dx + self.router.backward(self.gate.backward(p.round(dpicked))))
