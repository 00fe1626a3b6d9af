# SPDX-License-Identifier: Apache-2.0
"""A small decoder with parameters of every kind, forward and backward by hand: biases, both norms, a softly gated
mixture of experts in every second layer. With each gradient it tells how large the terms are that it sums."""
import numpy as np

VOCAB, WIDTH, INNER, HEADS, EXPERTS = 32, 16, 32, 2, 2
BATCH, TOKENS = 4, 16
EPS = 1e-5
LINEARS = {"q": ("scores", WIDTH), "k": ("scores", WIDTH), "v": ("stream", WIDTH), "o": ("back", WIDTH)}


class Arithmetic:
    """How sums are taken. `keep` rounds what an op puts out, also each partial sum where there are `pieces`, as a
    kernel that splits them does; `order` is that of the tokens where a parameter's gradient sums over them; `inner`
    rounds what lies within an op, or does not where kernels are fused."""

    def __init__(self, keep, pieces=1, order=None, inner=None):
        self.keep, self.pieces, self.inner = keep, pieces, inner or keep
        self.order = slice(None) if order is None else order

    def sum(self, parts):
        return parts[0] if len(parts) == 1 else sum(self.keep(part) for part in parts)

    def parts(self, a, b):
        cuts = zip(np.array_split(a, self.pieces, -1), np.array_split(b, self.pieces, -2))
        return [one @ other for one, other in cuts]

    def matmul(self, a, b):
        return self.sum(self.parts(a, b))

    def within(self, a, b):
        """A product inside an op, whose partial sums stay as they are."""
        return sum(self.parts(a, b))

    def outer(self, g, x):
        return self.matmul(g[self.order].T, x[self.order])

    def total(self, terms):
        return self.sum([part.sum(0) for part in np.array_split(terms[self.order], self.pieces)])

    def scatter(self, ids, terms, rows):
        shares = []
        for part in np.array_split(np.arange(len(ids))[self.order], self.pieces):
            shares.append(np.zeros((rows, terms.shape[-1]), terms.dtype))
            np.add.at(shares[-1], ids[part], terms[part])
        return self.sum(shares)


def has_experts(layer):
    return layer % 2 == 1


def blocks(layer):
    """The MLPs of a layer: one, or its experts."""
    mlp = f"layers.{layer}.mlp"
    return [f"{mlp}.experts.{e}" for e in range(EXPERTS)] if has_experts(layer) else [mlp]


def initial(layers, scale, seed):
    """Parameters with which what goes into each linear layer has an rms of `scale`, and what comes out of the
    network does not depend on it."""
    draw = np.random.default_rng(seed)
    params = {}

    def add(name, shape, deviation, mean=0.0):
        params[name] = (mean + deviation * draw.standard_normal(shape)).astype(np.float32)

    back = scale * (2 * layers) ** 0.5  # two sums into the residual stream in each layer
    gain = {"scores": 1 / scale, "stream": 1.0, "back": 1 / back}
    bias = {"scores": 0.1, "stream": 0.1 * scale, "back": 0.1 / (2 * layers) ** 0.5}

    def add_linear(name, out, inner, kind):
        add(name + ".weight", (out, inner), gain[kind] * inner ** -0.5)
        add(name + ".bias", (out,), bias[kind])

    add("embedding.weight", (VOCAB, WIDTH), 1.0)
    for i in range(layers):
        at = f"layers.{i}"
        add(f"{at}.norm1.weight", (WIDTH,), 0.1 * scale, scale)
        for m, (kind, out) in LINEARS.items():
            add_linear(f"{at}.attn.{m}", out, WIDTH, kind)
        add(f"{at}.norm2.weight", (WIDTH,), 0.1 * scale, scale)
        add(f"{at}.norm2.bias", (WIDTH,), 0.1 * scale)
        if has_experts(i):
            add(f"{at}.mlp.router.weight", (EXPERTS, WIDTH), WIDTH ** -0.5 / scale)
        for block in blocks(i):
            add_linear(block + ".fc1", INNER, WIDTH, "stream")
            add_linear(block + ".fc2", WIDTH, INNER, "back")
    add("norm.weight", (WIDTH,), 0.1 * scale, scale)
    add("lm_head.weight", (VOCAB, WIDTH), WIDTH ** -0.5 / scale)
    return params


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_backward(g, p):
    return p * (g - (g * p).sum(-1, keepdims=True))


def sigmoid(x):
    return 1 / (1 + np.exp(np.minimum(-x, 80)))


class Decoder:
    """One pass. `tape(phase, module, kind, slot, value, op, inputs)` is told what each module took and made."""

    def __init__(self, layers, arithmetic, params, tape):
        self.layers, self.a, self.params, self.tape = layers, arithmetic, params, tape
        self.keep, self.inner, self.kept = arithmetic.keep, arithmetic.inner, {}
        self.grads, self.terms = {}, {}  # by name; `terms`: the norm over the tokens of what each element sums

    # ---- records
    def out(self, name, value, op, sources, given=()):
        for slot, (source, x) in enumerate(zip(sources, given)):
            self.tape("forward", name, "input", slot, x, "", [source])
        own = [f"{name}/param.{slot}" for slot in ("weight", "bias") if f"{name}.{slot}" in self.params]
        self.tape("forward", name, "output", 0, value, op, list(sources) + own)
        return value, name + "/output.0"

    def arrives(self, name, g):
        self.tape("backward", name, "grad_output", 0, g, "", [])

    def leaves(self, name, *gradients):
        for slot, g in enumerate(gradients):
            self.tape("backward", name, "grad_input", slot, g, "", [])
        return gradients[0] if len(gradients) == 1 else gradients

    def gradient(self, name, value, squares):
        self.grads[name] = self.keep(value)
        self.terms[name] = np.sqrt(squares)

    # ---- modules: (value, identity) in and out
    def linear(self, name, given):
        x, source = given
        self.kept[name] = x
        y = self.a.matmul(x, self.params[name + ".weight"].T)
        if name + ".bias" in self.params:
            y = y + self.params[name + ".bias"]
        return self.out(name, self.keep(y), "linear", [source], [x])

    def linear_backward(self, name, g):
        self.arrives(name, g)
        x = self.kept.pop(name)
        self.gradient(name + ".weight", self.a.outer(g, x), (g * g).T @ (x * x))
        if name + ".bias" in self.params:
            self.gradient(name + ".bias", self.a.total(g), (g * g).sum(0))
        return self.leaves(name, self.keep(self.a.matmul(g, self.params[name + ".weight"])))

    def norm(self, name, given):
        """RMSNorm, or with a bias LayerNorm."""
        x, source = given
        centred = name + ".bias" in self.params
        y = x - x.mean(-1, keepdims=True) if centred else x
        scale = 1 / np.sqrt((y * y).mean(-1, keepdims=True) + EPS)
        normed = y * scale
        self.kept[name] = normed, scale
        y = normed * self.params[name + ".weight"]
        y = y + self.params[name + ".bias"] if centred else y
        return self.out(name, self.keep(y), "layernorm" if centred else "rmsnorm", [source], [x])

    def norm_backward(self, name, g):
        self.arrives(name, g)
        normed, scale = self.kept.pop(name)
        each = g * normed
        self.gradient(name + ".weight", self.a.total(each), (each * each).sum(0))
        slope = g * self.params[name + ".weight"]
        dx = slope - normed * (slope * normed).mean(-1, keepdims=True)
        if name + ".bias" in self.params:
            self.gradient(name + ".bias", self.a.total(g), (g * g).sum(0))
            dx = dx - slope.mean(-1, keepdims=True)
        return self.leaves(name, self.keep(scale * dx))

    def heads(self, x):
        return x.reshape(BATCH, TOKENS, HEADS, -1).transpose(0, 2, 1, 3)

    def flat(self, x):
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(BATCH * TOKENS, -1)

    def attention(self, name, given):
        q, k, v = (self.heads(x) for x, _ in given)
        scores = self.a.within(q, k.swapaxes(-1, -2)) * q.shape[-1] ** -0.5
        weights = softmax(np.where(np.tril(np.ones((TOKENS, TOKENS), bool)), scores, -1e30))
        self.kept[name] = q, k, v, weights
        y = self.flat(self.a.within(self.inner(weights), v))
        return self.out(name, self.keep(y), "attention", [s for _, s in given], [x for x, _ in given])

    def attention_backward(self, name, g):
        self.arrives(name, g)
        q, k, v, weights = self.kept.pop(name)
        g, m = self.heads(g), self.a.within
        slope = self.inner(softmax_backward(m(g, v.swapaxes(-1, -2)), weights)) * q.shape[-1] ** -0.5
        given = m(slope, k), m(slope.swapaxes(-1, -2), q), m(self.inner(weights).swapaxes(-1, -2), g)
        return self.leaves(name, *(self.keep(self.flat(x)) for x in given))

    def block(self, name, given):
        hidden, source = self.linear(name + ".fc1", given)
        self.kept[name + ".act"] = hidden
        acted = self.out(name + ".act", self.keep(hidden * sigmoid(hidden)), "silu", [source], [hidden])
        return self.linear(name + ".fc2", acted)

    def block_backward(self, name, g):
        g = self.linear_backward(name + ".fc2", g)
        self.arrives(name + ".act", g)
        x = self.kept.pop(name + ".act")
        s = sigmoid(x)
        g = self.leaves(name + ".act", self.keep(g * s * (1 + x * (1 - s))))
        return self.linear_backward(name + ".fc1", g)

    def experts(self, layer, given):
        mlp = f"layers.{layer}.mlp"
        logits, source = self.linear(mlp + ".router", given)
        gates, gate = self.out(mlp + ".gate", self.keep(softmax(logits)), "softmax", [source], [logits])
        made = [self.block(name, given) for name in blocks(layer)]
        self.kept[mlp] = gates, [value for value, _ in made]
        y = sum(self.inner(gates[:, e:e + 1] * value) for e, (value, _) in enumerate(made))
        return self.out(mlp + ".mix", self.keep(y), "", [gate] + [s for _, s in made])

    def experts_backward(self, layer, g):
        mlp = f"layers.{layer}.mlp"
        self.arrives(mlp + ".mix", g)
        gates, values = self.kept.pop(mlp)
        back = [self.block_backward(name, self.keep(gates[:, e:e + 1] * g)) for e, name in enumerate(blocks(layer))]
        slope = self.keep(np.stack([(g * value).sum(-1) for value in values], -1))
        self.arrives(mlp + ".gate", slope)
        slope = self.leaves(mlp + ".gate", self.keep(softmax_backward(slope, gates)))
        return self.sum([*back, self.linear_backward(mlp + ".router", slope)])

    def sum(self, addends):
        """As autograd accumulates: rounded after each addend."""
        total = addends[0]
        for addend in addends[1:]:
            total = self.inner(total + addend)
        return self.keep(total)

    def add(self, name, one, other):
        return self.out(name, self.keep(one[0] + other[0]), "add", [one[1], other[1]], [one[0], other[0]])

    # ---- the whole
    def forward(self, ids, targets):
        self.ids, self.targets = ids.reshape(-1), targets.reshape(-1)
        self.tape("forward", "embedding", "input", 0, ids.reshape(-1), "", [])
        h = self.out("embedding", self.params["embedding.weight"][self.ids], "embedding", ["embedding/input.0"])
        for i in range(self.layers):
            at = f"layers.{i}"
            normed = self.norm(at + ".norm1", h)
            core = self.attention(at + ".attn.core", [self.linear(f"{at}.attn.{m}", normed) for m in "qkv"])
            h = self.add(at + ".add1", h, self.linear(at + ".attn.o", core))
            normed = self.norm(at + ".norm2", h)
            mixed = self.experts(i, normed) if has_experts(i) else self.block(at + ".mlp", normed)
            h = self.add(at + ".add2", h, mixed)
        logits, source = self.linear("lm_head", self.norm("norm", h))
        self.prob = softmax(logits)
        loss = -np.log(self.prob[np.arange(len(self.targets)), self.targets]).mean()
        self.tape("loss", "loss", "loss", 0, loss, "", [source])
        return float(loss)

    def backward(self):
        g = self.prob.copy()
        g[np.arange(len(self.targets)), self.targets] -= 1
        g = self.norm_backward("norm", self.linear_backward("lm_head", self.keep(g / len(self.targets))))
        for i in reversed(range(self.layers)):
            at = f"layers.{i}"
            self.arrives(at + ".add2", g)
            back = self.experts_backward(i, g) if has_experts(i) else self.block_backward(at + ".mlp", g)
            g = self.sum([g, self.norm_backward(at + ".norm2", back)])
            self.arrives(at + ".add1", g)
            core = self.attention_backward(at + ".attn.core", self.linear_backward(at + ".attn.o", g))
            back = self.sum([self.linear_backward(f"{at}.attn.{m}", each) for m, each in zip("qkv", core)])
            g = self.sum([g, self.norm_backward(at + ".norm1", back)])
        self.arrives("embedding", g)
        squares = Arithmetic(self.keep).scatter(self.ids, g * g, VOCAB)
        self.gradient("embedding.weight", self.a.scatter(self.ids, g, VOCAB), squares)


def batch_of(seed, step, other=False):
    """Tokens and what comes next of one micro-batch; `other`: of another one."""
    draw = np.random.default_rng([seed, step, int(other)])
    ids = draw.integers(0, VOCAB, (BATCH, TOKENS + 1))
    return ids[:, :-1], ids[:, 1:]


def silent(*_):
    """A tape that keeps nothing."""


def worst_slope(layers, scale, seed):
    """The largest relative disagreement of any parameter's gradient with a difference of the loss, in doubles."""
    params = {name: value.astype(np.float64) for name, value in initial(layers, scale, seed).items()}
    arithmetic, batch = Arithmetic(lambda x: x, 2), batch_of(seed, 1)

    def passed(values):
        model = Decoder(layers, arithmetic, values, silent)
        return model, model.forward(*batch)

    model, _ = passed(params)
    model.backward()
    errors = []
    for name, gradient in model.grads.items():
        way = np.sign(gradient) * np.random.default_rng(seed).uniform(0.5, 1, gradient.shape)
        if name.endswith("attn.k.bias"):  # zero: along any direction the loss stays
            way = np.ones_like(gradient)
        size = 1e-5 * max(1e-3, np.abs(params[name]).mean())
        ends = [passed({**params, name: params[name] + sign * size * way})[1] for sign in (1, -1)]
        expected = (way * gradient).sum()
        apart = abs((ends[0] - ends[1]) / (2 * size) - expected)
        errors.append((apart / max(abs(expected), np.linalg.norm(model.terms[name]) * 1e-3), name))
    return max(errors)
