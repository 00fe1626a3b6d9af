// SPDX-License-Identifier: Apache-2.0
// The pickle has two halves that meet by name: `state_dict_metadata` says what was saved and in
// which chunks, `storage_data` where each chunk lies. A large pickle is worth two threads, one
// for the first half and one for the rest; then each place is put to its chunk, by name and
// offset, which is what a MetadataIndex is compared by. An index over names and one over chunks
// make that a look-up each, however many chunks a tensor has.
//
// An entry that is not understood is a finding and left out, and the others count. A place whose
// chunk the table does not list is a finding too; a chunk without a place stays in the table.
// Values of a pickle may be shared, so that a short one can stand for a huge table: what is kept
// of names, chunks and places is charged to a budget that grows with the pickle's bytes, and
// where that is spent its half ends, with a finding.

#include "formats/dcp/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/checked.hpp"
#include "core/base/index_table.hpp"
#include "core/base/name_map.hpp"
#include "core/base/parallel.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/dcp/chunk_index.hpp"
#include "formats/dcp/table_values.hpp"
#include "formats/objects/judge.hpp"
#include "formats/torch/attribute.hpp"
#include "formats/torch/budget.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kManyValues = 1 << 18;  ///< of a pickle: worth a second thread
class Reader {
 public:
  explicit Reader(const Pickle& pickle) : budget_(pickle) { out_.transforms.emplace_back(); }

  /// The table itself.
  void read(Value root) {
    const Value table = attribute(root, "state_dict_metadata");
    if (!table.is(NodeKind::dict)) {
      throw Error("is no table of a distributed checkpoint: it has no state_dict_metadata",
                  root.where());
    }
    out_.where = root.where();
    read_table(table);
    chunks_ = ChunkIndex(out_.tensors);
    out_.version = std::string(attribute(root, "version").text().value_or(""));
  }

  /// What the pickle says beside it: of which tensors it speaks need not be known yet, so that
  /// another reader may do this at the same time.
  void read_beside(Value root) {
    read_paths(attribute(root, "planner_data"));
    read_extras(attribute(root, "mcore_data"));
    read_places(attribute(root, "storage_data"), root.where());
  }

  /// Both together; `beside` has read the same pickle.
  DcpMetadata joined(Reader&& beside) {
    for (const Placed& placed : beside.places_) put(placed);
    out_.files = std::move(beside.out_.files);
    out_.transforms = std::move(beside.out_.transforms);
    out_.paths = std::move(beside.out_.paths);
    out_.extras = std::move(beside.out_.extras);
    out_.unreadable = checked_add(out_.unreadable, beside.out_.unreadable);
    out_.findings = findings_.take();
    std::ranges::move(beside.findings_.take(), std::back_inserter(out_.findings));
    return std::move(out_);
  }

 private:
  /// An entry of the table, by its name, which lies in the pickle.
  struct Entry {
    std::string_view name;
    bool tensor = false;
    std::size_t index = 0;
  };
  /// What storage_data says of one chunk.
  struct Placed {
    Value key, offset;
    std::string_view name;
    DcpPlace place;
  };

  static std::size_t hash_of(std::string_view name) { return NameHash{}(name); }

  auto named(std::string_view name) const {
    return [this, name](std::uint32_t entry) { return entries_[entry].name == name; };
  }

  Entry& entry_of(std::string_view name, bool& fresh) {
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const auto known = names_.find_or_add(hash_of(name), next, named(name));
    fresh = !known;
    return fresh ? entries_.emplace_back(Entry{name}) : entries_[*known];
  }

  bool keep(std::size_t bytes, Value value) {
    if (budget_.keep(bytes)) return true;
    if (!cut_) {
      ++out_.unreadable;
      findings_.add(beyond(value.where(),
                           "limit reached: values of the table are shared so often that not all "
                           "of them were read"));
    }
    cut_ = true;
    return false;
  }

  void refuse(Value value, std::string_view name, std::string message) {
    Finding finding = damaged(value.where(), std::move(message));
    finding.tensor = name;
    findings_.add(std::move(finding));
    ++out_.unreadable;
  }

  void read_table(Value table) {
    out_.tensors.reserve(table.size());
    entries_.reserve(table.size());
    names_ = IndexTable(table.size());
    for (std::size_t i = 0; i < table.size() && !cut_; ++i) {
      const auto name = table.key(i).text();
      const Value value = table.value(i);
      if (!name) {
        refuse(table.key(i), "", "a key of the table is no text");
        continue;
      }
      if (!keep(name->size(), value)) return;
      if (is_class(value, "TensorStorageMetadata")) {
        read_tensor(*name, value);
      } else if (is_class(value, "BytesStorageMetadata")) {
        bool fresh = false;
        entry_of(*name, fresh) = {*name, false, out_.items.size()};
        out_.items.push_back({std::string(*name), {}});
      } else {
        refuse(value, *name, fmt::format("{} is neither tensor nor bytes in the table", *name));
      }
    }
  }

  void read_tensor(std::string_view name, Value value) {
    DcpTensor tensor;
    tensor.name = name;
    const auto size = extents_of(attribute(value, "size"));
    const Value chunks = attribute(value, "chunks");
    read_dtype(attribute(value, "properties"), tensor);
    if (!size || !chunks.is(NodeKind::list)) {
      return refuse(value, name, fmt::format("{} has no size or no chunks in the table", name));
    }
    tensor.size = *size;
    tensor.chunks.reserve(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (!keep(sizeof(DcpChunk) + 2 * 8 * size->size(), chunks)) return;
      auto offsets = extents_of(attribute(chunks[i], "offsets"));
      auto sizes = extents_of(attribute(chunks[i], "sizes"));
      if (!offsets || !sizes || offsets->size() != size->size() || sizes->size() != size->size()) {
        refuse(chunks[i], name, fmt::format("chunk {} of {} has no place in it", i, name));
        continue;
      }
      tensor.chunks.push_back({std::move(*offsets), std::move(*sizes), {}});
    }
    bool fresh = false;
    Entry& entry = entry_of(name, fresh);
    if (fresh || !entry.tensor) {
      entry = {name, true, out_.tensors.size()};
      out_.tensors.push_back(std::move(tensor));
    } else {
      out_.tensors[entry.index] = std::move(tensor);  // said by judge_pickle
    }
  }

  /// TensorProperties: the state is a tuple that starts with the dtype; later a dict.
  static void read_dtype(Value properties, DcpTensor& tensor) {
    const Value state = properties.state();
    const Value named = attribute(properties, "dtype");
    const Value dtype = named ? named : state[0];
    tensor.dtype = torch_dtype(dtype);
    const Global* global = dtype.global();
    tensor.dtype_name = global == nullptr ? "unknown" : global->name;
  }

  void read_places(Value places, const Where& where) {
    if (!places.is(NodeKind::dict)) {
      findings_.add(damaged(where,
                            "the table does not say where anything lies: it has no "
                            "storage_data"));
      return;
    }
    for (std::size_t i = 0; i < places.size() && !cut_; ++i) {
      const Value key = places.key(i);
      const auto name = attribute(key, "fqn").text();
      if (!name) {
        refuse(key, "", "an entry of storage_data names no tensor");
        continue;
      }
      const auto place = place_of(places.value(i), *name);
      if (!place) continue;
      if (!keep(sizeof(Placed), key)) return;
      places_.push_back({key, attribute(key, "offset"), *name, *place});
    }
  }

  std::optional<DcpPlace> place_of(Value info, std::string_view name) {
    const auto path = attribute(info, "relative_path").text();
    const auto offset = attribute(info, "offset").integer();
    const auto length = attribute(info, "length").integer();
    if (!path || !offset || !length || *offset < 0 || *length < 0) {
      refuse(info, name,
             fmt::format("the place of {} is no file with an offset and a length", name));
      return std::nullopt;
    }
    DcpPlace place;
    place.offset = static_cast<std::uint64_t>(*offset);
    place.length = static_cast<std::uint64_t>(*length);
    const auto known = files_.find(*path);
    if (known != files_.end()) {
      place.file = known->second;
    } else {
      if (!keep(path->size(), info)) return std::nullopt;
      place.file = static_cast<std::uint32_t>(out_.files.size());
      files_.emplace(*path, place.file);
      out_.files.emplace_back(*path);
    }
    const auto transforms = transforms_of(attribute(info, "transform_descriptors"));
    if (!transforms) {
      refuse(info, name, fmt::format("the transforms of {} are no list of names", name));
      return std::nullopt;
    }
    place.transforms = *transforms;
    return place;
  }

  std::optional<std::uint32_t> transforms_of(Value list) {
    if (!list || list.is_none()) return 0;
    if (!list.is(NodeKind::list) && !list.is(NodeKind::tuple)) return std::nullopt;
    if (list.size() > kMaxTransforms) return std::nullopt;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto name = list[i].text();
      if (!name || name->size() > kLongestTransform) return std::nullopt;
      names.emplace_back(*name);
    }
    for (std::uint32_t i = 0; i < out_.transforms.size(); ++i) {
      if (out_.transforms[i] == names) return i;
    }
    if (out_.transforms.size() == kMaxTransforms) return std::nullopt;
    out_.transforms.push_back(std::move(names));
    return static_cast<std::uint32_t>(out_.transforms.size() - 1);
  }

  void put(const Placed& placed) {
    const auto known = names_.find(hash_of(placed.name), named(placed.name));
    if (!known) {
      findings_.add(
          odd(placed.key.where(), fmt::format("storage_data has a place for {}, which the table "
                                              "does not list",
                                              placed.name)));
      return;
    }
    const Entry& entry = entries_[*known];
    if (!entry.tensor) {
      out_.items[entry.index].place = placed.place;
      return;
    }
    DcpChunk* const chunk = read_extents(placed.offset, wanted_)
                                ? chunks_.find(out_.tensors, entry.index, wanted_)
                                : nullptr;
    if (chunk == nullptr) {
      findings_.add(
          odd(placed.key.where(),
              fmt::format("storage_data has a place for a chunk of {} that the table does not list",
                          placed.name)));
      return;
    }
    chunk->place = placed.place;
  }

  void read_paths(Value planner) {
    if (!planner.is(NodeKind::dict)) return;
    for (std::size_t i = 0; i < planner.size() && !cut_; ++i) {
      const auto name = planner.key(i).text();
      const Value parts = planner.value(i);
      if (!name || !parts.is(NodeKind::tuple) || !keep(name->size(), parts)) continue;
      DcpPath path{std::string(*name), {}};
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto number = parts[p].integer();
        std::string text =
            number ? fmt::format("{}", *number) : std::string(parts[p].text().value_or("?"));
        if (!keep(text.size(), parts)) return;
        path.parts.push_back(std::move(text));
      }
      out_.paths.push_back(std::move(path));
    }
  }

  void read_extras(Value extras) {
    if (!extras.is(NodeKind::dict)) return;
    for (std::size_t i = 0; i < extras.size() && !cut_; ++i) {
      const auto name = extras.key(i).text();
      const Value fields = extras.value(i);
      if (!name || !fields.is(NodeKind::dict) || !keep(name->size(), fields)) continue;
      DcpExtra extra{std::string(*name), {}};
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto field = fields.key(f).text();
        auto shape = extents_of(fields.value(f));
        if (!field || !shape || !keep(field->size() + 8 * shape->size(), fields)) continue;
        extra.shapes.emplace_back(*field, std::move(*shape));
      }
      out_.extras.push_back(std::move(extra));
    }
  }

  static constexpr std::size_t kMaxTransforms = 16;
  static constexpr std::size_t kLongestTransform = 256;

  WalkBudget budget_;
  bool cut_ = false;
  Extents wanted_;  ///< of the chunk that is looked for
  DcpMetadata out_;
  Findings findings_;
  std::vector<Entry> entries_;
  IndexTable names_;  ///< of entries
  std::vector<Placed> places_;
  NameViewMap<std::uint32_t> files_;
  ChunkIndex chunks_;
};

}  // namespace

DcpMetadata read_dcp_metadata(const Source& source) {
  Stream in(source);
  const Pickle pickle = read_pickle(in);
  const Value root = pickle.root();
  if (pickle.fault() && !attribute(root, "state_dict_metadata")) throw *pickle.fault();
  if (!root) throw Error("holds no pickle", source.where(0));
  Reader table(pickle);
  Reader beside(pickle);
  std::vector<Finding> findings;
  const auto judge = [&] {
    judge_pickle(pickle, "the table", findings);
    beside.read_beside(root);
  };
  if (pickle.node_count() < kManyValues) {
    table.read(root);
    judge();
  } else {
    parallel_for(2, [&](std::size_t i) { i == 0 ? table.read(root) : judge(); });
  }
  DcpMetadata metadata = table.joined(std::move(beside));
  if (!in.done()) {
    findings.push_back(
        odd(source.where(in.offset()), fmt::format("{} bytes follow the table", in.remaining())));
  }
  std::ranges::move(metadata.findings, std::back_inserter(findings));
  metadata.findings = std::move(findings);
  return metadata;
}

}  // namespace ttcheck::formats
