# SPDX-License-Identifier: Apache-2.0
"""Numbers as an accelerator keeps them: bfloat16 is float32 on a coarser grid."""
import numpy as np


def to_bf16(x):
    """Round to nearest, ties to even; NaN stays NaN."""
    x = np.ascontiguousarray(x, np.float32)
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), x, rounded.view(np.float32))


def to_fp32(x):
    return np.ascontiguousarray(x, np.float32)


ROUND = {"bf16": to_bf16, "fp32": to_fp32}


def matmul(a, b, pieces=1):
    """a @ b; with several pieces the inner dimension is summed piece by piece, as a split-K kernel does."""
    if pieces == 1:
        return a @ b
    parts = zip(np.array_split(a, pieces, axis=-1), np.array_split(b, pieces, axis=-2))
    return sum((one @ other for one, other in parts), np.float32(0))


def flip_bit(x, place, bit):
    """The array with one bit of one element (by flat index) flipped."""
    x = np.array(x, np.float32)
    x.reshape(-1).view(np.uint32)[place] ^= np.uint32(1 << bit)
    return x
