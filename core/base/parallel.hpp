// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only place that knows OpenMP. Work may run in any order on any number of threads; results go
// to slots that the caller sized, so nothing depends on the schedule.

#include <cstddef>
#include <functional>

namespace ttcheck {

/// Takes out of the environment the word to OpenMP's library that its threads sleep while they
/// wait, so that programs that this one starts see it as it was given. To be called first in main.
void restore_environment();

/// Threads that parallel_for uses from now on; 0 or less: as many as the machine has.
void set_threads(int count);
int threads();

/// Index of the calling worker in [0, threads()); 0 outside of parallel_for.
int worker();

/// Calls body(i) once for each i in [0, count), lowest indices first, one at a time per thread.
/// Every call is made even if one throws; then the exception of the lowest index is rethrown.
/// Not nestable: an inner call runs serially.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

/// Does what parallel_for does for bodies that are too small to be handed out one by one: calls
/// body(begin, end) for ranges of a fixed size that cover [0, count).
void parallel_ranges(std::size_t count,
                     const std::function<void(std::size_t begin, std::size_t end)>& body);

}  // namespace ttcheck
