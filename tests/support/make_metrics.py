# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/metrics.txt: metrics of hard pairs, computed by NumPy in fp64.

A case is a line `case DTYPE COUNT`, the two sides as hexadecimal bytes, and one line of expected
values: count, unequal bits, unequal values, beyond close, max |d| and its index, sum d2, a2, b2,
NaN, +Inf, -Inf of each side, disagreeing places and the first of them.
"""
import pathlib

import ml_dtypes
import numpy as np

TYPES = {"f32": (np.float32, np.uint32, 1.3e-6, 1e-5), "f16": (np.float16, np.uint16, 1e-3, 1e-5),
         "bf16": (ml_dtypes.bfloat16, np.uint16, 1.6e-2, 1e-5), "f64": (np.float64, np.uint64, 1e-7, 1e-7)}


def measure(a, b, word, rtol, atol):
    bits = int((a.view(word) != b.view(word)).sum())
    x, y = a.astype(np.float64), b.astype(np.float64)
    both_nan = np.isnan(x) & np.isnan(y)
    finite = np.isfinite(x) & np.isfinite(y)
    agree = both_nan | (x == y)
    disagree = ~finite & ~agree
    d = np.where(finite, np.abs(np.where(finite, y, 0) - np.where(finite, x, 0)), 0)
    beyond = int((d > atol + rtol * np.abs(np.where(finite, x, 0))).sum() + disagree.sum())
    worst = int(d.argmax()) if d.max() > 0 else -1
    sums = [float((np.where(finite, v, 0) ** 2).sum()) for v in (d, x, y)]
    counts = [int(f(v).sum()) for v in (x, y) for f in (np.isnan, np.isposinf, np.isneginf)]
    first = int(disagree.argmax()) if disagree.any() else -1
    return [len(a), bits, int((~agree).sum()), beyond, float(d.max()).hex(), worst,
            *(s.hex() for s in sums), *counts, int(disagree.sum()), first]


def lines():
    random = np.random.default_rng(7)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-41, 6e-8, 6e4, 3e38])
    for name, (dtype, word, rtol, atol) in TYPES.items():
        for count, share in ((64, 0.5), (300, 0.02), (300, 0)):
            with np.errstate(over="ignore"):
                a = random.normal(size=count).astype(dtype)
                b = (a.astype(np.float64) * (1 + random.choice([0, 0, 1e-7, 3e-3], count))).astype(dtype)
                for side in (a, b):
                    at = random.random(count) < share
                    side[at] = random.choice(special, at.sum()).astype(dtype)
                yield f"case {name} {count}"
                yield a.tobytes().hex()
                yield b.tobytes().hex()
                yield " ".join(map(str, measure(a, b, word, rtol, atol)))


out = pathlib.Path(__file__).parent.parent / "data" / "metrics.txt"
out.write_text("\n".join(lines()) + "\n")
