// SPDX-License-Identifier: Apache-2.0
// The legacy container: five pickles (magic number, protocol, system, object, storage keys), then
// for each key a count and the storage's bytes. A storage's size is known only once the object has
// said what its elements are, so the places of the later ones are sums.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/judge.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kJudgedStreams = 100;
constexpr std::uint64_t kResync = 256;         ///< bytes searched for the next pickle
constexpr std::uint64_t kResyncPickle = 4096;  ///< it has at most so many

bool is_magic(const Pickle& pickle) {
  return pickle.root().is(NodeKind::big_integer) && pickle.root().text() == kLegacyMagic;
}

/// Reads the next pickle and its findings. Throws when nothing can follow it.
const Pickle& next_pickle(Stream& in, std::string_view what, TorchContents& contents) {
  contents.pickles.push_back(read_pickle(in));
  judge_pickle(contents.pickles.back(), what, contents.findings);
  return contents.pickles.back();
}

NameMap<StorageClass> classes_by_key(const Pickle& pickle) {
  NameMap<StorageClass> classes;
  for (NodeId id = 0; id < pickle.node_count(); ++id) {
    if (const auto storage = storage_id(pickle.at(id))) {
      classes.try_emplace(std::string(storage->root_key), storage->kind);
    }
  }
  return classes;
}

std::uint64_t read_count(Stream& in, ByteOrder order) {
  return order == ByteOrder::big ? in.u64_big("storage size") : in.u64("storage size");
}

/// Places the storages. Stops at the first that cannot be: nothing behind it has a known place.
void place_storages(Stream& in, Value keys, TorchContents& contents) {
  const auto classes = classes_by_key(contents.pickles[contents.object]);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = keys[i].text();
    if (!key) throw Error(fmt::format("storage key {} is no text", i), keys[i].where());
    const auto known = classes.find(std::string(*key));
    if (known == classes.end()) {
      throw Error(fmt::format("no tensor says what storage {} holds, so its size is unknown", *key),
                  in.source().where(in.offset()));
    }
    TorchStorage storage;
    storage.source = &in.source();
    storage.where = in.source().where(in.offset());
    storage.where.object = fmt::format("storage {}", *key);
    const std::uint64_t count = read_count(in, contents.order);
    storage.offset = in.offset();
    const std::uint64_t bytes = checked_mul(count, known->second.bytes);
    storage.size = std::min(bytes, in.remaining());
    in.skip(storage.size, "storage");
    const auto [place, fresh] = contents.storages.insert_or_assign(std::string(*key), storage);
    if (!fresh)
      contents.findings.push_back(odd(place->second.where, "storage key is listed twice"));
    if (storage.size != bytes) {
      throw Error(
          fmt::format("truncated: storage {} needs {} bytes, {} left", *key, bytes, storage.size),
          storage.where);
    }
  }
  if (!in.done()) {
    contents.unclaimed += in.remaining();
    contents.findings.push_back(
        odd(in.source().where(in.offset()),
            fmt::format("{} bytes follow the last storage", in.remaining())));
  }
}

void read_system(const Pickle& pickle, TorchContents& contents) {
  for (const Oddity& oddity : pickle.oddities()) {
    contents.findings.push_back(
        damaged(pickle.source().where(oddity.offset), "the system pickle: " + oddity.message));
  }
  const auto little = pickle.root().find("little_endian").boolean();
  if (little && !*little) contents.order = ByteOrder::big;
  if (!little) {
    contents.findings.push_back(
        odd(pickle.root().where(), "system pickle does not say the byte order; taken as little"));
  }
}

/// The place behind `from`, at most kResync bytes on, at which a whole pickle of some use starts.
std::optional<std::uint64_t> next_start(const Source& file, std::uint64_t from) {
  const std::uint64_t last = std::min(file.size(), checked_add(from, kResync));
  for (std::uint64_t at = from + 1; at < last; ++at) {
    Stream in(file, at, std::min(file.size(), checked_add(at, kResyncPickle)));
    const Pickle pickle = read_pickle(in);
    if (!pickle.fault() && pickle.node_count() > 0) return at;
  }
  return std::nullopt;
}

/// Counts what follows a pickle; nothing in it is part of the object. Bytes between two pickles
/// that are none are stepped over.
void read_further_streams(Stream& first, TorchContents& contents) {
  const Source& file = first.source();
  const std::uint64_t start = first.offset();
  std::size_t streams = 0;
  for (std::uint64_t at = start; at < file.size();) {
    Stream in(file, at);
    const Pickle next = read_pickle(in);
    const auto resumed = next.fault() ? next_start(file, at) : std::nullopt;
    if (!resumed && streams < kJudgedStreams) {
      judge_pickle(next, "further pickle", contents.findings);
    }
    if (!next.fault()) {
      ++streams;
      at = in.offset();
      continue;
    }
    const std::uint64_t until = resumed.value_or(file.size());
    contents.unclaimed += until - at;
    contents.findings.push_back(
        odd(file.where(at), fmt::format("{} bytes {} the pickle", until - at,
                                        resumed ? "that are none follow" : "follow")));
    at = until;
  }
  if (streams == 0) return;
  contents.findings.push_back(
      damaged(file.where(start),
              fmt::format("{} more pickles follow; only the first one is read", streams)));
}

}  // namespace

void read_torch_legacy(const Source& file, TorchContents& contents) {
  contents.container = TorchContainer::legacy;
  Stream in(file);
  if (!is_magic(next_pickle(in, "magic number", contents))) {
    throw Error("is no legacy torch file: the magic number is another", file.where(0));
  }
  const Pickle& protocol = next_pickle(in, "protocol", contents);
  if (protocol.root().integer() != kLegacyProtocol) {
    throw Error("legacy torch file of an unknown protocol", file.where(protocol.begin()));
  }
  read_system(next_pickle(in, "system", contents), contents);
  contents.object = contents.pickles.size();
  if (next_pickle(in, "object", contents).fault()) return;
  const Pickle& keys = next_pickle(in, "storage keys", contents);
  if (keys.fault()) return;
  if (!keys.root().is(NodeKind::list)) {
    contents.findings.push_back(damaged(file.where(keys.begin()), "storage keys are no list"));
    return;
  }
  try {
    place_storages(in, keys.root(), contents);
  } catch (const Error& error) {
    contents.findings.push_back(unreadable(error.at(file.where(in.offset()))));
  }
  check_storages(contents);
}

void read_bare_pickle(const Source& file, TorchContents& contents) {
  contents.container = TorchContainer::pickle;
  Stream in(file);
  contents.pickles.push_back(read_pickle(in));
  judge_pickle(contents.pickles.back(), "pickle", contents.findings);
  const Pickle& pickle = contents.pickles.back();
  if (pickle.fault() && !pickle.root()) throw Error(*pickle.fault());
  if (pickle.fault()) return;
  read_further_streams(in, contents);
}

}  // namespace ttcheck::formats
