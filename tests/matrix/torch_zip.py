# SPDX-License-Identifier: Apache-2.0
"""Writes what torch.save writes, with the standard library and NumPy alone: an oracle must not share code with PyTorch's
readers or with ours. Layout: torch/serialization.py (_save), torch/_utils.py (_rebuild_tensor_v2)."""
import collections
import io
import pickle
import sys
import types
import zipfile

import numpy as np

STORAGES = {"float32": "FloatStorage", "float16": "HalfStorage", "int64": "LongStorage", "uint8": "ByteStorage"}


def _named(module, name):
    """A function that pickles as `module.name`."""
    sys.modules.setdefault(module.split(".")[0], types.ModuleType(module.split(".")[0]))
    made = sys.modules.setdefault(module, types.ModuleType(module))
    if not hasattr(made, name):
        function = types.FunctionType((lambda *args: args).__code__, {}, name)
        function.__module__, function.__qualname__ = module, name
        setattr(made, name, function)
    return getattr(made, name)


class Size(tuple):
    """torch.Size."""
    def __reduce__(self):
        return _named("torch", "Size"), (tuple(self),)


class _Storage:
    def __init__(self, array, key):
        self.array, self.key = array, key


class _Pickler(pickle.Pickler):
    def __init__(self, out):
        super().__init__(out, protocol=2)
        self.storages = []

    def persistent_id(self, value):
        if not isinstance(value, _Storage):
            return None
        kind = _named("torch", STORAGES[value.array.dtype.name])
        return "storage", kind, value.key, "cpu", value.array.size

    def reducer_override(self, value):
        if not isinstance(value, np.ndarray):
            return NotImplemented
        array = np.ascontiguousarray(value)
        storage = _Storage(array, str(len(self.storages)))
        self.storages.append(array)
        stride = tuple(s // array.itemsize for s in array.strides)
        return _named("torch._utils", "_rebuild_tensor_v2"), (
            storage, 0, value.shape, stride if value.ndim else (), False, collections.OrderedDict())


def save(value, path):
    """`value`: dicts, lists and scalars, with NumPy arrays for tensors."""
    out = io.BytesIO()
    pickler = _Pickler(out)
    pickler.dump(value)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", out.getvalue())
        archive.writestr("archive/byteorder", "little")
        for key, array in enumerate(pickler.storages):
            archive.writestr(f"archive/data/{key}", array.tobytes())
        archive.writestr("archive/version", "3\n")
