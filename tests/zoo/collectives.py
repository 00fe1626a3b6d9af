# SPDX-License-Identifier: Apache-2.0
"""Virtual ranks: a thread for each, which meet in collectives. Sums run in rank order, so a run is deterministic."""
import queue
import threading

import numpy as np


class Group:
    """Ranks that call the same collectives in the same order."""

    def __init__(self, members):
        self.members = list(members)
        self.brought = {}
        self.barrier = threading.Barrier(len(self.members))

    def exchange(self, rank, value):
        """What each member brought, in order."""
        if len(self.members) == 1:
            return [value]
        self.brought[rank] = value
        self.barrier.wait()
        values = [self.brought[member] for member in self.members]
        self.barrier.wait()  # nobody brings the next value before all have read this one
        return values

    def sum(self, rank, x):
        values = self.exchange(rank, x)
        return sum(values[1:], np.array(values[0]))

    def max(self, rank, x):
        return np.maximum.reduce(self.exchange(rank, x))

    def gather(self, rank, x, axis):
        return np.concatenate(self.exchange(rank, x), axis)

    def sum_and_cut(self, rank, x, axis):
        """A reduce-scatter: this member's part of the sum."""
        return np.split(self.sum(rank, x), len(self.members), axis)[self.members.index(rank)]


class Mail:
    """Messages from one pipeline stage to the next."""

    def __init__(self):
        self.boxes = {}
        self.lock = threading.Lock()

    def box(self, sender, receiver):
        with self.lock:
            return self.boxes.setdefault((sender, receiver), queue.Queue())

    def send(self, sender, receiver, value):
        self.box(sender, receiver).put(value)

    def receive(self, sender, receiver):
        return self.box(sender, receiver).get(timeout=60)


def run_ranks(world, groups, body):
    """Calls body(rank) for every rank at once; the first error of any of them is raised."""
    errors = []

    def one(rank):
        try:
            body(rank)
        except Exception as error:
            errors.append(error)
            for group in groups:
                group.barrier.abort()

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(world)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    real = [error for error in errors if not isinstance(error, (threading.BrokenBarrierError, queue.Empty))]
    if errors:
        raise (real or errors)[0]
