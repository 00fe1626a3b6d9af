# SPDX-License-Identifier: Apache-2.0
"""Where a run can go wrong. The program names each of its sites; a fault puts something else in the place of a site's value."""
import dataclasses
import fnmatch
import types
from typing import Callable, Optional

import numpy as np

from rounding import flip_bit


@dataclasses.dataclass(frozen=True)
class Fault:
    """fn(value, c) -> value at each site that matches; `c` has rank, at (mesh coordinates), step, microbatch,
    recomputing, and what the site itself tells (`local`, `x`, ...)."""
    site: str
    fn: Callable
    ranks: Optional[tuple] = None
    steps: Optional[tuple] = None

    def meets(self, site, rank, step):
        return ((self.ranks is None or rank in self.ranks) and (self.steps is None or step in self.steps)
                and fnmatch.fnmatchcase(site, self.site))


def apply(faults, site, value, /, **context):
    for fault in faults:
        if fault.meets(site, context["rank"], context["step"]):
            value = fault.fn(value, types.SimpleNamespace(**context))
    return value


# What commonly goes wrong.
def local(value, c):
    """The collective did not happen."""
    return c.local


def times(k):
    return lambda value, c: np.asarray(value * np.float32(k), np.float32)


def put(other):
    return lambda value, c: other


def bit(place, number):
    return lambda value, c: flip_bit(value, place, number)
