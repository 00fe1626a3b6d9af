// SPDX-License-Identifier: Apache-2.0
#pragma once
// A copy of a sample of which one file can be damaged, and what `diff` says of it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "core/model/run.hpp"

namespace ttcheck::tests {

/// What came out of comparing the reference with the damaged copy.
struct Answer {
  int exit = 0;                    ///< as the program would end; anything but 0..3 is a failure
  std::string verdict;             ///< "equal", ..., or "error" when nothing could be said
  std::vector<std::string> words;  ///< every place and message, for "names the file"
  bool has_offset = false;         ///< at least one place carries a file offset
};

class DamagedCopy {
 public:
  /// Copies `sample` (file or directory) into a new directory; `file` is the path inside it of what
  /// is to be damaged, empty when the sample is a file. Compared with `reference`, which is opened
  /// once. Where `beside` names further files of the sample, the copy holds `file` and these alone,
  /// and so does the reference, which is then the sample itself: of many files of one kind, few
  /// are enough to be damaged.
  DamagedCopy(const std::filesystem::path& sample, const std::string& file,
              const std::filesystem::path& reference, const std::vector<std::string>& beside);
  ~DamagedCopy();
  DamagedCopy(const DamagedCopy&) = delete;
  DamagedCopy& operator=(const DamagedCopy&) = delete;

  const std::string& original() const { return original_; }  ///< content of the file
  const std::filesystem::path& damaged_file() const { return file_; }

  /// Replaces the file's content and compares.
  Answer with(const std::string& content) const;

 private:
  std::filesystem::path folder_, copy_, file_;
  std::string original_;
  cli::Options options_;
  Run reference_;
};

/// For each byte: whether it is seen to belong to `values`, the bytes of each tensor: some eight
/// bytes around it stand in one of them too, and are not all alike.
std::vector<bool> payload_of(const std::string& content, const std::vector<std::string>& values);

std::string read_whole(const std::filesystem::path& path);

}  // namespace ttcheck::tests
