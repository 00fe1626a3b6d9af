// SPDX-License-Identifier: Apache-2.0
// Any bytes as each file of a rank's folder in msprobe's dump, beside a second rank's, and as names
// in it: what opens must describe only bytes that are there, through to tensors and pairs.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/align/align.hpp"
#include "core/assemble/assemble.hpp"
#include "core/assemble/undeclared.hpp"
#include "core/base/error.hpp"
#include "formats/dumps/msprobe/name.hpp"
#include "formats/open.hpp"
#include "tests/support/read_piece.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

constexpr const char* kRanks[] = {"/dump/step0/rank0", "/dump/step0/rank1"};
constexpr const char* kTensor = "/dump_tensor_data/Module.a.Linear.forward.0.output.0.pt";

const std::string& scratch() {
  static const std::string path = [] {
    const std::string& folder = ttcheck::tests::scratch_folder();
    for (const char* rank : kRanks) {
      std::filesystem::create_directories(folder + rank + "/dump_tensor_data");
    }
    return folder;
  }();
  return path;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(scratch() + path, std::ios::binary | std::ios::trunc) << bytes;
}

void look_at(const std::string& path) {
  const auto run = ttcheck::formats::open(path);
  if (!run) return;
  try {
    ttcheck::State state = run->open(0);
    for (const ttcheck::Record& record : state.records) {
      if (record.stored) ttcheck::tests::read_piece(record.piece);
    }
    ttcheck::State other = run->open(0);
    if (!other.records.empty()) other.records.erase(other.records.begin());
    ttcheck::assemble::place_by_rank(state.records, other.records);
    const auto left = ttcheck::assemble::assemble(std::move(state), run->mesh, {});
    auto right = ttcheck::assemble::assemble(std::move(other), run->mesh, {});
    const auto made = ttcheck::align::align(left.tensors, right.tensors, {});
    std::size_t count = made.pairs.size() + made.only_reference.size();
    for (const auto& [rule, excluded] : made.excluded_by)
      count += static_cast<std::size_t>(excluded);
    if (count < left.tensors.size()) std::abort();  // a tensor is in no class
  } catch (const ttcheck::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (const auto parts = ttcheck::formats::parse_msprobe_file(bytes)) {
    if (bytes.find(parts->first) != 0) std::abort();
    ttcheck::formats::parse_msprobe_op(parts->first);
  }
  ttcheck::formats::parse_msprobe_op(bytes);
  for (const char* rank : kRanks) {
    write(std::string(rank) + "/dump.json", bytes);
    write(std::string(rank) + "/construct.json", bytes);
    write(std::string(rank) + kTensor, bytes);
  }
  look_at(scratch() + "/dump");
  return 0;
}
