# SPDX-License-Identifier: Apache-2.0
"""A small residual network trained in NumPy: one run is told by `Recipe`, and the same recipe in other arithmetic is a
correct twin. Weights have siblings in other layers, as those of real models have."""
from dataclasses import dataclass, replace

import numpy as np

F = np.float32
VOCABULARY, WIDTH, INNER, BATCH = 48, 32, 96, 32


def to_bf16(x):
    """Rounded to nearest even."""
    bits = np.ascontiguousarray(x, F).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(F)


@dataclass(frozen=True)
class Recipe:
    # what the run is
    seed: int = 0            # of the initial weights
    data: int = 0            # of what it is fed
    steps: int = 10
    layers: int = 6
    optimizer: str = "adamw"
    rate: float = 1e-3
    decay: float = 0.01
    betas: tuple = (0.9, 0.999)
    lost: int = 0            # behind this step the optimizer begins anew; 0: never
    frozen: str = ""         # parameters whose names begin so stay as they are
    unreduced: str = ""      # these get the gradient of half of the batch
    # how it is computed
    micro: int = 1           # micro-batches that are added up
    parts: int = 1           # of the inner extent, summed one after the other
    fused: bool = False      # the optimizer's terms in another order
    autocast: bool = False   # matrix products of bf16


def initial(recipe):
    draw = np.random.default_rng(1000 + recipe.seed)
    normal = lambda *shape: (draw.standard_normal(shape) * shape[-1] ** -0.5).astype(F)  # noqa: E731
    params = {"embed.weight": draw.standard_normal((VOCABULARY, WIDTH)).astype(F)}
    for n in range(recipe.layers):
        params[f"layers.{n}.norm.weight"] = np.ones(WIDTH, F)
        params[f"layers.{n}.up.weight"] = normal(INNER, WIDTH)
        params[f"layers.{n}.up.bias"] = np.zeros(INNER, F)
        params[f"layers.{n}.down.weight"] = normal(WIDTH, INNER) * F(0.5)
    params["norm.weight"] = np.ones(WIDTH, F)
    params["head.weight"] = normal(VOCABULARY, WIDTH)
    return params


class Network:
    def __init__(self, recipe):
        self.recipe = recipe

    def product(self, a, b):
        """a @ b, the inner extent in parts."""
        if self.recipe.autocast:
            a, b = to_bf16(a), to_bf16(b)
        cut = np.array_split(np.arange(a.shape[-1]), self.recipe.parts)
        out = a[:, cut[0]] @ b[cut[0]]
        for c in cut[1:]:
            out = out + a[:, c] @ b[c]
        return to_bf16(out) if self.recipe.autocast else out

    def norm(self, x, weight):
        scale = F(1) / np.sqrt((x * x).mean(-1, keepdims=True, dtype=F) + F(1e-6))
        return x * scale * weight, scale

    def norm_back(self, slope, x, scale, weight):
        along = slope * weight
        inner = (along * x).mean(-1, keepdims=True, dtype=F)
        return scale * along - x * scale ** 3 * inner, (slope * x * scale).sum(0, dtype=F)

    def gradients(self, p, ids, targets, count):
        """Of the sum of the losses over `count`."""
        layers, grads, kept = self.recipe.layers, {}, []
        x = p["embed.weight"][ids]
        for n in range(layers):
            normed, scale = self.norm(x, p[f"layers.{n}.norm.weight"])
            up = self.product(normed, p[f"layers.{n}.up.weight"].T) + p[f"layers.{n}.up.bias"]
            gate = F(1) / (F(1) + np.exp(-up))
            inner = up * gate
            kept.append((x, normed, scale, up, gate, inner))
            x = x + self.product(inner, p[f"layers.{n}.down.weight"].T)
        last, scale = self.norm(x, p["norm.weight"])
        logits = self.product(last, p["head.weight"].T)
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True, dtype=F)
        slope = shares
        slope[np.arange(len(ids)), targets] -= F(1)
        slope = (slope / F(count)).astype(F)
        grads["head.weight"] = self.product(slope.T, last)
        slope, grads["norm.weight"] = self.norm_back(self.product(slope, p["head.weight"]), x, scale, p["norm.weight"])
        for n in reversed(range(layers)):
            x, normed, scale, up, gate, inner = kept[n]
            grads[f"layers.{n}.down.weight"] = self.product(slope.T, inner)
            of_up = self.product(slope, p[f"layers.{n}.down.weight"]) * gate * (F(1) + up * (F(1) - gate))
            grads[f"layers.{n}.up.weight"] = self.product(of_up.T, normed)
            grads[f"layers.{n}.up.bias"] = of_up.sum(0, dtype=F)
            back, grads[f"layers.{n}.norm.weight"] = self.norm_back(
                self.product(of_up, p[f"layers.{n}.up.weight"]), x, scale, p[f"layers.{n}.norm.weight"])
            slope = slope + back
        grads["embed.weight"] = np.zeros_like(p["embed.weight"])
        np.add.at(grads["embed.weight"], ids, slope)
        return grads


class Optimizer:
    def __init__(self, recipe, params):
        self.recipe, self.step = recipe, 0
        self.first = {n: np.zeros_like(p) for n, p in params.items()}
        self.second = {n: np.zeros_like(p) for n, p in params.items()}

    def way(self, n, g):
        m, v, (b1, b2) = self.first, self.second, map(F, self.recipe.betas)
        if self.recipe.optimizer == "adamw":
            m[n] = m[n] + (F(1) - b1) * (g - m[n]) if self.recipe.fused else b1 * m[n] + (F(1) - b1) * g
            v[n] = b2 * v[n] + (F(1) - b2) * (g * g)
            one, two = F(1 - float(b1) ** self.step), F(1 - float(b2) ** self.step)
            if self.recipe.fused:
                return m[n] / (np.sqrt(v[n]) / np.sqrt(two) + F(1e-8)) / one
            return (m[n] / one) / (np.sqrt(v[n] / two) + F(1e-8))
        if self.recipe.optimizer == "sgd":
            m[n] = F(0.9) * m[n] + g
            return m[n] * F(30)
        if self.recipe.optimizer == "lion":
            way = np.sign(F(0.9) * m[n] + F(0.1) * g)
            m[n] = F(0.99) * m[n] + F(0.01) * g
            return way * F(0.3)
        old = F(1 - self.step ** -0.8)  # adafactor
        square = g * g + F(1e-30)
        v[n] = old * v[n] + (F(1) - old) * square
        size = v[n] if g.ndim < 2 else v[n].mean(1, keepdims=True) * v[n].mean(0, keepdims=True) / v[n].mean()
        way = g / np.sqrt(size)
        return way / max(F(1), np.sqrt((way * way).mean(dtype=F)))

    def update(self, params, grads):
        self.step += 1
        rate, decay = F(self.recipe.rate), F(self.recipe.decay)
        for n, g in grads.items():
            if self.recipe.frozen and n.startswith(self.recipe.frozen):
                continue
            way, p = self.way(n, g.astype(F)), params[n]
            if self.recipe.fused:
                params[n] = (p - rate * (way + decay * p)).astype(F)
            else:
                params[n] = (p * (F(1) - rate * decay) - rate * way).astype(F)


def batch_of(data, step):
    draw = np.random.default_rng([data, step])
    ids = draw.integers(0, VOCABULARY, BATCH)
    targets = np.where(draw.random(BATCH) < 0.8, (ids * 7 + 3) % VOCABULARY, draw.integers(0, VOCABULARY, BATCH))
    return ids, targets


def summed(network, params, ids, targets):
    """Gradients of micro-batches, one after the other."""
    whole = None
    for part in np.array_split(np.arange(len(ids)), network.recipe.micro):
        grads = network.gradients(params, ids[part], targets[part], len(ids))
        whole = grads if whole is None else {n: whole[n] + g for n, g in grads.items()}
    return whole


def train(recipe, begin=None, at=0):
    """The weights and the optimizer behind `recipe.steps` steps; from `begin`, as behind step `at`, if given."""
    params = dict(begin) if begin else initial(recipe)
    network, optimizer = Network(recipe), Optimizer(recipe, params)
    for step in range(at + 1, at + recipe.steps + 1):
        if recipe.lost and step == at + recipe.lost + 1:
            optimizer = Optimizer(recipe, params)
        ids, targets = batch_of(recipe.data, step)
        grads = summed(network, params, ids, targets)
        if recipe.unreduced:
            half = network.gradients(params, ids[:BATCH // 2], targets[:BATCH // 2], BATCH // 2)
            grads = {n: half[n] if n.startswith(recipe.unreduced) else g for n, g in grads.items()}
        optimizer.update(params, grads)
    return params, optimizer


def twin(recipe, draw):
    """The same run in other arithmetic."""
    return replace(recipe, micro=int(draw.choice([1, 2, 4])), parts=int(draw.choice([2, 3, 4])), fused=bool(draw.random() < 0.5))
