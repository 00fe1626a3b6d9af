// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process in which a parser runs that is not safe on hostile files. It has one channel, on
// which it asks for bytes of its file and says what it found, and may do nothing else.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/source.hpp"
#include "formats/sandbox/channel.hpp"

namespace ttcheck::formats {

/// A parser that workers run. A static object, so that each process knows it by the same number.
class WorkerParser {
 public:
  /// Loads what it needs, before any byte of a file is there: may open, and may be called again.
  using Load = void (*)();
  /// May not use threads. Throws Error.
  using Parse = std::vector<std::byte> (*)(const Source& file, std::string_view argument);

  WorkerParser(Load load, Parse parse);
  std::uint64_t number() const { return number_; }

 private:
  std::uint64_t number_;
};

/// First words of what a worker says: kRead, offset, size (answered by 1 and the bytes, or by 0);
/// or at its end the text that was found, or of why it failed.
inline constexpr std::uint64_t kRead = 0, kDone = 1, kFailed = 2, kUnable = 3;
/// Bytes that a worker reads at a time, at most.
inline constexpr std::uint64_t kServedBlock = std::uint64_t{1} << 16;

/// What a worker is to do.
struct WorkerTask {
  std::uint64_t parser = 0;
  std::uint64_t file_size = 0;
  Where place;
  std::string argument;
};

/// Loads what the parser needs. Throws Error, also where there is no such parser.
void load_parser(std::uint64_t number);

/// Says on a worker's channel that its work came to nothing.
void say_failed(const Channel& data, const Error& error);

/// Parses, says what was found, and ends. Does not return; ends with `broker`.
[[noreturn]] void be_worker(const Channel& data, const WorkerTask& work, pid_t broker);

}  // namespace ttcheck::formats
