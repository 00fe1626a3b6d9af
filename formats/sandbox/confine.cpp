// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/confine.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/sandbox/call_filter.hpp"
#include "formats/sandbox/landlock.hpp"

namespace ttcheck::formats {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

Confined& held() {
  static Confined one;
  return one;
}

/// Closes descriptors `first` to `last`, inclusive.
void close_range_of(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (rlim_t file = first; file <= last && file < limit.rlim_cur; ++file) {
    ::close(static_cast<int>(file));
  }
}

}  // namespace

void confine(std::vector<std::string> readable) {
  if (kSanitized || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  readable.emplace_back("/sys/devices/system/cpu");  // how many threads may run: the C library asks
  held().files = restrict_files(readable);
  held().calls = refuse_calls(held().files);
}

const Confined& confined() { return held(); }

bool is_sanitized() { return kSanitized; }

void confine_worker(int descriptor) {
  if (kSanitized) return;
  const auto kept = static_cast<unsigned>(descriptor);
  if (kept > 0) close_range_of(0, kept - 1);
  close_range_of(kept + 1, ~0U);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  static_cast<void>(restrict_files({}));
  static_cast<void>(allow_talk_alone());
}

}  // namespace ttcheck::formats
