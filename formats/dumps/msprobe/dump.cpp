// SPDX-License-Identifier: Apache-2.0
// A text that does not parse, such as one that was never finished, is cut behind the last entry
// of `data` that ended before the damage (the third level of braces), closed again, and parsed
// once more. Where no entry ends before the place that the error names, as when a string was left
// open, the whole text is looked through. What stood behind the cut is lost, with a finding.
//
// An op's value is walked with a stack and not by recursion, in the order of the text, and the
// way to a value is its slot. An object with a type, a dtype and a shape is a tensor; one with a
// type alone is an argument, of which the text is kept; other objects and arrays are walked into.
// Statistics may be booleans or words for what is not finite. A tensor that cannot be described
// is counted, with a finding. Memory grows with the text, which is parsed as a whole.

#include "formats/dumps/msprobe/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/python_json.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

struct NonFiniteWord {
  std::string_view word;
  double value;
};
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<NonFiniteWord, 7> kNonFinite = {{{"nan", kNaN},
                                                      {"inf", kInf},
                                                      {"+inf", kInf},
                                                      {"-inf", -kInf},
                                                      {"infinity", kInf},
                                                      {"+infinity", kInf},
                                                      {"-infinity", -kInf}}};

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return made;
}

/// `torch.float32` of torch, `float32` of NumPy, `Float32` of MindSpore.
std::optional<DType> dtype_of(std::string_view word) {
  return torch_dtype_named(lower(word.substr(word.rfind('.') + 1)));
}

/// The text behind which the entry ends that was the last whole one before `fault`: the third level
/// of braces. 0: there is none.
std::size_t last_entry_end(std::string_view text, std::size_t fault) {
  std::size_t found = 0;
  std::int64_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < std::min(text.size(), fault); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{') ++depth;
    if (c == '}' && --depth == 2) found = at + 1;
  }
  return found;
}

/// The text as JSON; of a damaged one what stands before the damage, with the error.
std::pair<std::unique_ptr<PythonJson>, std::optional<Error>> parse_prefix(const std::string& text,
                                                                          const std::string& file) {
  try {
    return {std::make_unique<PythonJson>(text, file), std::nullopt};
  } catch (const Error& error) {
    const auto fault = error.where().offset.value_or(text.size());
    std::size_t end = last_entry_end(text, static_cast<std::size_t>(fault));
    if (end == 0) end = last_entry_end(text, text.size());  // of a string left open: no place
    if (end == 0) throw;
    return {std::make_unique<PythonJson>(text.substr(0, end) + "}}", file), error};
  }
}

constexpr double kMostRanks = 1 << 20;  ///< beyond it a number is no rank

class MsprobeReader {
 public:
  MsprobeReader(const std::string& text, const std::string& file) : file_(file) {
    auto [json, error] = parse_prefix(text, file);
    json_ = std::move(json);
    error_ = std::move(error);
  }

  MsprobeDump read() {
    const Json root = json_->root();
    const auto data = root.find("data");
    if (!data || !data->is(Json::Kind::object)) root.fail("no object `data`, which lists the ops");
    for (const auto& [key, entry] : data->members()) {
      if (!entry.is(Json::Kind::null)) take_op(std::string(key), entry);
    }
    if (error_) {
      findings_.add(
          damaged(error_->where(), fmt::format("{}; what stands before it is read, ops: {}",
                                               error_->message(), out_.ops.size())));
    }
    take_facts(root);
    out_.findings = findings_.take();
    return std::move(out_);
  }

 private:
  Where place(const Json& value, std::string object) const {
    return {file_, value.offset(), std::move(object)};
  }

  void take_facts(const Json& root) {
    for (const std::string_view name : {"task", "level", "framework", "dump_data_dir"}) {
      const auto value = root.find(name);
      if (!value || value->is(Json::Kind::null)) continue;
      out_.facts.push_back({std::string(name), json_->fact_of(*value), FactUse::note,
                            place(*value, std::string(name))});
    }
    if (!summary_.empty()) {
      out_.facts.push_back({"summary_mode", summary_, FactUse::note, place(root, "summary_mode")});
    }
  }

  void take_op(std::string key, const Json& entry) {
    const auto op = parse_msprobe_op(key);
    if (!op) {
      findings_.add(odd(place(entry, key), "no name of an op; its tensors are taken as outputs"));
    }
    out_.ops.push_back({std::move(key), op.value_or(MsprobeOp{{}, false, false, false}), {}});
    if (op && op->debug) return walk("", entry);
    if (!entry.is(Json::Kind::object)) {
      findings_.add(damaged(place(entry, out_.ops.back().key), "no object of inputs and outputs"));
      return;
    }
    for (const auto& [what, value] : entry.members()) {
      std::string slot(what);
      if (slot == "input_args") slot = "input";
      if (slot == "input_kwargs") slot = "kwargs";
      if (op && op->gradients && value.is(Json::Kind::array) && value.items().size() == 1) {
        walk(std::move(slot), *value.items().begin());  // a list of the one gradient
      } else {
        walk(std::move(slot), value);
      }
    }
  }

  /// All below `value`, in its order.
  void walk(std::string slot, const Json& value) {
    struct Pending {
      std::string slot;
      Json value;
    };
    std::vector<Pending> stack = {{std::move(slot), value}};
    while (!stack.empty()) {
      const Pending next = std::move(stack.back());
      stack.pop_back();
      std::vector<Pending> inner;
      const auto below = [&](std::string_view part) {
        return next.slot.empty() ? std::string(part) : fmt::format("{}.{}", next.slot, part);
      };
      if (next.value.is(Json::Kind::array)) {
        for (const Json& item : next.value.items()) {
          inner.push_back({below(std::to_string(inner.size())), item});
        }
      } else if (next.value.is(Json::Kind::object) && !take_leaf(next.slot, next.value)) {
        for (const auto& [key, item] : next.value.members()) {
          // P2POp keeps its tensor under the op's own name
          const bool own = key == "tensor" && next.value.find("class_type");
          inner.push_back({own ? next.slot : below(key), item});
        }
      }
      stack.insert(stack.end(), std::make_move_iterator(inner.rbegin()),
                   std::make_move_iterator(inner.rend()));
    }
  }

  /// False for what is no tensor and no single argument.
  bool take_leaf(const std::string& slot, const Json& value) {
    const auto type = value.find("type");
    if (!type || !type->is(Json::Kind::string)) return false;
    const auto dtype = value.find("dtype");
    const auto shape = value.find("shape");
    if (!dtype || !shape) {
      if (const auto group = value.find("group_ranks")) take_group(*group);
      const auto argument = value.find("value");
      out_.ops.back().arguments.emplace_back(slot, json_->text_of(argument ? *argument : value));
      return true;
    }
    try {
      take_tensor(slot, value, *dtype, *shape);
    } catch (const Error& error) {
      findings_.add(
          unreadable(error.at({file_, value.offset(), {}}), name_of(out_.ops.back().key, slot)));
      ++out_.unreadable;
    }
    return true;
  }

  void take_group(const Json& group) {
    if (!group.is(Json::Kind::array)) return;
    for (const Json& rank : group.items()) {
      const double number = rank.is(Json::Kind::integer) ? json_->number(rank) : -1;
      if (!(number >= 0 && number < kMostRanks)) continue;
      out_.least_ranks = std::max(out_.least_ranks, static_cast<std::int64_t>(number) + 1);
    }
  }

  static std::string name_of(const std::string& key, const std::string& slot) {
    return slot.empty() ? key : key + "/" + slot;
  }

  void take_tensor(const std::string& slot, const Json& value, const Json& dtype,
                   const Json& shape) {
    MsprobeTensor tensor;
    const auto known = dtype_of(dtype.string());
    if (!known) dtype.fail(fmt::format("dtype {} is not known", dtype.string()));
    tensor.op = out_.ops.size() - 1;
    tensor.slot = slot;
    tensor.dtype = *known;
    for (const Json& extent : shape.items()) {
      tensor.shape.push_back(checked_cast<std::int64_t>(extent.natural()));
    }
    tensor.offset = value.offset();
    tensor.stats = stats_of(value, checked_product(tensor.shape));
    if (const auto hash = value.find("md5"); hash && hash->is(Json::Kind::string)) {
      tensor.hash = hash_of(hash->string());
    } else if (hash && !hash->is(Json::Kind::null)) {  // xor: a scalar tensor's own value
      tensor.hash = fmt::format("value:{}", json_->text_of(*hash));
    }
    if (tensor.stats && summary_.empty()) summary_ = "statistics";
    if (const auto name = value.find("data_name"); name && name->is(Json::Kind::string)) {
      tensor.file = name->string();
    }
    out_.tensors.push_back(std::move(tensor));
  }

  /// The words of `summary_mode`: `md5` is a CRC-32 in 8 digits, `xor` of 64-bit words.
  std::string hash_of(std::string_view text) {
    constexpr std::string_view kXor = "0x";
    const bool folded = text.starts_with(kXor);
    summary_ = folded ? "xor" : "md5";
    if (folded) return fmt::format("xor64:{}", text.substr(kXor.size()));
    return fmt::format("{}:{}", text.size() == 8 ? "crc32" : "md5", text);
  }

  std::optional<StoredStats> stats_of(const Json& value, std::int64_t count) const {
    const auto smallest = number_in(value, "Min");
    const auto largest = number_in(value, "Max");
    if (!smallest || !largest) return std::nullopt;
    StoredStats stats;
    stats.min = *smallest;
    stats.max = *largest;
    stats.mean = number_in(value, "Mean");
    stats.l2 = number_in(value, "Norm");
    stats.numel = count;
    return stats;
  }

  /// Numbers, booleans as 0 and 1, and non-finite numbers as bare words or as text.
  std::optional<double> number_in(const Json& value, std::string_view key) const {
    const auto item = value.find(key);
    if (!item || item->is(Json::Kind::null)) return std::nullopt;
    if (item->is(Json::Kind::boolean)) return item->boolean() ? 1 : 0;
    if (item->is(Json::Kind::string)) {
      const std::string word = lower(item->string());
      const auto found = std::ranges::find(kNonFinite, word, &NonFiniteWord::word);
      if (found != kNonFinite.end()) return found->value;
    }
    return json_->number(*item);
  }

  const std::string& file_;
  std::unique_ptr<PythonJson> json_;
  std::optional<Error> error_;
  std::string summary_;
  MsprobeDump out_;
  Findings findings_;
};

}  // namespace

MsprobeDump parse_msprobe_dump(const std::string& text, const std::string& file) {
  return MsprobeReader(text, file).read();
}

std::map<std::string, std::string> parse_msprobe_construct(const std::string& text,
                                                           const std::string& file) {
  const PythonJson json(text, file);
  std::map<std::string, std::string> parents;
  if (!json.root().is(Json::Kind::object)) json.root().fail("no object of ops and their modules");
  for (const auto& [op, value] : json.root().members()) {
    // Megatron's come with their micro-batch: [module, number]
    const bool pair = value.is(Json::Kind::array) && value.items().size() > 0;
    const Json parent = pair ? *value.items().begin() : value;
    if (parent.is(Json::Kind::string)) parents.emplace(op, parent.string());
  }
  return parents;
}

}  // namespace ttcheck::formats
