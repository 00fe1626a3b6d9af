// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lines of a text file, streamed: memory of one line, of which no more than a limit is kept.

#include <cstdint>
#include <functional>
#include <string>

#include "core/model/source.hpp"

namespace ttcheck::formats {

struct Line {
  std::string text;          ///< without `\n`
  std::uint64_t offset = 0;  ///< of its first byte
  std::uint64_t size = 0;    ///< of all of it, without `\n`
  std::int64_t number = 1;
  bool cut = false;   ///< longer than the limit: `text` is only its start
  bool ended = true;  ///< false: the file ends before a `\n`
};

/// Calls `body` for each line, in order; a last line without `\n` is one if it is not empty.
void for_each_line(const Source& file, std::size_t limit,
                   const std::function<void(const Line&)>& body);

}  // namespace ttcheck::formats
