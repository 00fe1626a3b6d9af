# SPDX-License-Identifier: Apache-2.0
"""What is kept of a tensor: its bytes, or their hash and a few statistics."""
import ctypes
import hashlib
import math

import torch

try:
    import xxhash
except ImportError:
    xxhash = None


def copied(value):
    """Bytes of its own on the CPU, so that the run may go on writing into the tensor."""
    return value.to("cpu", copy=True).contiguous()


def hash_of(value):
    """Of a contiguous tensor on the CPU."""
    size = value.numel() * value.element_size()
    data = (ctypes.c_char * size).from_address(value.data_ptr()) if size else b""
    if xxhash is not None:
        return f"xxh3:{xxhash.xxh3_64(data).hexdigest()}"
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def statistics_of(value):
    if value.numel() == 0 or value.is_complex():
        return {"numel": value.numel()}
    wide = value.to(torch.float64)
    least, most = (float(x) for x in torch.aminmax(wide))
    found = {"min": least, "max": most, "l2": float(torch.linalg.vector_norm(wide)), "nan": 0, "inf": 0,
             "numel": value.numel()}
    if not math.isfinite(found["l2"]):
        found["nan"], found["inf"] = int(torch.isnan(wide).sum()), int(torch.isinf(wide).sum())
        finite = wide[torch.isfinite(wide)]
        for key, of in (("min", torch.min), ("max", torch.max), ("l2", torch.linalg.vector_norm)):
            found[key] = float(of(finite)) if finite.numel() else 0.0
    return found


def stored(value, whole):
    """What to write of it, and the fields of the record that say so where it is no more than a hash."""
    value = copied(value)
    if whole:
        return value, {}
    fields = {"hash": hash_of(value), "stats": statistics_of(value), "shape_local": list(value.shape)}
    return value.new_empty((0,)), fields
