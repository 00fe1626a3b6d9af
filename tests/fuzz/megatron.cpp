// SPDX-License-Identifier: Apache-2.0
// Any bytes as the file of a rank of Megatron-LM, and as the arguments in it: what opens must
// describe only bytes that are there, and stages must never hold more layers than there are.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "formats/megatron/directory_names.hpp"
#include "formats/megatron/names.hpp"
#include "formats/megatron/stage_layers.hpp"
#include "formats/open.hpp"
#include "tests/support/read_piece.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

/// A checkpoint of one rank, rewritten for each input.
const std::string& scratch() {
  static const std::string path = [] {
    const std::string& folder = ttcheck::tests::scratch_folder();
    std::filesystem::create_directories(folder + "/mp_rank_00");
    return folder;
  }();
  return path;
}

void write(const std::string& name, std::string_view bytes) {
  std::ofstream(scratch() + "/mp_rank_00/" + name, std::ios::binary | std::ios::trunc) << bytes;
}

void look_at_names(const std::string& text) {
  for (const std::int64_t layers : ttcheck::formats::layers_of_layout(text)) {
    if (layers < 0) std::abort();
  }
  const auto numbers = ttcheck::formats::rank_numbers(text);
  if (numbers.size() > 3) std::abort();
  try {
    const std::string plain = ttcheck::formats::plain_megatron_name(text);
    ttcheck::formats::global_megatron_name(plain, {1, 1, true});
  } catch (const ttcheck::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  look_at_names(bytes);
  write("model_optim_rng.pt", bytes);
  write("distrib_optim.pt", bytes);
  const auto run = ttcheck::formats::open(scratch());
  if (!run) return 0;
  try {
    const ttcheck::State state = run->open(0);
    for (const ttcheck::Record& record : state.records) ttcheck::tests::read_piece(record.piece);
  } catch (const ttcheck::Error&) {
  }
  return 0;
}
