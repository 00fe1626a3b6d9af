// SPDX-License-Identifier: Apache-2.0
// The order is that of what depends on what. `dims` is read before the identity, because a line
// that names the axis `mb` makes the micro-batch a coordinate, one part of a merged tensor, where
// it is else a part of the identity; phases behind the backward pass and stored states have none.
// `dtype` goes over the container's, which may lack bf16 or 8-bit floats, so that unsigned
// integers of the same width carry them; words that are not known are passed over, and a dtype
// that the bytes cannot hold is an Error. `shape_local` may differ from the array's shape only
// where that is empty: then the bytes were not kept, and a hash or statistics may stand for them.
// Null is the same as absent. Attributes and unknown fields stay as the text that was written, so
// that no digit is lost. A hash must be one of two functions with the right number of digits.
// Extents and counts are whole, not negative and bounded.

#include "formats/trace/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/checked.hpp"
#include "formats/bytes/python_json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxDims = 64;
constexpr auto kMaxCount = std::int64_t{std::numeric_limits<std::int32_t>::max()};

struct DTypeWord {
  std::string_view word;
  DType dtype;
};
/// Torch's names of what a container may lack.
constexpr std::array<DTypeWord, 6> kDTypeWords = {{{"bfloat16", DType::bf16},
                                                   {"float16", DType::f16},
                                                   {"float8_e4m3fn", DType::f8_e4m3fn},
                                                   {"float8_e5m2", DType::f8_e5m2},
                                                   {"float8_e4m3fnuz", DType::f8_e4m3fnuz},
                                                   {"float8_e5m2fnuz", DType::f8_e5m2fnuz}}};

constexpr std::array<std::string_view, 16> kFields = {
    "seq",   "phase", "module", "kind",  "slot",   "microbatch", "call", "dims",
    "shape", "dtype", "op",     "attrs", "inputs", "owner",      "hash", "stats"};

[[noreturn]] void fail(std::string_view field, std::string_view what) {
  throw Error(fmt::format("record field `{}` {}", field, what));
}

class Fields {
 public:
  explicit Fields(const PythonJson& json) : json_(json), root_(json.root()) {
    if (!root_.is(Json::Kind::object)) throw Error("record is no JSON object");
  }

  Json root() const { return root_; }

  /// The field, unless it is absent or null.
  std::optional<Json> find(std::string_view field) const {
    auto value = root_.find(field);
    if (value && value->is(Json::Kind::null)) value.reset();
    return value;
  }

  Json required(std::string_view field) const {
    const auto value = find(field);
    if (!value) fail(field, "is missing");
    return *value;
  }

  std::int64_t count(std::string_view field, const Json& value, std::int64_t limit) const {
    if (!value.is(Json::Kind::integer)) fail(field, "is no whole number");
    const std::string text = json_.text_of(value);
    if (text.starts_with('-')) fail(field, fmt::format("is negative: {}", text));
    const FactValue held = json_.fact_of(value);
    const auto* number = std::get_if<std::int64_t>(&held);
    if (number == nullptr || *number > limit) fail(field, fmt::format("is too large: {}", text));
    return *number;
  }

  std::string text(std::string_view field, const Json& value) const {
    if (!value.is(Json::Kind::string)) fail(field, "is no string");
    return std::string(value.string());
  }

  Shape shape(std::string_view field, const Json& value) const {
    if (!value.is(Json::Kind::array)) fail(field, "is no list");
    Shape out;
    for (const Json& item : value.items()) {
      if (out.size() == kMaxDims) fail(field, fmt::format("has more than {} extents", kMaxDims));
      out.push_back(count(field, item, std::numeric_limits<std::int64_t>::max()));
    }
    static_cast<void>(element_count(out));  // throws on overflow
    return out;
  }

 private:
  const PythonJson& json_;
  Json root_;
};

std::string slot_of(const Fields& fields, const PythonJson& json) {
  const auto slot = fields.find("slot");
  if (!slot) return "0";
  if (slot->is(Json::Kind::integer)) return json.text_of(*slot);
  return fields.text("slot", *slot);
}

/// The dtype that a record states over the container's.
DType logical_dtype(const std::string& word, DType stored) {
  const auto row = std::ranges::find(kDTypeWords, word, &DTypeWord::word);
  const auto dtype = row != kDTypeWords.end() ? std::optional(row->dtype) : dtype_named(word);
  if (!dtype) {
    // Other words of torch and NumPy repeat what the container says.
    return stored;
  }
  const bool carried =
      info(stored).kind == DTypeClass::unsigned_integer && bits(stored) == bits(*dtype);
  if (*dtype != stored && !carried) {
    fail("dtype", fmt::format("is {}, which {} does not carry", word, name(stored)));
  }
  return *dtype;
}

StoredStats stats_of(const PythonJson& json, const Json& value) {
  if (!value.is(Json::Kind::object)) fail("stats", "is no object");
  StoredStats stats;
  for (const auto& [key, item] : value.members()) {
    if (key == "min") stats.min = json.number(item);
    if (key == "max") stats.max = json.number(item);
    if (key == "l2") stats.l2 = json.number(item);
    if (key == "nan") stats.nan = item.integer();
    if (key == "inf") stats.inf = item.integer();
    if (key == "numel") stats.numel = item.integer();
  }
  return stats;
}

void check_hash(const std::string& hash) {
  const std::size_t colon = std::min(hash.find(':'), hash.size());
  const std::string_view function = std::string_view(hash).substr(0, colon);
  const std::string_view digits = std::string_view(hash).substr(std::min(colon + 1, hash.size()));
  const std::size_t wanted = function == "xxh3" ? 16 : function == "sha256" ? 64 : 0;
  if (wanted == 0 || digits.size() != wanted ||
      digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    fail("hash", fmt::format("is neither xxh3: and 16 nor sha256: and 64 hex digits: {}", hash));
  }
}

std::shared_ptr<const TraceRecord> trace_of(const Fields& fields, const PythonJson& json) {
  auto trace = std::make_shared<TraceRecord>();
  trace->seq =
      fields.count("seq", fields.required("seq"), std::numeric_limits<std::int64_t>::max());
  if (const auto op = fields.find("op")) trace->op = fields.text("op", *op);
  if (const auto owner = fields.find("owner")) trace->owner = fields.text("owner", *owner);
  if (const auto hash = fields.find("hash")) {
    trace->hash = fields.text("hash", *hash);
    check_hash(trace->hash);
  }
  if (const auto stats = fields.find("stats")) trace->stats = stats_of(json, *stats);
  if (const auto attrs = fields.find("attrs")) {
    if (!attrs->is(Json::Kind::object)) fail("attrs", "is no object");
    for (const auto& [key, item] : attrs->members()) {
      trace->attrs.emplace_back(std::string(key), json.text_of(item));
    }
  }
  if (const auto inputs = fields.find("inputs")) {
    if (!inputs->is(Json::Kind::array)) fail("inputs", "is no list");
    for (const Json& item : inputs->items()) trace->inputs.push_back(fields.text("inputs", item));
  }
  for (const auto& [key, item] : fields.root().members()) {
    if (key != "shape_local" && std::ranges::find(kFields, key) == kFields.end()) {
      trace->other.emplace_back(std::string(key), json.text_of(item));
    }
  }
  return trace;
}

bool accumulates(Phase phase) {
  return phase == Phase::sync || phase == Phase::clip || phase == Phase::optimizer ||
         phase == Phase::state;
}

void set_identity(const Fields& fields, const PythonJson& json, ParsedRecord& out) {
  Record& record = out.record;
  const std::string phase = fields.text("phase", fields.required("phase"));
  const auto known_phase = phase_named(phase);
  if (!known_phase) fail("phase", fmt::format("is no phase of a step: {}", phase));
  const std::string module = fields.text("module", fields.required("module"));
  if (module.empty()) fail("module", "is empty");
  const std::string kind = fields.text("kind", fields.required("kind"));
  const auto known_kind = kind_of_record(kind);
  if (!known_kind) fail("kind", fmt::format("is no kind of tensor: {}", kind));
  record.kind = *known_kind;
  record.identity.phase = *known_phase;
  record.identity.name = fmt::format("{}/{}.{}", module, kind, slot_of(fields, json));
  if (const auto call = fields.find("call")) {
    record.identity.call = static_cast<std::int32_t>(fields.count("call", *call, kMaxCount));
    out.call_given = true;
  }
  std::int64_t microbatch = 0;
  if (const auto value = fields.find("microbatch"))
    microbatch = fields.count("microbatch", *value, kMaxCount);
  if (accumulates(*known_phase)) return;
  if (record.placement && names_axis(*record.placement, "mb")) {
    record.at["mb"] = microbatch;  // a shard of the merged tensor
  } else {
    record.identity.microbatch = static_cast<std::int32_t>(microbatch);
  }
}

/// The array's own shape where its bytes were not kept.
void set_local_shape(const Fields& fields, Record& record) {
  const auto local = fields.find("shape_local");
  if (!local) return;
  const Shape shape = fields.shape("shape_local", *local);
  if (shape == record.shape) return;
  if (element_count(record.shape) != 0)
    fail("shape_local", "differs from the stored array's shape");
  record.shape = shape;
  record.stored = false;
}

}  // namespace

bool names_axis(const Placement& placement, std::string_view axis) {
  const auto in = [&](const std::vector<ShardSpec>& shards) {
    return std::ranges::find(shards, axis, &ShardSpec::axis) != shards.end();
  };
  const auto noted = [&](const auto& note) { return note.first == axis; };
  return in(placement.flat_shards) ||
         std::ranges::find(placement.replicated, axis) != placement.replicated.end() ||
         std::ranges::any_of(placement.partial, noted) ||
         std::ranges::any_of(placement.dims, [&](const DimSpec& dim) { return in(dim.shards); });
}

ParsedRecord parse_trace_record(std::string_view json, Record stored, const Where& where,
                                DimsCache& dims) {
  try {
    const PythonJson parsed{std::string(json), where.file};
    const Fields fields(parsed);
    ParsedRecord out{std::move(stored), false};
    Record& record = out.record;
    if (const auto line = fields.find("dims"))
      record.placement = dims.parse(fields.text("dims", *line));
    if (const auto shape = fields.find("shape")) record.logical = fields.shape("shape", *shape);
    if (const auto dtype = fields.find("dtype")) {
      record.dtype = record.piece.dtype = logical_dtype(fields.text("dtype", *dtype), record.dtype);
    }
    record.trace = trace_of(fields, parsed);
    set_local_shape(fields, record);
    set_identity(fields, parsed, out);
    return out;
  } catch (const Error& error) {
    throw Error(error.message(), where);  // offsets within the record say little of the file
  }
}

}  // namespace ttcheck::formats
