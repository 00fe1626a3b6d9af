// SPDX-License-Identifier: Apache-2.0
#include "core/base/interrupted.hpp"

#include <atomic>

namespace ttcheck {
namespace {

std::atomic<int> came{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler may touch nothing else

}  // namespace

int interrupted() { return came.load(); }
void note_interruption(int signal) { came.store(signal); }

}  // namespace ttcheck
