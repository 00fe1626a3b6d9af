// SPDX-License-Identifier: Apache-2.0
// What GCC's C++ library, linked into the program, asks of a newer glibc than the program is to run
// with (script/package). Their names are glibc's.

#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" {

/// Whether reference counts may do without atomic instructions: never.
char __libc_single_threaded = 0;

/// For std::random_device.
std::uint32_t arc4random() {
  std::uint32_t value = 0;
  if (getentropy(&value, sizeof value) != 0) std::abort();
  return value;
}
}
