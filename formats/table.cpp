// The one table of formats: a row here, a file beside it.

#include <array>
#include <vector>

#include "formats/format.hpp"
#include "formats/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<const Format*, 2> kTable = {
    &kSafetensors,
    &kTrace,
};

}  // namespace

std::span<const Format* const> table() { return kTable; }

std::span<const FormatRow> formats() {
  static const std::vector<FormatRow> rows = [] {
    std::vector<FormatRow> made;
    for (const Format* format : table()) made.push_back({format->name, format->summary});
    return made;
  }();
  return rows;
}

}  // namespace ttcheck::formats
