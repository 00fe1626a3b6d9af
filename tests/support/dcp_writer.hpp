// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of a distributed checkpoint, by hand, and items for its data files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/opened_torch.hpp"

namespace ttcheck::tests {

class DcpWriter {
 public:
  struct Place {
    std::string file = "__0_0.distcp";
    std::int64_t offset = 0, length = 0;
    std::vector<std::string> transforms = {};
  };
  struct Chunk {
    std::vector<std::int64_t> offsets, sizes;
    Place place = {};
    bool placed = true;
  };

  void tensor(std::string_view name, const std::vector<std::int64_t>& size,
              const std::vector<Chunk>& chunks, std::string_view dtype = "float32") {
    using namespace pickled;
    std::string all = "](";
    for (const Chunk& chunk : chunks) {
      all += made("ChunkStorageMetadata",
                  pair("offsets", extents(chunk.offsets)) + pair("sizes", extents(chunk.sizes)));
      if (chunk.placed) place(name, extents(chunk.offsets), chunk.place);
    }
    const std::string properties =
        global(kModule, "TensorProperties") + ")\x81" + "(" + global("torch", dtype) + "Ntb";
    table_ += text(name) + made("TensorStorageMetadata", pair("properties", properties) +
                                                             pair("size", extents(size)) +
                                                             pair("chunks", all + "e"));
  }

  void item(std::string_view name, const Place& at) {
    table_ += pickled::text(name) + made("BytesStorageMetadata", "");
    place(name, "N", at);
  }

  void path(std::string_view name, const std::vector<std::string>& parts) {
    paths_ += pickled::text(name) + "(";
    for (const std::string& part : parts) paths_ += pickled::text(part);
    paths_ += "t";
  }

  /// The whole table; `more` goes in front of its dict, and is forgotten.
  std::string bytes(const std::string& more = {}) const {
    return pickled::whole(
        more +
        made("Metadata", pair("state_dict_metadata", "}(" + table_ + "u") +
                             pair("planner_data", paths_.empty() ? "N" : "}(" + paths_ + "u") +
                             pair("storage_data", "}(" + places_ + "u") +
                             pair("version", pickled::text("1.0.0"))));
  }

  /// The item of a chunk of floats of that shape, the first of them in `numbers`.
  static std::string chunk(const std::vector<std::int64_t>& shape,
                           const std::vector<float>& numbers) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    pickled::Tensor tensor;
    tensor.count = static_cast<std::int64_t>(numbers.size());
    tensor.size = shape;
    tensor.stride = strides;
    const std::string_view data(reinterpret_cast<const char*>(numbers.data()),
                                numbers.size() * sizeof(float));
    return torch_archive(pickled::tensor(tensor), std::string(data));
  }

 private:
  static constexpr std::string_view kModule = "torch.distributed.checkpoint.metadata";

  static std::string pair(std::string_view key, const std::string& value) {
    return pickled::text(key) + value;
  }
  static std::string made(std::string_view name, const std::string& fields) {
    return pickled::global(kModule, name) + ")\x81}(" + fields + "ub";
  }
  static std::string extents(const std::vector<std::int64_t>& numbers) {
    std::string items = "(";
    for (const std::int64_t number : numbers) items += pickled::integer(number);
    return pickled::global("torch", "Size") + "(" + items + "ttR";
  }
  void place(std::string_view name, const std::string& offset, const Place& at) {
    std::string transforms = "](";
    for (const std::string& transform : at.transforms) transforms += pickled::text(transform);
    places_ +=
        made("MetadataIndex", pair("fqn", pickled::text(name)) + pair("offset", offset)) +
        made("_StorageInfo",
             pair("relative_path", pickled::text(at.file)) +
                 pair("offset", pickled::integer(at.offset)) +
                 pair("length", pickled::integer(at.length)) +
                 (at.transforms.empty() ? "" : pair("transform_descriptors", transforms + "e")));
  }

  std::string table_, places_, paths_;
};

}  // namespace ttcheck::tests
