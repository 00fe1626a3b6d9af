// The legacy container: five pickles (magic number, protocol, system, object, storage keys), then
// for each key a count and the storage's bytes. A storage's size is known only once the object has
// said what its elements are, so the places of the later ones are sums.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "formats/bytes/finding.hpp"
#include "formats/bytes/pickle_judge.hpp"
#include "formats/torch_storage.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kJudgedStreams = 100;

bool is_magic(const Pickle& pickle) {
  return pickle.root().is(NodeKind::big_integer) && pickle.root().text() == kLegacyMagic;
}

/// Reads the next pickle and its findings. Throws when nothing can follow it.
const Pickle& next_pickle(Stream& in, std::string_view what, TorchFile::State& state) {
  state.pickles.push_back(read_pickle(in));
  judge_pickle(state.pickles.back(), what, state.findings);
  return state.pickles.back();
}

std::unordered_map<std::string, StorageClass> classes_by_key(const Pickle& pickle) {
  std::unordered_map<std::string, StorageClass> classes;
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
void place_storages(Stream& in, Value keys, TorchFile::State& state) {
  const auto classes = classes_by_key(state.pickles[state.object]);
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
    const std::uint64_t count = read_count(in, state.order);
    storage.offset = in.offset();
    const std::uint64_t bytes = checked_mul(count, known->second.bytes);
    storage.size = std::min(bytes, in.remaining());
    in.skip(storage.size, "storage");
    const auto [place, fresh] = state.storages.insert_or_assign(std::string(*key), storage);
    if (!fresh) state.findings.push_back(odd(place->second.where, "storage key is listed twice"));
    if (storage.size != bytes) {
      throw Error(
          fmt::format("truncated: storage {} needs {} bytes, {} left", *key, bytes, storage.size),
          storage.where);
    }
  }
  if (!in.done()) {
    state.unclaimed += in.remaining();
    state.findings.push_back(odd(in.source().where(in.offset()),
                                 fmt::format("{} bytes follow the last storage", in.remaining())));
  }
}

void read_system(const Pickle& pickle, TorchFile::State& state) {
  const auto little = pickle.root().find("little_endian").boolean();
  if (little && !*little) state.order = ByteOrder::big;
  if (!little) {
    state.findings.push_back(
        odd(pickle.root().where(), "system pickle does not say the byte order; taken as little"));
  }
}

/// Counts what follows a pickle; nothing in it is part of the object.
void read_further_streams(Stream& in, TorchFile::State& state) {
  const std::uint64_t start = in.offset();
  std::size_t streams = 0;
  while (!in.done()) {
    const std::uint64_t from = in.offset();
    const std::uint64_t left = in.remaining();
    const Pickle next = read_pickle(in);
    if (streams < kJudgedStreams) judge_pickle(next, "further pickle", state.findings);
    if (next.fault()) {
      state.unclaimed += left;
      state.findings.push_back(
          odd(in.source().where(from), fmt::format("{} bytes follow the pickle", left)));
      break;
    }
    ++streams;
  }
  if (streams == 0) return;
  state.findings.push_back(
      damaged(in.source().where(start),
              fmt::format("{} more pickles follow; only the first one is read", streams)));
}

}  // namespace

void read_torch_legacy(const Source& file, TorchFile::State& state) {
  state.container = TorchContainer::legacy;
  Stream in(file);
  if (!is_magic(next_pickle(in, "magic number", state))) {
    throw Error("is no legacy torch file: the magic number is another", file.where(0));
  }
  const Pickle& protocol = next_pickle(in, "protocol", state);
  if (protocol.root().integer() != kLegacyProtocol) {
    throw Error("legacy torch file of an unknown protocol", file.where(protocol.begin()));
  }
  read_system(next_pickle(in, "system", state), state);
  state.object = state.pickles.size();
  if (next_pickle(in, "object", state).fault()) return;
  const Pickle& keys = next_pickle(in, "storage keys", state);
  if (keys.fault()) return;
  if (!keys.root().is(NodeKind::list)) {
    state.findings.push_back(damaged(file.where(keys.begin()), "storage keys are no list"));
    return;
  }
  try {
    place_storages(in, keys.root(), state);
  } catch (const Error& error) {
    state.findings.push_back(damaged(error.at(file.where(in.offset()))));
  }
  check_storages(state);
}

void read_bare_pickle(const Source& file, TorchFile::State& state) {
  state.container = TorchContainer::pickle;
  Stream in(file);
  state.pickles.push_back(read_pickle(in));
  judge_pickle(state.pickles.back(), "pickle", state.findings);
  const Pickle& pickle = state.pickles.back();
  if (pickle.fault() && !pickle.root()) throw Error(*pickle.fault());
  if (pickle.fault()) return;
  read_further_streams(in, state);
}

}  // namespace ttcheck::formats
