#include "core/base/parallel.hpp"

#include <omp.h>

#include <exception>
#include <limits>
#include <mutex>

namespace ttcheck {
namespace {

int wanted = 0;

}  // namespace

void set_threads(int count) { wanted = count; }

int threads() { return wanted > 0 ? wanted : omp_get_num_procs(); }

int worker() { return omp_get_thread_num(); }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::mutex lock;
  std::exception_ptr first;
  std::size_t first_index = std::numeric_limits<std::size_t>::max();
  const auto guarded = [&](std::size_t i) {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard hold(lock);
      if (i < first_index) {
        first_index = i;
        first = std::current_exception();
      }
    }
  };
  if (count == 1 || threads() == 1 || omp_in_parallel() != 0) {
    for (std::size_t i = 0; i < count; ++i) guarded(i);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads())
    for (std::size_t i = 0; i < count; ++i) guarded(i);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace ttcheck
