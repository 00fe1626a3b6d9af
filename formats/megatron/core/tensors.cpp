// SPDX-License-Identifier: Apache-2.0
// Buckets name no parameters and are cut by the weights, so they are collected and cut once all
// tensors of the table were added. Where a first pass finds buckets, or an object holds gathered
// ones, weights are made twice: for the state without the padding rows of the vocabulary, and
// with them for the cutting, since buffers hold copies of padding, too. The shapes that tensors
// had before they were flattened are extras of the table, and are read before all tensors.
// An Error ends the tensor that it came from, and the others go on. It may be a size that
// overflows, a bucket that is no row, a key of the optimizer's buffers of another form, or chunks
// that contradict the tensor. Chunks that cannot be read are left out, and a tensor without any
// is named. A chunk that spans stacked axes stands for many records, which may have no bytes of
// their own: all of them together may be as many as the bytes of the data files account for, and
// the tensor with which they get more is an Error that says so. Arrays of zarr are neither
// flattened nor buckets here, and their pieces come from chunk files.

#include "formats/megatron/core/tensors.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/megatron/core/chunk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kOriginal = "nd_reformulated_orig_global_shape";

bool is_embedding(const DcpTensor& tensor) {
  return tensor.name.ends_with("word_embeddings.weight") &&
         megatron_key(tensor.name).suffix.empty() && !tensor.size.empty();
}

void hold_size(const DcpTensor& tensor) {
  if (tensor.dtype) static_cast<void>(byte_size(*tensor.dtype, checked_product(tensor.size)));
}

std::vector<Record> records(const MegatronKey& key, const DcpTensor& tensor, std::size_t chunk,
                            const Piece& piece, const Shape* orig, std::int64_t vocabulary) {
  auto all = megatron_records(key, tensor, tensor.chunks[chunk], orig, vocabulary);
  for (Record& record : all) {
    const std::uint64_t offset = checked_add(piece.offset, record.piece.offset);
    record.piece = piece;
    record.piece.offset = offset;
    record.kind = kind_of_name(record.identity.name);
    record.dtype = *tensor.dtype;
  }
  return all;
}

std::vector<Record> records(const MegatronKey& key, const MegatronZarrTensor& tensor,
                            std::size_t chunk, std::int64_t vocabulary) {
  const DcpTensor& table = tensor.tensor;
  auto all = megatron_records(key, table, table.chunks[chunk], nullptr, vocabulary);
  for (std::size_t i = 0; i < all.size(); ++i) {
    place_in_zarr(tensor, chunk, key.stacked, static_cast<std::int64_t>(i), all[i]);
    all[i].kind = kind_of_name(all[i].identity.name);
    all[i].dtype = *table.dtype;
  }
  return all;
}

std::uint64_t bytes_of(const MegatronZarr& zarr) {
  std::uint64_t bytes = 0;
  for (const MegatronZarrTensor& tensor : zarr.tensors) {
    for (const ZarrChunk& chunk : tensor.array.chunks) {
      bytes = checked_add(bytes, chunk.piece.source->size());
    }
  }
  return bytes;
}

}  // namespace

/// `make` gives the records of a chunk, cut to so many words.
template <typename Make>
void MegatronTensors::add_chunk(const MegatronKey& key, std::int64_t count, const Make& make,
                                State& state) {
  const bool twice = key.suffix.empty() && buffers_;
  const std::size_t each = sizeof(Record) + key.name.size() + key.suffix.size();
  const auto cost = checked_mul(count, static_cast<std::int64_t>(twice ? 2 * each : each));
  WalkBudget left = *budget_;  // what is too much takes nothing from the tensors behind it
  if (!left.keep(static_cast<std::size_t>(cost))) {
    throw Error::unable(
        "limit reached: chunks span more layers and experts than the files account for");
  }
  budget_ = left;
  for (Record& record : make(args_.vocab)) state.records.push_back(std::move(record));
  if (!twice) return;
  for (Record& record : make(0)) weights_[record.identity.name].push_back(std::move(record));
}

void MegatronTensors::add(DcpData& data, State& state) {
  const DcpMetadata& metadata = data.metadata();
  state.findings.insert(state.findings.end(), metadata.findings.begin(), metadata.findings.end());
  state.unreadable += metadata.unreadable;
  for (const DcpExtra& extra : metadata.extras) {
    for (const auto& [field, shape] : extra.shapes) {
      if (field == kOriginal) original_.emplace(extra.name, &shape);
    }
  }
  for (const DcpTensor& tensor : metadata.tensors) {
    buffers_ = buffers_ || bucket_key(tensor.name);
  }
  budget_.emplace(data.size());
  for (const DcpTensor& tensor : metadata.tensors) {
    std::size_t asked = 0;
    try {
      add(data, tensor, asked, state);
    } catch (const Error& error) {
      for (; asked < tensor.chunks.size(); ++asked) {  // the table names these bytes, too
        data.pass(tensor.chunks[asked].place, tensor.name);
      }
      state.findings.push_back(unreadable(error.at(metadata.where), tensor.name));
      ++state.unreadable;
    }
  }
  check_.finish(metadata.where, state.findings);
  add_buckets(std::move(buckets_), groups_, args_, metadata.where, state);
  data.report(state);
}

/// A bucket of the optimizer's buffers, whose chunks are ranges of it.
void MegatronTensors::add_bucket(BucketKey key, DcpData& data, const DcpTensor& tensor,
                                 std::size_t& asked, State& state) {
  if (tensor.size.size() != 1 || !tensor.dtype) {
    throw Error(fmt::format("the bucket {} is no row of numbers", tensor.name));
  }
  Bucket bucket{std::move(key), *tensor.dtype, tensor.size[0], {}};
  while (asked < tensor.chunks.size()) {
    const std::size_t c = asked++;
    const DcpChunk& chunk = tensor.chunks[c];
    if (std::optional<Piece> piece = data.piece(tensor, c)) {
      bucket.chunks.push_back({chunk.offsets[0], chunk.sizes[0], std::move(*piece)});
    }
  }
  if (bucket.chunks.empty()) data.lose(tensor, state);
  buckets_.push_back(std::move(bucket));
}

void MegatronTensors::add(DcpData& data, const DcpTensor& tensor, std::size_t& asked,
                          State& state) {
  hold_size(tensor);
  const MegatronKey key = megatron_key(tensor.name);
  if (!key.placed) {
    std::optional<BucketKey> bucket = bucket_key(tensor.name);
    if (bucket) return add_bucket(std::move(*bucket), data, tensor, asked, state);
    throw Error(
        fmt::format("{} is no bucket of the optimizer's buffers that is known", tensor.name));
  }
  const auto original = original_.find(tensor.name);
  const Shape* orig = original == original_.end() ? nullptr : original->second;
  check_.add(key, whole_shape(key, orig == nullptr ? tensor.size : *orig), data.metadata().where,
             state.findings);
  bool any = false;
  while (asked < tensor.chunks.size()) {
    const std::size_t c = asked++;
    const std::optional<Piece> piece = data.piece(tensor, c);
    if (!piece) continue;
    any = true;
    const auto make = [&](std::int64_t vocabulary) {
      return records(key, tensor, c, *piece, orig, vocabulary);
    };
    const bool flat = orig != nullptr;
    add_chunk(key, flat ? 1 : megatron_record_count(key, tensor.chunks[c]), make, state);
  }
  if (!any) data.lose(tensor, state);
}

void MegatronTensors::add(const MegatronZarr& zarr, State& state) {
  budget_.emplace(bytes_of(zarr));
  for (const MegatronZarrTensor& tensor : zarr.tensors) {
    try {
      add(tensor, state);
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at(tensor.array.where), tensor.tensor.name));
      ++state.unreadable;
    }
  }
  if (!zarr.tensors.empty()) check_.finish(zarr.tensors.front().array.where, state.findings);
}

void MegatronTensors::add(const MegatronZarrTensor& tensor, State& state) {
  hold_size(tensor.tensor);
  const MegatronKey key = megatron_key(tensor.tensor.name);
  check_.add(key, whole_shape(key, tensor.tensor.size), tensor.array.where, state.findings);
  for (std::size_t c = 0; c < tensor.tensor.chunks.size(); ++c) {
    const auto make = [&](std::int64_t vocabulary) { return records(key, tensor, c, vocabulary); };
    add_chunk(key, megatron_record_count(key, tensor.tensor.chunks[c]), make, state);
  }
}

std::int64_t vocabulary_rows(const DcpMetadata& metadata) {
  for (const DcpTensor& tensor : metadata.tensors) {
    if (is_embedding(tensor)) return tensor.size.front();
  }
  return 0;
}

std::int64_t vocabulary_rows(const MegatronZarr& zarr) {
  for (const MegatronZarrTensor& tensor : zarr.tensors) {
    if (is_embedding(tensor.tensor)) return tensor.tensor.size.front();
  }
  return 0;
}

}  // namespace ttcheck::formats
