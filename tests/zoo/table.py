# SPDX-License-Identifier: Apache-2.0
"""The table of cases: what is planted, and what must be said of it."""
import dataclasses
import random
from typing import Callable

from config import Config, where

BOTH = ("fp32", "bf16")
# Few tokens and one step: in bf16 a near tie between experts falls otherwise in another layout, and then runs differ for good.
MOE = dict(experts=4, batch=4, seq=8, last=1)
CASES = []
KNOWN = {  # what ttcheck still gets wrong, and why
}

PLAIN = ("TT601", "TT604")  # always accepted of a divergence: it is there; the op does not follow from its inputs


@dataclasses.dataclass(frozen=True)
class Expected:
    verdict: str = "diverged"
    step: int = 1
    phase: str = ""
    tensor: str = ""
    at: object = None  # coordinates of the wrong ranks: a dict, or several; None: whatever
    codes: tuple = ()  # any of them
    also: tuple = ()  # further tensors that must be named
    roots: tuple = ()  # those that must be named as places where an error came about
    exits: tuple = (1,)

    def ranks(self, config):
        several = self.at if isinstance(self.at, (list, tuple)) else [self.at]
        return sorted({rank for at in several for rank in where(config, **at)})


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    title: str
    plant: Callable  # Draw -> (faults, Expected)
    reference: dict  # changes of Config on both sides
    candidate: dict  # and on the candidate's alone
    precisions: tuple
    map: str = ""  # text for --map


class Draw:
    """What a case leaves open. The plain run takes the first of the choices; `--seed` draws from all of them."""

    def __init__(self, precision, config, seed=None):
        self.precision, self.config = precision, config
        self.random = None if seed is None else random.Random(seed)

    def of(self, *choices):
        return self.random.choice(choices) if self.random else choices[0]

    def layer(self, first=0):
        """A layer at or behind `first`."""
        return self.of(*range(first, self.config.layers)) if self.random else first

    def rank(self, axis):
        """A coordinate that is not 0."""
        return self.of(*range(1, getattr(self.config, axis)))

    def module(self, *names):
        """One of these modules of some layer."""
        return f"layers.{self.of(1, 0)}.{self.of(*names)}"


def case(id, title, model=None, precisions=BOTH, map="", **layout):
    def add(plant):
        CASES.append(Case(id, title, plant, dict(model or {}), layout, precisions, map))
        return plant
    return add


def diverged(phase, tensor, at, codes=(), step=1, also=(), roots=()):
    return Expected("diverged", step, phase, tensor, at, tuple(codes) + PLAIN, tuple(also), tuple(roots))


def not_comparable(phase, tensor, at, codes=(), step=1, exits=(2,)):
    return Expected("not-comparable", step, phase, tensor, at, tuple(codes) + PLAIN, exits=exits)


NOISE = Expected("noise", exits=(0,))
EQUAL = Expected("equal", exits=(0,))


def config_of(one, precision, seed=None):
    """A seed also draws weights and, where no expert may be a near choice, the data."""
    config = Config(precision=precision, **one.reference)
    if seed is None or config.experts:
        return config
    return config.changed(seed=seed, batch_seed=seed)
