// SPDX-License-Identifier: Apache-2.0
// A tensor names its storage by a persistent id, whose class says what the count is of: elements
// of a dtype, or bytes. A legacy view has a key of its own and lies in another storage, from an
// offset on. Ids are not found by walking the object, where sharing makes many paths, but among
// all nodes of its pickle, once each. The first id of a storage is held against the bytes that
// are there, and each id's class against the last one of the same key: another size is damage, a
// second class is odd. Two classes may take turns through a whole pickle, so that is listed up to
// kMaxListed times, and then counted. A storage that no id names is a note. An id of another form
// is no storage; nor is one whose key is longer than 1024 bytes, since a short pickle may refer to
// a long text very often. Ids whose storage is not there are passed over here: the tensor that
// needs it fails.

#include "formats/torch/storages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kLongestKey = 1024;  ///< of a storage: many ids may share one text

struct ClassRow {
  std::string_view name;
  std::optional<DType> dtype;
  std::uint64_t bytes;
  std::optional<DType> integers = {};  ///< of a quantised one
};

constexpr std::array kClasses = {
    ClassRow{"DoubleStorage", DType::f64, 8},
    ClassRow{"FloatStorage", DType::f32, 4},
    ClassRow{"HalfStorage", DType::f16, 2},
    ClassRow{"BFloat16Storage", DType::bf16, 2},
    ClassRow{"LongStorage", DType::i64, 8},
    ClassRow{"IntStorage", DType::i32, 4},
    ClassRow{"ShortStorage", DType::i16, 2},
    ClassRow{"CharStorage", DType::i8, 1},
    ClassRow{"ByteStorage", DType::u8, 1},
    ClassRow{"BoolStorage", DType::boolean, 1},
    ClassRow{"ComplexDoubleStorage", DType::c128, 16},
    ClassRow{"ComplexFloatStorage", DType::c64, 8},
    ClassRow{"QInt8Storage", std::nullopt, 1, DType::i8},
    ClassRow{"QUInt8Storage", std::nullopt, 1, DType::u8},
    ClassRow{"QInt32Storage", std::nullopt, 4, DType::i32},
    ClassRow{"QUInt4x2Storage", std::nullopt, 1},
    ClassRow{"QUInt2x4Storage", std::nullopt, 1},
};

struct DTypeRow {
  std::string_view name;
  DType dtype;
};

constexpr std::array kTorchDTypes = {
    DTypeRow{"bool", DType::boolean},
    DTypeRow{"uint8", DType::u8},
    DTypeRow{"int8", DType::i8},
    DTypeRow{"uint16", DType::u16},
    DTypeRow{"int16", DType::i16},
    DTypeRow{"uint32", DType::u32},
    DTypeRow{"int32", DType::i32},
    DTypeRow{"uint64", DType::u64},
    DTypeRow{"int64", DType::i64},
    DTypeRow{"float16", DType::f16},
    DTypeRow{"bfloat16", DType::bf16},
    DTypeRow{"float32", DType::f32},
    DTypeRow{"float64", DType::f64},
    DTypeRow{"complex32", DType::c32},
    DTypeRow{"complex64", DType::c64},
    DTypeRow{"complex128", DType::c128},
    DTypeRow{"float8_e4m3fn", DType::f8_e4m3fn},
    DTypeRow{"float8_e5m2", DType::f8_e5m2},
    DTypeRow{"float8_e4m3fnuz", DType::f8_e4m3fnuz},
    DTypeRow{"float8_e5m2fnuz", DType::f8_e5m2fnuz},
    DTypeRow{"float8_e8m0fnu", DType::f8_e8m0},
    DTypeRow{"float4_e2m1fn_x2", DType::f4_e2m1},
};

bool is_storage_module(std::string_view module) {
  return module == "torch" || module == "torch.cuda" || module == "torch.storage";
}

/// The class that a global names, if it is one of storage.
std::optional<StorageClass> storage_class(Value value) {
  const Global* global = value.global();
  if (global == nullptr || !is_storage_module(global->module)) return std::nullopt;
  std::string_view name = global->name;
  if (name == "UntypedStorage" || name == "_UntypedStorage" || name == "TypedStorage" ||
      name == "_TypedStorage") {
    return StorageClass{};
  }
  for (const ClassRow& row : kClasses) {
    if (row.name == name)
      return StorageClass{row.dtype, row.bytes, !row.dtype.has_value(), row.integers};
  }
  return std::nullopt;
}

}  // namespace

std::optional<DType> torch_dtype_named(std::string_view name) {
  for (const DTypeRow& row : kTorchDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::optional<DType> torch_dtype(Value value) {
  const Global* global = value.global();
  if (global == nullptr || global->module != "torch") return std::nullopt;
  return torch_dtype_named(global->name);
}

std::optional<StorageId> storage_id(Value persistent) {
  if (!persistent.is(NodeKind::persistent)) return std::nullopt;
  const Value id = persistent[0];
  if (!id.is(NodeKind::tuple) || id.size() < 5 || id.size() > 6) return std::nullopt;
  if (id[0].text() != "storage") return std::nullopt;
  const auto kind = storage_class(id[1]);
  const auto key = id[2].text();
  const auto location = id[3].text();
  const auto count = id[4].integer();
  if (!kind || !key || !location || !count || *count < 0) return std::nullopt;
  if (key->size() > kLongestKey) return std::nullopt;
  StorageId result{*kind, *key, *location, *count, *key, 0};
  const Value view = id[5];
  if (view && !view.is_none()) {
    const auto root = view[0].text();
    const auto offset = view[1].integer();
    if (!root || root->size() > kLongestKey || !offset || *offset < 0) return std::nullopt;
    result.root_key = *root;
    result.root_offset = *offset;
  }
  return result;
}

void check_storages(TorchContents& contents) {
  if (contents.pickles.empty()) return;
  const Pickle& pickle = contents.pickles[contents.object];
  NameMap<std::string_view> classes;
  Findings turns;
  for (NodeId id = 0; id < pickle.node_count(); ++id) {
    const Value value = pickle.at(id);
    const auto storage = storage_id(value);
    if (!storage) continue;
    const auto found = contents.storages.find(std::string(storage->root_key));
    if (found == contents.storages.end()) continue;
    const std::string_view name = value[0][1].global()->name;
    const auto [seen, fresh] = classes.try_emplace(std::string(storage->key), name);
    if (!fresh && seen->second != name) {
      turns.add(odd(found->second.where, fmt::format("storage {} is used as {} and as {}",
                                                     storage->key, seen->second, name)));
      seen->second = name;
    }
    if (found->second.referenced) continue;
    found->second.referenced = true;
    const bool view = storage->root_key != storage->key;
    const auto claimed =
        checked_mul(static_cast<std::uint64_t>(storage->count), storage->kind.bytes);
    if (!view && found->second.problem.empty() && claimed != found->second.size) {
      contents.findings.push_back(
          damaged(found->second.where, fmt::format("storage {} holds {} bytes, its id says {}",
                                                   storage->key, found->second.size, claimed)));
    }
  }
  std::ranges::move(turns.take(), std::back_inserter(contents.findings));
  std::vector<std::string_view> left;
  for (const auto& [key, storage] : contents.storages) {
    if (!storage.referenced) left.push_back(key);
  }
  std::sort(left.begin(), left.end());
  for (const std::string_view key : left) {
    const TorchStorage& storage = contents.storages.at(std::string(key));
    contents.findings.push_back(
        remark(storage.where,
               fmt::format("storage {} of {} bytes belongs to no tensor", key, storage.size)));
  }
}

}  // namespace ttcheck::formats
