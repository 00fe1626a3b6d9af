// SPDX-License-Identifier: Apache-2.0
// Any bytes as a dump of SGLang's and as its name, beside those of another rank: what opens must
// describe only bytes that are there, through to the tensors that two ranks make.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/assemble/assemble.hpp"
#include "core/assemble/undeclared.hpp"
#include "core/base/error.hpp"
#include "formats/dumps/sglang/name.hpp"
#include "formats/open.hpp"
#include "tests/support/read_piece.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

constexpr const char* kFolders[] = {"/dump", "/pass", "/pass/TP0_PP0_Rank0_pid1",
                                    "/pass/TP1_PP0_Rank1_pid2"};

/// A dump and a pass of two ranks, rewritten for each input.
const std::string& scratch() {
  static const std::string path = [] {
    const std::string& folder = ttcheck::tests::scratch_folder();
    for (const char* below : kFolders) std::filesystem::create_directories(folder + below);
    return folder;
  }();
  return path;
}

void look_at(const std::string& path) {
  const auto run = ttcheck::formats::open(path);
  if (!run) return;
  try {
    ttcheck::State state = run->open(0);
    for (const ttcheck::Record& record : state.records) ttcheck::tests::read_piece(record.piece);
    const ttcheck::State other = run->open(0);
    ttcheck::assemble::place_by_shape(
        state.records, std::span(other.records).first(!other.records.empty()), run->mesh);
    ttcheck::assemble::assemble(std::move(state), run->mesh, {});
  } catch (const ttcheck::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (const auto name = ttcheck::formats::parse_sglang_name(bytes)) {
    if (name->name.empty() || name->step < 0 || name->rank < 0) std::abort();
    if (name->identity().find("name=") == std::string::npos) std::abort();
  }
  for (const char* file :
       {"/dump/step=0___rank=0___dump_index=1___name=a.pt",
        "/dump/step=0___rank=1___dump_index=1___name=a.pt", "/pass/TP0_PP0_Rank0_pid1/Pass00000.pt",
        "/pass/TP1_PP0_Rank1_pid2/Pass00000.pt"}) {
    std::ofstream(scratch() + file, std::ios::binary | std::ios::trunc) << bytes;
  }
  look_at(scratch() + "/dump");
  look_at(scratch() + "/pass");
  return 0;
}
