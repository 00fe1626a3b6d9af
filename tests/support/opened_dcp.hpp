// SPDX-License-Identifier: Apache-2.0
#pragma once
// A distributed checkpoint that is opened, and a small one of two ranks.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/open.hpp"
#include "tests/support/dcp_writer.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::tests {

inline std::int64_t size_of(const std::string& text) {
  return static_cast<std::int64_t>(text.size());
}

/// The run of a directory and its only state.
struct OpenedDcp {
  explicit OpenedDcp(const TempDir& directory) : OpenedDcp(directory.path()) {}
  explicit OpenedDcp(const std::string& path) {
    Result<Run> result = formats::open(path);
    if (!result) throw result.error();
    run = std::move(*result);
    state = run.open(0);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Record& record : state.records) names.push_back(record.identity.name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  bool says(Code code, std::string_view text) const {
    return std::ranges::any_of(state.findings, [&](const Finding& finding) {
      return finding.code == code && finding.message.find(text) != std::string::npos;
    });
  }
  const Fact* fact(std::string_view name) const { return find_fact(state.facts, name); }

  Run run;
  State state;
};

inline const std::vector<float> kTop = {1, 2, 3, 4};
inline const std::vector<float> kBottom = {5, 6};

/// Two ranks that hold rows [0, 2) and [2, 3) of a 3 x 2 tensor.
struct TwoRanks {
  TwoRanks() {
    table.tensor("model.w", {3, 2},
                 {{{0, 0}, {2, 2}, {"__0_0.distcp", 0, size_of(top)}},
                  {{2, 0}, {1, 2}, {"__1_0.distcp", 0, size_of(bottom)}}});
    table.path("model.w", {"model", "w"});
  }
  void write(const TempDir& directory) const {
    directory.write(".metadata", table.bytes());
    directory.write("__0_0.distcp", top);
    directory.write("__1_0.distcp", bottom);
  }

  std::string top = DcpWriter::chunk({2, 2}, kTop);
  std::string bottom = DcpWriter::chunk({1, 2}, kBottom);
  DcpWriter table;
};

}  // namespace ttcheck::tests
