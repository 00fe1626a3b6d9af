# SPDX-License-Identifier: Apache-2.0
"""Optimizers as their papers have them, on whole parameters in fp32."""
import numpy as np

F = np.float32


class Optimizer:
    def __init__(self, name, params, rate):
        self.name, self.rate = name, rate
        self.first = {n: 0 * p for n, p in params.items()}
        self.second = {n: 0 * p for n, p in params.items()}

    def update(self, n, p, g, step):
        return (p - F(self.rate) * getattr(self, self.name)(n, g, step)).astype(F)

    def adam(self, n, g, step):
        m, v = self.first, self.second
        m[n] = (F(.9) * m[n] + F(.1) * g).astype(F)
        v[n] = (F(.999) * v[n] + F(.001) * g * g).astype(F)
        return m[n] / F(1 - .9 ** step) / (np.sqrt(v[n] / F(1 - .999 ** step)) + F(1e-12))

    def sgd(self, n, g, step):
        self.first[n] = (F(.9) * self.first[n] + g).astype(F)
        return self.first[n]

    def lion(self, n, g, step):
        m = self.first
        way = np.sign(F(.9) * m[n] + F(.1) * g)
        m[n] = (F(.99) * m[n] + F(.01) * g).astype(F)
        return way

    def rmsprop(self, n, g, step):
        v = self.second
        v[n] = (F(.99) * v[n] + F(.01) * g * g).astype(F)
        return g / (np.sqrt(v[n]) + F(1e-12))

    def adafactor(self, n, g, step):
        """Second moments of matrices by rows and columns; updates clipped to an rms of 1."""
        old = F(1 - step ** -.8)
        squares = g * g + F(1e-30)
        if g.ndim < 2:
            self.second[n] = v = (old * self.second[n] + (1 - old) * squares).astype(F)
        else:
            rows, columns = self.second[n] if step > 1 else (F(0), F(0))
            rows = (old * rows + (1 - old) * squares.mean(-1, keepdims=True)).astype(F)
            columns = (old * columns + (1 - old) * squares.mean(-2, keepdims=True)).astype(F)
            self.second[n] = rows, columns
            v = rows / rows.mean(dtype=F) * columns
        way = g / np.sqrt(np.maximum(v, F(1e-36)))
        return way / max(F(1), np.sqrt((way * way).mean(dtype=F)))

    def muon(self, n, g, step):
        """Hidden matrices are made orthogonal (Newton and Schulz, 5 steps); Adam for the rest."""
        if g.ndim < 2 or n.startswith(("embedding", "lm_head")):
            return self.adam(n, g, step)
        self.first[n] = (F(.95) * self.first[n] + g).astype(F)
        x = g + F(.95) * self.first[n]
        tall = x.shape[0] > x.shape[1]
        x = x.T if tall else x
        x = x / (np.linalg.norm(x) + F(1e-7))
        for _ in range(5):
            square = x @ x.T
            x = F(3.4445) * x + (F(-4.7750) * square + F(2.0315) * square @ square) @ x
        x = x.T if tall else x
        return x * F(max(1, x.shape[0] / x.shape[1]) ** .5)
