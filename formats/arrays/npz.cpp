// SPDX-License-Identifier: Apache-2.0
// npz: a zip archive of .npy members, named by their paths with dots.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/checked.hpp"
#include "formats/arrays/npy_array.hpp"
#include "formats/bytes/cursor.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/zip.hpp"
#include "formats/readers/format.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kMember = ".npy";
constexpr std::uint64_t kCrcBudget = 256ULL << 20;  // bytes read to check stored checksums

/// Name of the first member, from the local header at the start; empty when it is none.
std::string_view first_member(const Probe& probe) {
  try {
    Cursor cursor(probe.head, probe.file);
    if (cursor.text(4, "signature") != "PK\x03\x04") return {};
    cursor.skip(22, "local header");
    const std::uint16_t length = cursor.u16("name length");
    cursor.skip(2, "extra length");
    return cursor.text(length, "name");
  } catch (const Error&) {
    return {};
  }
}

bool any_array(const Source& file) {
  try {
    const Zip zip(file);
    return std::ranges::any_of(zip.members(),
                               [](const ZipMember& m) { return m.name.ends_with(kMember); }) &&
           std::ranges::none_of(zip.members(),
                                [](const ZipMember& m) { return m.name.ends_with("data.pkl"); });
  } catch (const Error&) {
    return false;
  }
}

/// The signature of a local header and a member called .npy.
Bid bid_npz(const Probe& probe) {
  const std::string_view name = first_member(probe);
  if (name.empty()) return Bid::none;
  return name.ends_with(kMember) || any_array(probe.root.file(probe.file)) ? Bid::npz : Bid::none;
}

std::string array_name(std::string_view member) {
  if (member.ends_with(kMember)) member.remove_suffix(kMember.size());
  std::string name(member);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

struct Archive {
  explicit Archive(const Source& file) : zip(file) {}
  Zip zip;
  std::vector<Finding> checksums;  ///< kept from the first reading
  bool checked = false;
};

void read_member(const Zip& zip, std::size_t i, std::set<std::string>& seen, State& state) {
  const ZipMember& member = zip.members()[i];
  const std::string name = array_name(member.name);
  const Where where = zip.file().where(member.header);
  try {
    if (!member.name.ends_with(kMember)) throw Error("member is no .npy array", where);
    if (!seen.insert(name).second) {
      throw Error("a second member of this name: only the first is used", where);
    }
    read_npy(zip.source(i), name, state);
  } catch (const Error& error) {
    ++state.unreadable;
    state.findings.push_back(unreadable(error.at({where.file, where.offset, member.name}), name));
  }
}

State read(Archive& archive) {
  const Zip& zip = archive.zip;
  State state;
  state.findings = zip.findings();
  state.bytes_unclaimed = zip.unclaimed();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < zip.members().size(); ++i) {
    if (!zip.members()[i].name.ends_with('/')) read_member(zip, i, seen, state);
  }
  if (!archive.checked) archive.checksums = check_crc(zip, kCrcBudget);
  archive.checked = true;
  state.findings.insert(state.findings.end(), archive.checksums.begin(), archive.checksums.end());
  return state;
}

Run open_npz(const Probe& probe, const OpenOptions&) {
  auto archive = std::make_shared<Archive>(probe.root.file(probe.file));
  Run run;
  run.format = "npz";
  Archive* raw = archive.get();
  run.open = [raw](std::size_t) { return read(*raw); };
  run.owner = archive;
  return run;
}

}  // namespace

const Format kNpz = {"npz", "zip archive of NumPy arrays", bid_npz, open_npz};

}  // namespace ttcheck::formats
