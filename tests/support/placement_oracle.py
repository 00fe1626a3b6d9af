# SPDX-License-Identifier: Apache-2.0
"""Expected index lists of the dims grammar, from first principles: an array of running numbers is cut
the way the words of the grammar say, with NumPy, and what each rank holds is printed.

use: python3 placement_oracle.py > ../data/placement/cases.txt
Output: `case DIMS ; MESH ; SHAPE` or `-` for a shape that is not stated, then one line a rank:
`RANK ; LOCAL SHAPE ; INDICES` in storage order, -1 for padding.
"""
import itertools
import numpy as np


def chunks(a, n, axis):
    """Ceiling rule: n contiguous chunks, the last ones short or empty."""
    step = -(-a.shape[axis] // n)
    return [a.take(range(min(i * step, a.shape[axis]), min((i + 1) * step, a.shape[axis])), axis)
            for i in range(n)]


def cut(a, mod, n, r, axis):
    size = a.shape[axis]
    if mod is None or mod == "even":
        return chunks(a, n, axis)[r]
    word, _, value = mod.partition("=")
    if word == "sizes":
        sizes = [int(x) for x in value.split("/")]
        return np.split(a, np.cumsum(sizes)[:-1], axis)[r]
    if word == "zigzag":
        c = chunks(a, 2 * n, axis)
        return np.concatenate([c[r], c[2 * n - 1 - r]], axis)
    if word == "stride":
        return np.concatenate([chunks(c, n, axis)[r] for c in chunks(a, int(value), axis)], axis)
    if word == "interleave":
        k = int(value)
        return a.take([i for i in range(size) if i // k % n == r], axis)
    raise ValueError(mod)


def pad(a, axis, total):
    extra = list(a.shape)
    extra[axis] = total - a.shape[axis]
    return np.concatenate([a, np.full(extra, -1)], axis)


def local(shape, dims, at, mesh):
    """dims: per dimension (parts or None, [(axis, mod)], padded total or None)."""
    a = np.arange(int(np.prod(shape))).reshape(shape)
    for d, (parts, shards, total) in enumerate(dims):
        if total:
            a = pad(a, d, total)
        pieces = np.split(a, np.cumsum(parts)[:-1], d) if parts else [a]
        for axis, mod in shards:
            pieces = [cut(p, mod, mesh.get(axis, 1), at.get(axis, 0), d) for p in pieces]
        a = np.concatenate(pieces, d)
    return a


def flat(shape, dims, shards, align, at, mesh):
    a = local(shape, dims, at, mesh).reshape(-1)
    a = pad(a, 0, -(-a.size // align) * align)
    for axis, mod in shards:
        a = cut(a, mod, mesh.get(axis, 1), at.get(axis, 0), 0)
    return a


def show(line, mesh, shape, stated, make):
    print(f"case {line} ; {' '.join(f'{a}={n}' for a, n in mesh.items())} ; "
          f"{'x'.join(map(str, shape))} ; {'stated' if stated else '-'}")
    for rank, at in enumerate(itertools.product(*(range(n) for n in mesh.values()))):
        a = make(dict(zip(mesh, at)))
        print(f"{rank} ; {'x'.join(map(str, a.shape))} ; {' '.join(map(str, a.reshape(-1)))}")


def dims_case(line, mesh, shape, dims, stated=False):
    show(line, mesh, shape, stated, lambda at: local(shape, dims, at, mesh))


def flat_case(line, mesh, shape, dims, shards, align=1):
    show(line, mesh, shape, True, lambda at: flat(shape, dims, shards, align, at, mesh))


whole = (None, [], None)
one = lambda axis, mod=None, total=None, parts=None: (parts, [(axis, mod)], total)

for n in (1, 2, 3, 4):
    for size in (1, 2, 5, 7, 8, 12, 13):
        tp = {"tp": n}
        dims_case("x[tp] y", tp, (size, 3), [one("tp"), whole])
        dims_case("y x[tp]", tp, (2, size), [whole, one("tp")])
        dims_case("x[tp:zigzag] y", tp, (size, 2), [one("tp", "zigzag"), whole])
        dims_case("x[tp:interleave=1]", tp, (size,), [one("tp", "interleave=1")])
        dims_case("x[tp:interleave=3] y", tp, (size, 2), [one("tp", "interleave=3"), whole])
        dims_case("x[tp:stride=2] y", tp, (size, 2), [one("tp", "stride=2"), whole])
        dims_case("x[tp:stride=3]", tp, (size,), [one("tp", "stride=3")])
        padded = -(-size // (2 * n)) * 2 * n
        dims_case(f"x[tp:pad={size}] y", tp, (size, 2), [one("tp", None, padded), whole])
        dims_case("x[tp] y", tp, (size, 2), [one("tp", None, padded), whole], True)
        dims_case("(a|b)[tp] y", tp, (2 * size, 2), [one("tp", parts=[size, size]), whole])
        dims_case(f"y (q:{size}|k:2|v:1)[tp]", tp, (2, size + 3),
                  [whole, one("tp", parts=[size, 2, 1])])
        dims_case(f"(q:{size}|k|v)[tp:interleave=2]", tp, (size + 6,),
                  [one("tp", "interleave=2", parts=[size, 3, 3])])
        flat_case("flat[tp]", tp, (size, 3), [whole, whole], [("tp", None)])
        flat_case("flat[tp:align=8]", tp, (size, 3), [whole, whole], [("tp", None)], 8)
        flat_case("flat[tp:interleave=2]", tp, (3, size), [whole, whole],
                  [("tp", "interleave=2")])

for a, b in ((2, 2), (2, 3), (3, 2)):
    for size in (1, 4, 7, 12, 13):
        mesh = {"dp": a, "tp": b}
        dims_case("x[tp,dp] y", mesh, (size, 2), [(None, [("tp", None), ("dp", None)], None), whole])
        dims_case("x[dp] y[tp]", mesh, (size, 5), [one("dp"), one("tp")])
        dims_case("x[tp] y", mesh, (size, 2), [one("tp"), whole])
        dims_case("*", mesh, (size, 2), [whole, whole])
        dims_case("* h[tp]", mesh, (2, 3, size), [whole, whole, one("tp")])
        dims_case("b s[dp:zigzag] h[tp:interleave=1]", mesh, (2, size, 5),
                  [whole, one("dp", "zigzag"), one("tp", "interleave=1")])
        dims_case("x[dp:zigzag,tp:interleave=2]", mesh, (size,),
                  [(None, [("dp", "zigzag"), ("tp", "interleave=2")], None)])
        dims_case("x[dp:stride=2,tp] cp", mesh, (size, 1),
                  [(None, [("dp", "stride=2"), ("tp", None)], None), whole])
        dims_case("(a|b)[tp,dp:interleave=2]", mesh, (2 * size,),
                  [([size, size], [("tp", None), ("dp", "interleave=2")], None)])
        for line, cut_of in (("x[tp] y", [one("tp"), whole]), ("x y[tp]", [whole, one("tp")]),
                             ("x y[tp:zigzag]", [whole, one("tp", "zigzag")]),
                             ("(a|b)[tp] y", [one("tp", parts=[size, size]), whole])):
            shape = (2 * size if "|" in line else size, 5)
            flat_case(f"flat[dp] of {line}", mesh, shape, cut_of, [("dp", None)])
            flat_case(f"flat[dp:align=8] of {line}", mesh, shape, cut_of, [("dp", None)], 8)

mesh = {"tp": 3}
dims_case("x[tp:sizes=7/0/4] y", mesh, (11, 2), [one("tp", "sizes=7/0/4"), whole])
dims_case("x[tp:even] y", mesh, (9, 2), [one("tp", "even"), whole])
dims_case("x[sp] y", mesh, (7, 2), [one("tp"), whole])
dims_case("x[dp] y", mesh, (7, 2), [whole, whole])
dims_case("x[dp] # dp:=tp", mesh, (7,), [one("tp")])
dims_case("a*b[tp] 1", mesh, (12, 1), [one("tp"), whole])
flat_case("flat[tp:sizes=5/0/16]", mesh, (7, 3), [whole, whole], [("tp", "sizes=5/0/16")])
flat_case("flat[dp,tp]", {"dp": 2, "tp": 2}, (5, 5), [whole, whole], [("dp", None), ("tp", None)])
