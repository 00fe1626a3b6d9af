# SPDX-License-Identifier: Apache-2.0
"""Sound files as people write them, and the readers that they were written for: what these refuse, or read
otherwise, is never EQUAL. A kind whose reader is not installed is left out."""
import io
import os
import pickle
import warnings
import zipfile

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
except ImportError:
    torch = None
try:
    import h5py
except ImportError:
    h5py = None
try:
    import safetensors.numpy as safetensors
except ImportError:
    safetensors = None

DTYPES = ["f2", "f4", "f8", "i1", "i4", "i8", "u1", "?", "c8"]


def array(draw, dtypes=DTYPES):
    shape = tuple(draw.choice([0, 1, 2, 3, 7, 64]) for _ in range(draw.choice([0, 1, 1, 2, 3])))
    if draw.random() < 0.1:
        shape = (1 << draw.choice([16, 18, 21]),)
    dtype = np.dtype(draw.choice(dtypes))
    count = int(np.prod(shape, dtype=np.int64))
    kind = draw.choice(["zeros", "ones", "pattern", "random"])
    if kind == "zeros":
        values = np.zeros(count)
    elif kind == "ones":
        values = np.ones(count)
    elif kind == "pattern":
        values = np.arange(count) % 7
    else:
        values = np.random.default_rng(draw.randrange(1 << 30)).normal(size=count) * 9
    made = values.astype(dtype).reshape(shape)
    return np.asfortranarray(made) if draw.random() < 0.2 else made


def arrays(draw, dtypes=DTYPES):
    return {name: array(draw, dtypes) for name in "abc"[:draw.choice([1, 2, 3])]}


def write_numpy(path, draw):
    how = draw.choice(["npy", "npz", "compressed", "best"])
    held = arrays(draw)
    if how == "npy":
        np.save(path + ".npy", held["a"])
        return path + ".npy"
    path += ".npz"
    if how == "npz":
        np.savez(path, **held)
    elif how == "compressed":
        np.savez_compressed(path, **held)
    else:  # as zip -9
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, values in held.items():
                with archive.open(name + ".npy", "w") as member:
                    np.lib.format.write_array(member, values)
    return path


def read_numpy(data):
    loaded = np.load(io.BytesIO(data))
    return {"": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}


def write_torch(path, draw):
    """With the checksums that torch writes, without any, and in the container of its first years."""
    how = draw.choice(["zip", "zip", "no crc", "legacy"])
    held = {name: torch.from_numpy(values.copy(order="C")) for name, values in arrays(draw).items()}
    if draw.random() < 0.3:
        held = {"model": held, "step": draw.randrange(1000), "lr": draw.random()}
    torch.serialization.set_crc32_options(how != "no crc")
    torch.save(held, path + ".pt", _use_new_zipfile_serialization=how != "legacy")
    torch.serialization.set_crc32_options(True)
    return path + ".pt"


def read_torch(data):
    """Tensors. Numbers beside them are facts, which need not be on both sides."""
    def flat(value, path):
        if isinstance(value, dict):
            for key, below in value.items():
                yield from flat(below, f"{path}.{key}")
        elif isinstance(value, torch.Tensor):
            yield path, value.numpy()
    return dict(flat(torch.load(io.BytesIO(data), map_location="cpu", weights_only=True), ""))


def write_hdf5(path, draw):
    with h5py.File(path + ".h5", "w", libver=draw.choice([("earliest", "v110"), ("v110", "v110")])) as file:
        for name, values in arrays(draw, [one for one in DTYPES if one != "c8"]).items():
            packed = values.size > 0 and values.ndim > 0 and draw.random() < 0.5
            file.create_dataset(f"group/{name}", data=values, compression="gzip" if packed else None,
                                fletcher32=packed and draw.random() < 0.3)
    return path + ".h5"


def read_hdf5(data):
    """As HDF5 reads a file of these bytes (h5py's driver for Python's files refuses what HDF5 takes)."""
    held = {}
    with h5py.File(h5py.h5f.open_file_image(data), "r") as file:
        def see(name, item):
            if isinstance(item, h5py.Dataset):
                held[name] = item[()]
        file.visititems(see)
    return {name: np.asarray(value) for name, value in held.items()}


def apart(read):
    """The same in a process of its own, which a damaged file may end: then its reader refuses it."""
    def reading(data):
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with os.fdopen(there, "wb") as answer:
                    pickle.dump(read(data), answer)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(there)
        with os.fdopen(here, "rb") as answer:
            said = answer.read()
        if os.waitpid(child, 0)[1] != 0:
            raise ValueError("its reader does not read it")
        return pickle.loads(said)
    return reading


def write_safetensors(path, draw):
    held = {name: values.copy(order="C") for name, values in arrays(draw, ["f2", "f4", "f8", "i4", "u1", "?"]).items()}
    safetensors.save_file(held, path + ".safetensors")
    return path + ".safetensors"


def read_safetensors(data):
    return safetensors.load(data)


def kinds():
    """Name -> (write, read) of what is installed."""
    found = {}
    if np is not None:
        found["numpy"] = (write_numpy, read_numpy)
        if torch is not None:
            found["torch"] = (write_torch, read_torch)
        if h5py is not None:
            found["hdf5"] = (write_hdf5, apart(read_hdf5))
        if safetensors is not None:
            found["safetensors"] = (write_safetensors, read_safetensors)
    return found


def judged(read, data):
    """All values, or None where the reader refuses; they throw whatever a damaged file leads them to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(data)
        except BaseException as error:  # noqa: BLE001
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            return None


def same(a, b):
    """The same values, whatever they are stored as: a cast that keeps them is named by the program, as are
    names that one side alone has and that hold the same bytes."""
    left, right = [a[name] for name in a if name not in b], [b[name] for name in b if name not in a]
    return all(equal(a[name], b[name]) for name in a if name in b) and len(left) == len(right) and all(
        any(equal(one, other) for other in right) for one in left)


def equal(a, b):
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc")
