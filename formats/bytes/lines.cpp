// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/lines.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace ttcheck::formats {

void for_each_line(const Source& file, std::size_t limit,
                   const std::function<void(const Line&)>& body) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 16;
  std::vector<char> buffer(static_cast<std::size_t>(kBlock));
  Line line;
  const std::uint64_t end = file.size();
  for (std::uint64_t at = 0; at < end; at += kBlock) {
    const std::span<char> block(buffer.data(),
                                static_cast<std::size_t>(std::min(kBlock, end - at)));
    file.read(at, std::as_writable_bytes(block));
    std::string_view rest(block.data(), block.size());
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      const std::string_view part = rest.substr(0, newline);
      line.text.append(part.substr(0, limit - line.text.size()));
      line.size += part.size();
      line.cut = line.size > limit;
      if (newline == std::string_view::npos) break;
      body(line);
      line = {{}, line.offset + line.size + 1, 0, line.number + 1, false, true};
      rest.remove_prefix(newline + 1);
    }
  }
  line.ended = false;
  if (line.size > 0) body(line);
}

}  // namespace ttcheck::formats
