# SPDX-License-Identifier: Apache-2.0
"""From each rank's gradients to the next parameters: reduction, clipping, AdamW, and ZeRO's cuts of them."""
import numpy as np

from params import part_of
from rounding import to_bf16


class Optimizer:
    """Keeps of each parameter an fp32 master and two moments: all of it or, under ZeRO, this rank's range of it."""

    def __init__(self, p, params):
        self.p, self.params, self.count = p, params, 0
        for param in params.values():
            param.master = self.own(param, param.exact)
            param.m, param.v = np.zeros_like(param.master), np.zeros_like(param.master)

    def resume(self, saved, steps):
        """Goes on from what a checkpoint holds: master and moments of each parameter, whole."""
        p = self.p
        for param in self.params.values():
            part = lambda whole: self.own(param, part_of(p.c, param.spec, whole, p.at["tp"]))
            kept = (part(saved[param.name][1]), part(saved[param.name][2]), param.master, param.value)
            param.m, param.v, param.master, param.value = p.site(f"resume:{param.name}", kept, param=param, part=part, saved=saved)
        self.count = p.site("resume.count", steps)

    # ---- ZeRO's ranges
    def length(self, param):
        """Elements of each rank's range."""
        size, n, align = param.value.size, self.p.c.dp, self.p.c.align
        return -(-(-(-size // align) * align) // n)

    def own(self, param, whole):
        if not self.p.c.zero:
            return np.array(whole)
        per = self.length(param)
        flat = np.zeros(per * self.p.c.dp, np.float32)
        flat[:whole.size] = whole.reshape(-1)
        first = self.p.at["dp"] * per
        return flat[first:first + per][:max(0, whole.size - first)]

    def whole(self, param, own):
        if not self.p.c.zero:
            return own
        padded = np.zeros(self.length(param), np.float32)
        padded[:own.size] = own
        flat = self.p.gather("dp", padded, 0)
        return flat[:param.value.size].reshape(param.value.shape)

    def record(self, phase, kind, param, value, cut=False, dtype="fp32", inputs=()):
        """`cut`: the value is this rank's range."""
        p, dims, shape = self.p, param.spec.dims, list(param.spec.shape)
        if cut and p.c.zero and p.c.dp > 1:
            align = f":align={p.c.align}" if p.c.align > 1 else ""
            dims = f"flat[dp{align}] of {dims}"
            if value.size == 0:
                return
        notes = p.notes(param.addends + (["pp"] if param.tied_over_stages else [])) if kind == "grad" else ""
        p.record(param.identity(kind), value, dims + (" # " + notes if notes else ""), phase=phase, dtype=dtype, shape=shape, inputs=inputs)

    def record_state(self, everything):
        p = self.p
        for param in self.params.values():
            self.record("state", "param", param, self.own(param, param.value) if p.c.zero == 3 else param.value, p.c.zero == 3, p.c.precision)
            if everything and not param.frozen:
                self.record_kept(param, "state")

    def record_kept(self, param, phase, inputs=()):
        self.record(phase, "moment1", param, param.m, True, self.p.c.moments, inputs)
        self.record(phase, "moment2", param, param.v, True, self.p.c.moments, inputs)
        if self.p.c.precision != "fp32":
            self.record(phase, "master", param, param.master, True, inputs=inputs)

    # ---- the phases of a step
    def step(self):
        trained = [param for param in self.params.values() if not param.frozen]
        for param in trained:
            self.record("backward", "grad", param, param.grad, inputs=param.sources)
        for param in trained:
            param.own_grad = self.reduced(param)
        for param in trained:
            self.record("sync", "main_grad", param, param.own_grad, True, inputs=[f"backward:{param.identity('grad')}"])
        norm = self.clip(trained)
        self.count = self.p.site("optimizer.count", self.count + 1)
        for param in trained:
            self.update(param)
        return norm

    def reduced(self, param):
        p = self.p
        whole = self.over_stages(param, param.grad)
        for axis in reversed(param.addends):
            whole = p.sum(axis, whole, f"sync.{axis}:{param.name}")
        own = self.own(param, p.site(f"reduced:{param.name}", whole, local=param.grad, param=param))
        return p.site("unscale", own / np.float32(p.c.loss_scale))

    def over_stages(self, param, grad):
        """Copies of a tied weight on the first and the last stage have a share each."""
        p = self.p
        if not param.tied_over_stages:
            return grad
        members = p.world.group("pp", p.rank).members
        shares = p.world.group("pp", p.rank).exchange(p.rank, grad)
        return p.site(f"sync.pp:{param.name}", shares[0] + shares[-1], local=grad, shares=shares, members=members)

    def counted(self, param):
        """1 on the rank that counts this part for the norm: one of those that hold it."""
        p = self.p
        axes = [axis for axis in param.replicas if not (p.c.zero and axis == "dp")]
        axes += ["tp"] if param.spec.cut is None else []
        axes += ["pp"] if param.tied_over_stages else []
        return float(all(p.at[axis] == 0 for axis in axes))

    def clip(self, trained):
        p = self.p
        squares = [p.site(f"counted:{param.name}", self.counted(param)) * np.sum(param.own_grad.astype(np.float64) ** 2) for param in trained]
        norm = p.world.everybody.sum(p.rank, np.array([sum(squares)]))[0] ** 0.5
        p.record("clip/state.grad_norm", np.float32(norm), phase="clip",
                 inputs=[f"sync:{name[:-7]}/main_grad.weight" for name in p.world.trained])
        factor = p.site("clip.factor", min(1.0, p.c.clip / (norm + 1e-6)))
        for param in trained:
            k = p.site(f"clip:{param.name}", factor)
            param.own_grad = param.own_grad * np.float32(k)
            self.record("clip", "main_grad", param, param.own_grad, True,
                        inputs=[f"sync:{param.identity('main_grad')}", "clip:clip/state.grad_norm"])
        return norm

    def update(self, param):
        """AdamW; matrices decay, norms do not."""
        p, c, g = self.p, self.p.c, param.own_grad
        old = param.m, param.v, param.master
        lr = p.site("lr", c.lr)
        decay = p.site(f"decay:{param.name}", 0.0 if len(param.spec.shape) == 1 else c.decay)
        count = p.site(f"count:{param.name}", self.count)
        beta1, beta2 = (np.float32(beta) for beta in c.betas)
        param.m = beta1 * param.m + (1 - beta1) * g
        param.v = beta2 * param.v + (1 - beta2) * g * g
        if c.moments == "bf16":
            param.m, param.v = to_bf16(param.m), to_bf16(param.v)
        step = (param.m / np.float32(1 - c.betas[0] ** count)) / (np.sqrt(param.v / np.float32(1 - c.betas[1] ** count)) + np.float32(c.adam_eps))
        param.master = param.master * np.float32(1 - lr * decay) - np.float32(lr) * step
        param.m, param.v, param.master = p.site(f"update:{param.name}", (param.m, param.v, param.master), old=old, step=step)
        self.record_kept(param, "optimizer", [f"clip:{param.identity('main_grad')}"])
        param.before = param.value
        fresh = self.whole(param, p.round(param.master))
        param.value = p.site(f"written:{param.name}", fresh, before=param.before)
        value = self.own(param, param.value) if c.zero == 3 else param.value
        inputs = [f"optimizer:{param.identity(kind)}" for kind in ("moment1", "moment2", "master")]
        self.record("optimizer", "param", param, value, c.zero == 3, c.precision, inputs)
