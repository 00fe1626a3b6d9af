// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers and lists as a person reads them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/finding.hpp"
#include "core/model/mesh.hpp"

namespace ttcheck::reports {

std::string short_number(double value);        ///< 3 significant digits: "0.0123", "1.2e-07", "inf"
std::string short_bytes(std::uint64_t bytes);  ///< "512 B", "1.46 GiB"
std::string thousands(std::int64_t count);     ///< "1,234,567"
std::string counted(std::int64_t count, const std::string& noun);  ///< "1 tensor", "2 tensors"

/// "0-3,6"; empty for none. Also used for steps.
std::string folded(const std::vector<std::int64_t>& numbers);
std::string folded(const std::vector<std::int32_t>& numbers);

/// "5-60 by 5", or as folded.
std::string stepped(const std::vector<std::int64_t>& numbers);

std::string bracketed(std::span<const std::int64_t> numbers);  ///< "[4096, 11008]"
std::string mesh_words(const Mesh& mesh);                      ///< "tp=4 pp=2"; empty for one rank
std::string axes_words(const AxisCoordinates& axes);           ///< "tp=1 pp=0-1"
std::string hypothesis_words(const Hypothesis& hypothesis);    ///< "scale k=0.5, residual 0"
std::string percent(std::uint64_t part, std::uint64_t whole);  ///< "0.3%"

std::string_view severity_word(Severity severity);  ///< "error"

/// "forward layers.0.mlp/output.0 of micro-batch 1" or a checkpoint's name, escaped.
std::string shown(const Identity& identity);

}  // namespace ttcheck::reports
