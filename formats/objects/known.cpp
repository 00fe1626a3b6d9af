// SPDX-License-Identifier: Apache-2.0
// Pickle has opcodes for plain values alone; other values are calls of classes or functions,
// which may have a state built into them and items appended or set. A mapping or a sequence is
// therefore what the call was given, followed by these items. A NumPy number is the call of
// `scalar` with a dtype and raw bytes; the dtype's byte order lies in its state. An array is
// `_reconstruct` with shape, dtype and bytes in its state, or `_frombuffer` with them as
// arguments. Protocols below 3 have no bytes: they call `_codecs.encode` on text of code points
// below 256, which is undone here. Anything of another form is no such value, and no Error. Byte
// strings are read from the source up to the caller's limit; an array's that lie there are not
// read at all, only their range is told. An integer beyond 64 bits with a sign and a NumPy number
// that is no boolean, integer or real become text.

#include "formats/objects/known.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kShortBytes = 32;
constexpr std::uint64_t kScalarBytes = 64;

bool is_class(Value object, std::string_view module, std::string_view name) {
  return object.callable().is_global(module, name);
}

std::vector<Value> values_of(const Pickle& pickle, std::span<const NodeId> ids) {
  std::vector<Value> values;
  values.reserve(ids.size());
  for (const NodeId id : ids) values.push_back(pickle.at(id));
  return values;
}

std::vector<Value> children_of(Value value) {
  std::vector<Value> values;
  values.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) values.push_back(value[i]);
  return values;
}

bool is_plain_sequence(Value value) {
  return value.is(NodeKind::list) || value.is(NodeKind::tuple) || value.is(NodeKind::set) ||
         value.is(NodeKind::frozen_set);
}

std::vector<KeyValue> pairs_of(Value dict) {
  std::vector<KeyValue> pairs;
  pairs.reserve(dict.size());
  for (std::size_t i = 0; i < dict.size(); ++i) pairs.emplace_back(dict.key(i), dict.value(i));
  return pairs;
}

bool is_known_mapping(Value object) {
  return is_class(object, "collections", "OrderedDict") ||
         is_class(object, "collections", "defaultdict") ||
         is_class(object, "collections", "Counter") || is_class(object, "builtins", "dict");
}

/// What the constructor of a known mapping was given: a dict, or a list of pairs.
void add_given_pairs(Value given, std::vector<KeyValue>& pairs) {
  if (given.is(NodeKind::dict)) pairs = pairs_of(given);
  if (!given.is(NodeKind::list)) return;
  for (const Value& pair : children_of(given)) {
    if (is_plain_sequence(pair) && pair.size() == 2) pairs.emplace_back(pair[0], pair[1]);
  }
}

bool is_known_sequence(Value object) {
  return is_class(object, "builtins", "set") || is_class(object, "builtins", "frozenset") ||
         is_class(object, "builtins", "list") || is_class(object, "builtins", "tuple") ||
         is_class(object, "collections", "deque") || is_class(object, "torch", "Size");
}

Scalar of_text(Scalar::Type type, std::string text) {
  Scalar made;
  made.type = type;
  made.text = std::move(text);
  return made;
}

std::string joined_path(Value args) {
  std::string path;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view part = args[i].text().value_or("?");
    if (!path.empty() && !path.ends_with('/')) path += '/';
    path += part;
  }
  return path;
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  double value = exponent == 0 ? mantissa * 0x1p-24
                               : (1024 + mantissa) * 0x1p-25 * static_cast<double>(1LL << exponent);
  if (exponent == 31) value = mantissa == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

/// A number of dtype `descr` from its bytes.
std::optional<Scalar> number_of(std::string_view descr, std::string bytes) {
  if (descr.size() < 3 || bytes.size() > 8 || bytes.empty()) return std::nullopt;
  if (descr[0] == '>') std::reverse(bytes.begin(), bytes.end());
  std::uint64_t bits = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  const int unused = static_cast<int>(64 - 8 * bytes.size());
  Scalar made;
  switch (descr[1]) {
    case 'b':
      made.type = Scalar::Type::boolean;
      made.integer = bits != 0 ? 1 : 0;
      return made;
    case 'i':
      made.type = Scalar::Type::integer;
      made.integer = std::bit_cast<std::int64_t>(bits << unused) >> unused;
      return made;
    case 'u':
      if (bits >> 63 != 0) return of_text(Scalar::Type::other, fmt::format("{}", bits));
      made.type = Scalar::Type::integer;
      made.integer = std::bit_cast<std::int64_t>(bits);
      return made;
    case 'f':
      made.type = Scalar::Type::real;
      if (bytes.size() == 8)
        made.real = std::bit_cast<double>(bits);
      else if (bytes.size() == 4)
        made.real = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      else if (bytes.size() == 2)
        made.real = half(static_cast<std::uint16_t>(bits));
      else
        return std::nullopt;
      return made;
    default:
      return std::nullopt;
  }
}

/// numpy.dtype('f4', False, True) with its state's byte order, as "<f4".
std::optional<std::string> dtype_descr(Value value) {
  if (!is_class(value, "numpy", "dtype")) return std::nullopt;
  const auto code = value.args()[0].text();
  if (!code || code->empty()) return std::nullopt;
  std::string_view order = value.state()[1].text().value_or("=");
  if (order == "=") order = "<";
  if (code->front() == '<' || code->front() == '>' || code->front() == '|')
    return std::string(*code);
  return std::string(order) + std::string(*code);
}

std::optional<Scalar> called_scalar(Value value) {
  if (is_class(value, "numpy._core.multiarray", "scalar")) {
    const auto descr = dtype_descr(value.args()[0]);
    const auto bytes = byte_string(value.args()[1], kScalarBytes);
    if (!descr || !bytes) return std::nullopt;
    if (auto number = number_of(*descr, *bytes)) return number;
    std::string digits;
    for (const char byte : *bytes)
      digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return of_text(Scalar::Type::other, fmt::format("{} {}", *descr, digits));
  }
  if (is_class(value, "torch", "device") || is_class(value, "torch.serialization", "_get_layout")) {
    if (const auto text = value.args()[0].text())
      return of_text(Scalar::Type::text, std::string(*text));
  }
  const Global* made = value.callable().global();
  if (made != nullptr && made->module.starts_with("pathlib")) {
    return of_text(Scalar::Type::text, joined_path(value.args()));
  }
  if (is_class(value, "builtins", "complex")) {
    return of_text(Scalar::Type::other,
                   fmt::format("({}, {})", value.args()[0].number().value_or(0),
                               value.args()[1].number().value_or(0)));
  }
  if (const auto descr = dtype_descr(value)) return of_text(Scalar::Type::text, *descr);
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<KeyValue>> mapping(Value value) {
  if (value.is(NodeKind::dict)) return pairs_of(value);
  const std::span<const NodeId> entries = value.entries();
  const bool known = is_known_mapping(value);
  if (!known && entries.empty()) return std::nullopt;
  std::vector<KeyValue> pairs;
  if (known) add_given_pairs(value.args()[0], pairs);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    pairs.emplace_back(value.pickle().at(entries[i]), value.pickle().at(entries[i + 1]));
  }
  return pairs;
}

std::optional<std::vector<Value>> sequence(Value value) {
  if (is_plain_sequence(value)) return children_of(value);
  const std::span<const NodeId> items = value.items();
  const bool known = is_known_sequence(value);
  if (!known && items.empty()) return std::nullopt;
  std::vector<Value> values;
  if (known && is_plain_sequence(value.args()[0])) values = children_of(value.args()[0]);
  const std::vector<Value> more =
      items.empty() ? std::vector<Value>() : values_of(value.pickle(), items);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

std::vector<KeyValue> attributes(Value object) {
  const Value state = object.state();
  if (state.is(NodeKind::dict)) return pairs_of(state);
  std::vector<KeyValue> pairs;
  const bool slots = state.is(NodeKind::tuple) && state.size() == 2 &&
                     state[1].is(NodeKind::dict) &&
                     (state[0].is(NodeKind::dict) || state[0].is_none());
  if (!slots) return pairs;
  if (state[0].is(NodeKind::dict)) pairs = pairs_of(state[0]);
  const std::vector<KeyValue> more = pairs_of(state[1]);
  pairs.insert(pairs.end(), more.begin(), more.end());
  return pairs;
}

const Global* class_of(Value object) {
  const Global* callee = object.callable().global();
  if (callee == nullptr || callee->module != "copyreg") return callee;
  const Global* first = object.args()[0].global();
  return first == nullptr ? callee : first;
}

std::vector<Value> construction(Value object) {
  std::vector<Value> values = children_of(object.args());
  const Global* callee = object.callable().global();
  if (callee == nullptr || callee->module != "copyreg" || values.empty()) return values;
  // copyreg._reconstructor(class, base, state of the base), copyreg.__newobj__(class, arguments...)
  values.erase(values.begin());
  if (callee->name == "_reconstructor") values.clear();
  return values;
}

std::optional<Scalar> scalar(Value value) {
  Scalar made;
  switch (value.kind()) {
    case NodeKind::none:
      return value ? std::optional(of_text(Scalar::Type::none, "None")) : std::nullopt;
    case NodeKind::boolean:
      made.type = Scalar::Type::boolean;
      made.integer = value.boolean() == true ? 1 : 0;
      return made;
    case NodeKind::integer:
      made.type = Scalar::Type::integer;
      made.integer = *value.integer();
      return made;
    case NodeKind::real:
      made.type = Scalar::Type::real;
      made.real = *value.number();
      return made;
    case NodeKind::text:
      return of_text(Scalar::Type::text, std::string(*value.text()));
    case NodeKind::big_integer:
      return of_text(Scalar::Type::other, std::string(*value.text()));
    case NodeKind::global:
      return of_text(Scalar::Type::other, value.global()->module + "." + value.global()->name);
    case NodeKind::object: {
      if (auto called = called_scalar(value)) return called;
      break;
    }
    default:
      break;
  }
  const auto bytes = byte_string(value, kShortBytes);
  if (!bytes) return std::nullopt;
  std::string digits = "0x";
  for (const char byte : *bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return of_text(Scalar::Type::other, digits);
}

std::optional<std::string> byte_string(Value value, std::uint64_t limit) {
  if (const auto range = value.bytes()) {
    if (range->size > limit) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(range->size), '\0');
    value.pickle().source().read(range->offset, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  if (is_class(value, "builtins", "bytes") && value.args().size() == 0) return std::string();
  if (is_class(value, "builtins", "bytearray")) value = value.args()[0];
  if (value.bytes()) return byte_string(value, limit);
  if (!is_class(value, "_codecs", "encode") || value.args()[1].text() != "latin1")
    return std::nullopt;
  const auto text = value.args()[0].text();
  if (!text) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text->size(); ++i) {
    const auto lead = static_cast<unsigned char>((*text)[i]);
    if (bytes.size() == limit) return std::nullopt;
    if (lead < 0x80) {
      bytes += static_cast<char>(lead);
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text->size()) {
      bytes +=
          static_cast<char>((lead & 0x03) << 6 | (static_cast<unsigned char>((*text)[++i]) & 0x3f));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

std::optional<NumpyArray> numpy_array(Value value) {
  const bool framed = is_class(value, "numpy._core.numeric", "_frombuffer");
  if (!framed && !is_class(value, "numpy._core.multiarray", "_reconstruct")) return std::nullopt;
  const Value from = framed ? value.args() : value.state();
  const Value shape = framed ? from[2] : from[1];
  const Value bytes = framed ? from[0] : from[4];
  const auto descr = dtype_descr(framed ? from[1] : from[2]);
  if (!descr || !shape.is(NodeKind::tuple)) return std::nullopt;
  NumpyArray array;
  array.descr = *descr;
  array.fortran = framed ? from[3].text() == "F" : from[3].boolean() == true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto extent = shape[i].integer();
    if (!extent || *extent < 0) return std::nullopt;
    array.shape.push_back(*extent);
  }
  if (bytes.bytes()) {
    array.range = bytes.bytes();
    return array;
  }
  auto decoded = byte_string(bytes, ~std::uint64_t{0});
  if (!decoded) return std::nullopt;
  array.decoded = std::move(*decoded);
  return array;
}

}  // namespace ttcheck::formats
