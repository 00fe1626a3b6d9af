// SPDX-License-Identifier: Apache-2.0
#include "formats/rank_files/flat_views.hpp"

#include <algorithm>
#include <string_view>

#include "core/base/name_map.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kFlat = "_flat_param";

/// The part of a name that its last part hangs below, with the dot; empty at the root.
std::string_view unit_of(std::string_view name) {
  return name.substr(0, name.rfind('.') + 1);  // npos + 1 is 0
}

bool is_flat(const Record& record) {
  const std::string_view name = record.identity.name;
  return record.box_lo && name.substr(unit_of(name).size()) == kFlat;
}

}  // namespace

std::size_t leave_out_flat_views(std::vector<Record>& records) {
  NameMap<const Source*> flats;  // by unit
  for (const Record& record : records) {
    if (is_flat(record)) flats.emplace(unit_of(record.identity.name), record.piece.source);
  }
  if (flats.empty()) return 0;
  return std::erase_if(records, [&](const Record& record) {
    if (record.box_lo || record.shape.size() != 1) return false;
    for (std::string_view unit = unit_of(record.identity.name);;
         unit = unit_of(unit.substr(0, unit.size() - 1))) {
      const auto flat = flats.find(unit);
      if (flat != flats.end()) return record.shape[0] == 0 || record.piece.source == flat->second;
      if (unit.empty()) return false;
    }
  });
}

}  // namespace ttcheck::formats
