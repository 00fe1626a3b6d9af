// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of Megatron's dumps and of TransformerEngine's, beside those of another rank:
// what opens must describe only bytes that are there.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/assemble/assemble.hpp"
#include "core/base/error.hpp"
#include "formats/open.hpp"
#include "tests/support/read_piece.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

constexpr const char* kFiles[] = {"/m/wgrads/iter_0000001/mp_rank_00_000.pth",
                                  "/m/wgrads/iter_0000001/mp_rank_01_001.pth",
                                  "/m/activations/iter_0000001/mp_rank_00_001.pth",
                                  "/t/tensor_dumps/rank_0/iter_000001/a_wgrad.pt",
                                  "/t/tensor_dumps/rank_1/iter_000001/a_wgrad.pt"};

void look_at(const std::string& path) {
  const auto run = ttcheck::formats::open(path);
  if (!run) return;
  try {
    ttcheck::State state = run->open(0);
    for (const ttcheck::Record& record : state.records) ttcheck::tests::read_piece(record.piece);
    ttcheck::assemble::assemble(std::move(state), run->mesh, {});
  } catch (const ttcheck::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const char* file : kFiles) {
    const std::filesystem::path path = ttcheck::tests::scratch_folder() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  look_at(ttcheck::tests::scratch_folder() + "/m");
  look_at(ttcheck::tests::scratch_folder() + "/t");
  return 0;
}
