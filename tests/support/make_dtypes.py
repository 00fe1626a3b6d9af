# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/dtypes.txt: what ml_dtypes and NumPy say of element codes and of rounding.

Lines: `value DTYPE CODE HEXFLOAT` for every code of the small floats, `round DTYPE HEXFLOAT CODE`
for doubles near, between and beyond representable values. Codes are hexadecimal.
"""
import pathlib
import random

import ml_dtypes
import numpy as np

SMALL = {
    "f8_e4m3fn": (ml_dtypes.float8_e4m3fn, 8), "f8_e5m2": (ml_dtypes.float8_e5m2, 8),
    "f8_e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 8), "f8_e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 8),
    "f8_e8m0": (ml_dtypes.float8_e8m0fnu, 8), "f6_e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "f6_e3m2": (ml_dtypes.float6_e3m2fn, 6), "f4_e2m1": (ml_dtypes.float4_e2m1fn, 4),
}
WIDE = {"f16": (np.float16, np.uint16), "bf16": (ml_dtypes.bfloat16, np.uint16)}


def lines():
    for name, (dtype, bits) in SMALL.items():
        for code in range(1 << bits):
            value = float(np.array([code], np.uint8).view(dtype)[0])
            yield f"value {name} {code:x} {value.hex()}"
    source = random.Random(1)
    for name, (dtype, word) in {**{k: (v[0], np.uint8) for k, v in SMALL.items()}, **WIDE}.items():
        if name == "f8_e8m0":
            continue  # scales are never rounded to
        for _ in range(60):
            value = source.choice([-1, 1]) * float(np.float32(2.0 ** source.uniform(-12, 10)))
            code = int(np.array([value], np.float32).astype(dtype).view(word)[0])
            yield f"round {name} {value.hex()} {code:x}"
        for code in (1, 2, 3, 5, 6):  # ties go to the even code
            low, high = (float(np.array([c], word).view(dtype)[0]) for c in (code, code + 1))
            tie = (low + high) / 2
            yield f"round {name} {tie.hex()} {int(np.array([tie], np.float32).astype(dtype).view(word)[0]):x}"


out = pathlib.Path(__file__).parent.parent / "data" / "dtypes.txt"
out.parent.mkdir(exist_ok=True)
out.write_text("\n".join(lines()) + "\n")
