// SPDX-License-Identifier: Apache-2.0
// An entry of dump.json or debug.json gives dtype, shape and statistics or a checksum of a
// tensor, a file in dump_tensor_data its bytes, and either may lack the other. The JSON files are
// read first, and each entry takes the file that it names. Files that nothing names follow,
// sorted with the numbers in their names taken as numbers. An entry whose file is not there stays
// a record of its statistics alone; a file of another dtype or shape than its entry says is taken
// as it is, and a finding says so.
// Files are opened in parallel. Records are made in order once all that the rank has is known,
// since a record names others of its call as its inputs. A damaged construct.json costs only the
// modules that ran the ops. JSON of more than 2 GiB is not read. A JSON file that cannot be read
// is a finding where the other one or tensor files are there, and else ends the rank.

#include "formats/dumps/msprobe/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "formats/arrays/npy_array.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dumps/msprobe/calls.hpp"
#include "formats/dumps/msprobe/dump.hpp"
#include "formats/torch/dumped_record.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kDumpFile = "dump.json", kDebugFile = "debug.json",
                           kStackFile = "stack.json", kConstructFile = "construct.json",
                           kErrorsFile = "dump_error_info.log", kTensorFolder = "dump_tensor_data";
constexpr std::uint64_t kDumpLimit = std::uint64_t{2} << 30;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_array(std::string_view name) { return name.ends_with(".npy"); }

/// `layers.2` before `layers.10`.
bool by_number(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto take = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
    return number;
  };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view x = take(a), y = take(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

class RankOfDump {
 public:
  RankOfDump(const Root& root, const std::string& folder, std::int32_t rank, bool undeclared,
             OpenedFiles& opened, State& state)
      : root_(root),
        prefix_(folder.empty() ? "" : folder + "/"),
        rank_(rank),
        undeclared_(undeclared),
        opened_(opened),
        state_(state) {}

  void read(RankFacts& facts) {
    list();
    if (has_.contains(kConstructFile)) read_parents();
    std::vector<Error> failed;
    for (const std::string_view name : {kDumpFile, kDebugFile}) {
      if (!has_.contains(name)) continue;
      try {
        read_dump(name, facts);
      } catch (const Error& error) {
        failed.push_back(error.at(here(name)));
      }
    }
    if (dumps_.empty() && files_.empty()) {
      throw failed.empty() ? Error("no dump.json and no tensor files", here("")) : failed.front();
    }
    for (const Error& error : failed) state_.findings.push_back(unreadable(error));
    if (dumps_.empty() && failed.empty()) {
      state_.findings.push_back(
          odd(here(""),
              "no dump.json: the dump was not finished; tensor files are read by their names"));
    }
    read_others();
    open_files();
    tell_calls();
    add_records();
  }

 private:
  /// What becomes a record.
  struct Item {
    std::string name;  ///< `<op>/<slot>`
    MsprobeOp op;
    std::string key, slot;
    const MsprobeTensor* known = nullptr;  ///< what a JSON file says of it
    const Source* json = nullptr;
    std::string path;  ///< of the tensor file; empty: none
    std::shared_ptr<TraceRecord> trace;
  };

  Where here(std::string_view name) const {
    return {root_.given() + "/" + prefix_ + std::string(name), {}, {}};
  }

  void list() {
    for (const Entry& entry : root_.list(prefix_, 1)) {
      const std::string_view name = file_name(entry.path);
      const bool directory = entry.kind == EntryKind::directory;
      if (name == kTensorFolder && directory) {
        for (const Entry& file : root_.list(entry.path)) {
          if (file.kind == EntryKind::file) files_.emplace(file_name(file.path), file);
        }
      } else if (directory) {
        for (const Entry& below : root_.list(entry.path, 4)) count_unclaimed(below);
      } else if (name == kDumpFile || name == kDebugFile || name == kConstructFile ||
                 name == kStackFile) {
        has_.insert(std::string(name));
      } else if (name == kErrorsFile) {
        state_.findings.push_back(odd(here(name), "the dumper met errors, which it lists here"));
      } else {
        count_unclaimed(entry);
      }
    }
  }

  void count_unclaimed(const Entry& entry) {
    if (entry.kind != EntryKind::file) return;
    state_.bytes_unclaimed = checked_add(state_.bytes_unclaimed, entry.size);
  }

  void read_parents() {
    try {
      parents_ = parse_msprobe_construct(text(kConstructFile), here(kConstructFile).file);
    } catch (const Error& error) {
      state_.findings.push_back(
          odd(error.at(here(kConstructFile)).where(),
              fmt::format("which module ran which op is not known: {}", error.message())));
    }
  }

  std::string text(std::string_view name) const {
    return root_.text(prefix_ + std::string(name), kDumpLimit);
  }

  void read_dump(std::string_view name, RankFacts& facts) {
    const Source& source = root_.file(prefix_ + std::string(name));
    MsprobeDump& dump = dumps_.emplace_back(parse_msprobe_dump(text(name), source.where(0).file));
    if (first_.empty()) first_ = name;
    for (Finding& finding : dump.findings) state_.findings.push_back(std::move(finding));
    state_.unreadable += dump.unreadable;
    state_.least_ranks = std::max(state_.least_ranks, dump.least_ranks);
    facts.take(dump.facts, rank_, state_.facts);
    for (const MsprobeTensor& tensor : dump.tensors) {
      const MsprobeCall& call = dump.ops[tensor.op];
      Item& item = items_.emplace_back(item_of(call.key, call.op, tensor.slot));
      item.known = &tensor;
      item.json = &source;
      item.trace->stats = tensor.stats;
      item.trace->hash = tensor.hash;
      if (!tensor.file.empty()) find_file(item);
    }
  }

  Item item_of(std::string key, MsprobeOp op, std::string slot) const {
    Item item;
    item.name = slot.empty() ? key : key + "/" + slot;
    item.trace = std::make_shared<TraceRecord>();
    item.trace->counted.base = op.base;
    const bool module = key.starts_with("Module.") || key.starts_with("Cell.");
    if (const auto parent = parents_.find(key); parent != parents_.end() && !module) {
      item.trace->counted.within = parent->second;
    }
    item.op = std::move(op);
    item.key = std::move(key);
    item.slot = std::move(slot);
    return item;
  }

  /// The file that the item names, or a finding that it is not there.
  void find_file(Item& item) {
    const auto file = files_.find(item.known->file);
    if (file != files_.end()) {
      item.path = file->second.path;
      named_.insert(file->first);
      return;
    }
    Where where = item.json->where(item.known->offset);
    where.object = kTensorFolder;
    Finding finding =
        found(Code::unreadable,
              fmt::format("tensor file {} is not there; its statistics alone are compared",
                          item.known->file),
              std::move(where), item.name);
    finding.incomplete = true;
    missing_.add(std::move(finding));
  }

  /// Tensor files that nothing names.
  void read_others() {
    for (Finding& finding : missing_.take()) state_.findings.push_back(std::move(finding));
    std::vector<const Entry*> others;
    for (const auto& [name, entry] : files_) {
      if (!named_.contains(name)) others.push_back(&entry);
    }
    std::ranges::sort(others, [](const Entry* a, const Entry* b) {
      return by_number(file_name(a->path), file_name(b->path));
    });
    for (const Entry* entry : others) {
      const auto parts = parse_msprobe_file(file_name(entry->path));
      const auto op = parts ? parse_msprobe_op(parts->first) : std::nullopt;
      if (!op) {
        state_.findings.push_back(odd({root_.given() + "/" + entry->path, {}, {}},
                                      "no name of a dumped tensor: not read"));
        count_unclaimed(*entry);
        continue;
      }
      items_.push_back(item_of(parts->first, *op, parts->second));
      items_.back().path = entry->path;
      ++by_name_;
    }
    if (by_name_ > 0 && !dumps_.empty()) {
      state_.findings.push_back(
          odd(here(first_), fmt::format("tensor files that it does not name are read by their own "
                                        "names; there are {}",
                                        by_name_)));
    }
  }

  void open_files() {
    loaded_.resize(items_.size());
    failed_.resize(items_.size());
    parallel_for(items_.size(), [&](std::size_t i) {
      if (items_[i].path.empty() || is_array(items_[i].path)) return;
      try {
        loaded_[i] = std::make_unique<TorchFile>(read_torch(root_.file(items_[i].path)));
      } catch (const Error& error) {
        failed_[i] = error.at({root_.given() + "/" + items_[i].path, {}, {}});
      }
    });
  }

  /// What each is of its op's call.
  void tell_calls() {
    MsprobeCalls calls;
    for (const MsprobeDump& dump : dumps_) {
      for (const MsprobeCall& call : dump.ops) calls.add(call.key, call.arguments);
    }
    const auto view = [](const Item& item) {
      const bool known = item.known != nullptr;
      return MsprobeItem{item.key,
                         &item.op,
                         item.slot,
                         item.name,
                         known ? &item.known->shape : nullptr,
                         !known || !is_exact(item.known->dtype)};
    };
    for (const Item& item : items_) calls.add(view(item));
    for (const Item& item : items_) calls.tell(view(item), *item.trace);
  }

  void add_records() {
    std::map<std::string, std::vector<std::string>, std::less<>> inputs;  // by op
    for (const Item& item : items_) {
      const Kind kind = msprobe_meaning(item.op, item.slot).second;
      const bool backward = item.op.backward;
      if (kind == (backward ? Kind::grad_output : Kind::input))
        inputs[item.key].push_back(item.name);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Item& item = items_[i];
      item.trace->seq = static_cast<std::int64_t>(i);
      const auto [phase, kind] = msprobe_meaning(item.op, item.slot);
      if (kind == Kind::output || kind == Kind::grad_input) {
        if (const auto known = inputs.find(item.key); known != inputs.end()) {
          item.trace->inputs = known->second;
        }
      }
      try {
        if (failed_[i]) throw Error(*failed_[i]);
        Record record = item.path.empty() ? unstored(item) : stored(i);
        record.identity.phase = phase;
        record.kind = kind;
        record.undeclared = undeclared_;
        record.trace = std::move(item.trace);
        state_.records.push_back(std::move(record));
      } catch (const Error& error) {
        state_.findings.push_back(unreadable(error, item.name));
        ++state_.unreadable;
      }
      if (loaded_[i]) opened_.push_back(std::move(loaded_[i]));
    }
  }

  Record unstored(const Item& item) const {
    Record record;
    record.identity.name = item.name;
    record.dtype = item.known->dtype;
    record.shape = item.known->shape;
    record.stored = false;
    record.piece.source = item.json;  // where its statistics stand
    record.piece.offset = item.known->offset;
    record.piece.dtype = item.known->dtype;
    record.piece.rank = rank_;
    return record;
  }

  Record stored(std::size_t i) {
    const Item& item = items_[i];
    Record record = is_array(item.path) ? array(item) : tensor(item, *loaded_[i]);
    if (item.known != nullptr &&
        (item.known->dtype != record.dtype || item.known->shape != record.shape)) {
      state_.findings.push_back(
          odd(record.piece.where(),
              fmt::format("is {} of {} elements, {} says {} of {}", name(record.dtype),
                          element_count(record.shape), file_name(item.json->where(0).file),
                          name(item.known->dtype), element_count(item.known->shape)),
              Code::shape_or_dtype));
      state_.findings.back().tensor = item.name;
    }
    return record;
  }

  Record tensor(const Item& item, const TorchFile& file) {
    for (const Finding& finding : file.findings()) state_.findings.push_back(finding);
    state_.bytes_unclaimed = checked_add(state_.bytes_unclaimed, file.unclaimed());
    if (!TorchFile::is_tensor(file.root())) throw Error("holds no tensor", file.root().where());
    return dumped_record(file, file.root(), item.name, {rank_, 0}, {});
  }

  Record array(const Item& item) {
    State alone;
    read_npy(root_.file(item.path), item.name, alone);
    for (Finding& finding : alone.findings) state_.findings.push_back(std::move(finding));
    std::ranges::move(alone.facts, std::back_inserter(state_.facts));  // what its bytes stand for
    state_.bytes_unclaimed = checked_add(state_.bytes_unclaimed, alone.bytes_unclaimed);
    state_.unreadable += alone.unreadable;
    if (alone.records.empty()) throw Error("holds no numbers", here(item.path));
    alone.records.front().piece.rank = rank_;
    return std::move(alone.records.front());
  }

  const Root& root_;
  std::string prefix_;
  std::int32_t rank_;
  bool undeclared_;
  OpenedFiles& opened_;
  State& state_;
  std::set<std::string, std::less<>> has_;
  std::map<std::string, Entry, std::less<>> files_;  ///< by name
  std::set<std::string, std::less<>> named_;         ///< by a JSON file
  std::map<std::string, std::string> parents_;
  std::deque<MsprobeDump> dumps_;
  std::string_view first_;  ///< the JSON file that was read first; empty: none
  std::vector<Item> items_;
  std::int64_t by_name_ = 0;
  Findings missing_;
  std::vector<std::unique_ptr<TorchFile>> loaded_;  ///< by item
  std::vector<std::optional<Error>> failed_;
};

}  // namespace

void add_msprobe_rank(const Root& root, const std::string& folder, std::int32_t rank,
                      bool undeclared, OpenedFiles& opened, RankFacts& facts, State& state) {
  RankOfDump(root, folder, rank, undeclared, opened, state).read(facts);
}

}  // namespace ttcheck::formats
