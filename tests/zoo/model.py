# SPDX-License-Identifier: Apache-2.0
"""The decoder: embedding, layers of this rank's pipeline stage, head and loss."""
import numpy as np

from loss import Loss
from modules import Add, Attention, Dropout, Embedding, Linear, Norm, Rope, SwiGLU
from moe import Mixture


class Layer:
    def __init__(self, p, number, before, params):
        self.p, self.number, c = p, number, p.c
        name = f"layers.{number}."
        weight = lambda module: params[name + module + ".weight"]
        linear = lambda module, inputs, cut, last: Linear(p, name + module, inputs, weight(module), cut, last)
        heads, groups = c.heads * c.head_dim, c.kv_heads * c.head_dim
        self.input_norm = Norm(p, name + "input_norm", [before], [weight("input_norm")])
        normed = [self.input_norm.identity]
        if c.split:
            self.qkv = [linear("attn." + part, normed, "column", part) for part in "qkv"]
        else:
            self.qkv = [linear("attn.qkv", normed, "column", f"(q:{heads}|k:{groups}|v:{groups})")]
        self.rope = Rope(p, name + "attn.rope", [one.identity for one in self.qkv], outputs=3)
        self.core = Attention(p, name + "attn.core", [f"{self.rope.name}/output.{slot}" for slot in range(3)])
        self.o_proj = linear("attn.o_proj", [self.core.identity], "row", "h")
        self.attn_drop = self.dropout(name + "attn.drop", self.o_proj.identity)
        self.attn_add = Add(p, name + "attn.add", [before, (self.attn_drop or self.o_proj).identity])
        self.post_norm = Norm(p, name + "post_norm", [self.attn_add.identity], [weight("post_norm")])
        self.mlp = (Mixture if c.experts else Mlp)(p, name + "mlp.", [self.post_norm.identity], params)
        made = f"{name}mlp.combine/output.0" if c.experts else f"{name}mlp.down/output.0"
        self.mlp_drop = self.dropout(name + "mlp.drop", made)
        self.mlp_add = Add(p, name + "mlp.add", [self.attn_add.identity, self.mlp_drop.identity if self.mlp_drop else made])
        self.kept = {}

    def dropout(self, name, before):
        return Dropout(self.p, name, [before]) if self.p.c.dropout else None

    def forward(self, x):
        p = self.p
        self.kept[p.microbatch] = x
        qkv = [one.forward(normed) for normed in [self.input_norm.forward(x)] for one in self.qkv]
        if len(qkv) == 1:
            q, k = (n * p.c.head_dim // p.c.tp for n in (p.c.heads, p.c.kv_heads))
            qkv = np.split(qkv[0], [q, q + k], -1)
        attended = self.o_proj.forward(self.core.forward(*self.rope.forward(*qkv)))
        x = self.attn_add.forward(x, self.attn_drop.forward(attended) if self.attn_drop else attended)
        y = self.mlp.forward(self.post_norm.forward(x))
        return self.mlp_add.forward(x, self.mlp_drop.forward(y) if self.mlp_drop else y)

    def recompute(self):
        p = self.p
        p.recomputing = True
        self.forward(p.site(f"recompute:layers.{self.number}", self.kept[p.microbatch]))
        p.recomputing = False

    def backward(self, g):
        p = self.p
        if p.c.recompute:
            self.recompute()
        g = self.mlp_add.backward(g)
        inner = self.mlp_drop.backward(g) if self.mlp_drop else g
        g = self.attn_add.backward(p.round(g + self.post_norm.backward(self.mlp.backward(inner))))
        inner = self.attn_drop.backward(g) if self.attn_drop else g
        parts = self.rope.backward(*self.core.backward(self.o_proj.backward(inner)))
        if len(self.qkv) == 1:
            dnormed = self.qkv[0].backward(np.concatenate(parts, -1))
        else:
            dnormed = p.round(sum(one.backward(part) for one, part in zip(self.qkv, parts)))
        return p.round(g + self.input_norm.backward(dnormed))


class Mlp:
    def __init__(self, p, name, inputs, params):
        linear = lambda part, inputs, cut, last: Linear(p, name + part, inputs, params[f"{name}{part}.weight"], cut, last)
        if p.c.split:
            self.wide = [linear(part, inputs, "column", "f") for part in ("gate", "up")]
        else:
            self.wide = [linear("gate_up", inputs, "column", "(gate|up)")]
        self.p = p
        self.act = SwiGLU(p, name + "act", [one.identity for one in self.wide], p.whole_sequence(p.cut("f", "tp")))
        self.down = linear("down", [self.act.identity], "row", "h")

    def forward(self, x):
        wide = [one.forward(x) for one in self.wide]
        gate, up = wide if len(wide) == 2 else np.split(wide[0], 2, -1)
        return self.down.forward(self.act.forward(gate, up))

    def backward(self, g):
        parts = self.act.backward(self.down.backward(g))
        if len(self.wide) == 2:
            return self.p.round(sum(one.backward(part) for one, part in zip(self.wide, parts)))
        return self.wide[0].backward(np.concatenate(parts, -1))


class Model:
    def __init__(self, p, params):
        self.p, c = p, p.c
        stage, per_stage = p.at["pp"], c.layers // c.pp
        self.first, self.last = stage == 0, stage == c.pp - 1
        before = "embedding/output.0"
        if self.first:
            self.embedding = Embedding(p, "embedding", ["embedding/input.0"], [params["embedding.weight"]])
        self.layers = []
        for number in range(stage * per_stage, (stage + 1) * per_stage):
            if number:
                before = f"layers.{number - 1}.mlp.add/output.0"
            self.layers.append(Layer(p, number, before, params))
        if self.last:
            self.final_norm = Norm(p, "final_norm", [f"layers.{c.layers - 1}.mlp.add/output.0"], [params["final_norm.weight"]])
            head = params["embedding.weight" if c.tied else "lm_head.weight"]
            self.lm_head = Linear(p, "lm_head", [self.final_norm.identity], head, "column", "v")
            self.loss = Loss(p, "loss", [self.lm_head.identity])

    def forward(self, batch, total):
        p = self.p
        p.phase = "forward"
        ids, labels, mask = (p.take(whole) for whole in batch)
        x = self.embedding.forward(ids) if self.first else p.site("receive", p.world.mail.receive(p.rank - self.stride, p.rank))
        for layer in self.layers:
            x = layer.forward(x)
        if not self.last:
            p.world.mail.send(p.rank, p.rank + self.stride, x)
            return np.float32(0)
        logits = self.lm_head.forward(self.final_norm.forward(x))
        p.phase = "loss"
        return self.loss.forward(logits, labels, mask, total)

    @property
    def stride(self):
        return self.p.c.world // self.p.c.pp

    def backward(self):
        p = self.p
        p.phase = "backward"
        if self.last:
            g = self.final_norm.backward(self.lm_head.backward(self.loss.backward()))
        else:
            g = p.site("receive.backward", p.world.mail.receive(p.rank + self.stride, p.rank))
        for layer in reversed(self.layers):
            g = layer.backward(g)
        if self.first:
            return self.embedding.backward(g)
        p.world.mail.send(p.rank, p.rank - self.stride, g)
