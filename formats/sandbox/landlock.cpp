// SPDX-License-Identifier: Apache-2.0
// Numbers and layouts are of include/uapi/linux/landlock.h, and not taken from the header of the
// machine that compiles, which may be older than the kernel that runs. A kernel knows the rights up
// to a version of its interface; asked for one that it does not know, it refuses all.

#include "formats/sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ttcheck::formats {
namespace {

constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;  // on every architecture
constexpr unsigned kAskVersion = 1;                                        // a flag of the first
constexpr int kPathBeneath = 1;                                            // a type of rule

constexpr std::uint64_t kReadFile = 1 << 2, kReadDirectory = 1 << 3;

struct Ruleset {
  std::uint64_t files, network, scoped;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t descriptor;
};

/// All rights of each version: bits of files, of the network, of what is scoped to the process.
constexpr std::array<Ruleset, 6> kRights = {{
    {(1 << 13) - 1, 0, 0},  // execute, write, read, list, remove and make of each kind
    {(1 << 14) - 1, 0, 0},  // renaming into other folders
    {(1 << 15) - 1, 0, 0},  // truncating
    {(1 << 15) - 1, 3, 0},  // bind and connect of TCP
    {(1 << 16) - 1, 3, 0},  // ioctl of devices
    {(1 << 16) - 1, 3, 3},  // abstract sockets, signals
}};

bool allow(int ruleset, const std::string& path) {
  const int place = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  struct stat status{};
  if (place < 0 || ::fstat(place, &status) != 0) return true;  // there is nothing to be read
  const PathRule rule{kReadFile | (S_ISDIR(status.st_mode) ? kReadDirectory : 0), place};
  const bool added = ::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) == 0;
  ::close(place);
  return added;
}

}  // namespace

bool restrict_files(const std::vector<std::string>& readable) {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  if (version < 1) return false;
  const Ruleset rights =
      kRights.at(std::min(static_cast<std::size_t>(version), kRights.size()) - 1);
  // An older kernel knows the first words alone, and takes the others where they are zero.
  const auto ruleset = static_cast<int>(::syscall(kCreateRuleset, &rights, sizeof rights, 0U));
  if (ruleset < 0) return false;
  const auto fits = [&](const std::string& path) { return allow(ruleset, path); };
  const bool restricted =
      std::ranges::all_of(readable, fits) && ::syscall(kRestrictSelf, ruleset, 0U) == 0;
  ::close(ruleset);
  return restricted;
}

}  // namespace ttcheck::formats
