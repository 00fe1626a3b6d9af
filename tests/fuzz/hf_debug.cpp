// SPDX-License-Identifier: Apache-2.0
// Any bytes as a call tree of transformers' model debugger, as the text of a printed tensor, and as
// the file of a value: what opens must describe only bytes that are there.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "formats/dumps/printed_tensor.hpp"
#include "formats/open.hpp"
#include "tests/support/read_piece.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

constexpr std::string_view kTree =
    R"~({"module_path": "M", "outputs": {"shape": "torch.Size([2])", "dtype": "torch.float32",
         "value": "./M_outputs.safetensors"}})~";

void write(const std::string& name, std::string_view bytes) {
  std::ofstream(ttcheck::tests::scratch_folder() + "/" + name, std::ios::binary | std::ios::trunc)
      << bytes;
}

void look_at(const std::string& path) {
  const auto run = ttcheck::formats::open(path);
  if (!run) return;
  try {
    const ttcheck::State state = run->open(0);
    for (const ttcheck::Record& record : state.records) {
      if (record.stored) ttcheck::tests::read_piece(record.piece);
    }
  } catch (const ttcheck::Error&) {
  }
}

void print(std::string_view text, ttcheck::DType dtype) {
  try {
    const auto printed = ttcheck::formats::parse_printed(text, dtype);
    const auto bytes = ttcheck::byte_size(dtype, printed.count);
    if (printed.values.size() != bytes) __builtin_trap();
    ttcheck::Shape shape;
    std::int64_t there = 1;
    for (const auto& dim : printed.dims) {
      shape.push_back(dim.before + dim.after + (dim.dots ? 2 : 0));
      there *= dim.before + dim.after;
    }
    const auto parts = ttcheck::formats::parts_of(printed, shape);
    std::int64_t covered = parts.cells.empty() ? 0 : -there;
    for (const auto& cell : parts.cells) covered += ttcheck::volume(cell.box);
    if (covered != 0) __builtin_trap();
  } catch (const ttcheck::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto dtype : {ttcheck::DType::f32, ttcheck::DType::i64, ttcheck::DType::c64}) {
    print(bytes, dtype);
  }
  write("M_debug_tree_FULL_TENSORS.json", bytes);
  look_at(ttcheck::tests::scratch_folder());
  look_at(ttcheck::tests::scratch_folder() + "/M_debug_tree_FULL_TENSORS.json");
  write("M_debug_tree_FULL_TENSORS.json", kTree);
  write("M_outputs.safetensors", bytes);
  look_at(ttcheck::tests::scratch_folder());
  return 0;
}
