// SPDX-License-Identifier: Apache-2.0
#pragma once
// What well-known classes mean: the calls that build plain containers, numbers and arrays, read as
// such. Recognised by exact name and by the shape of their arguments; anything else stays an
// object.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/piece.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

using KeyValue = std::pair<Value, Value>;

/// Key and value pairs, in order, of a dict, or of an object that is one: OrderedDict, defaultdict,
/// Counter, or any class that had items set. None for anything else.
std::optional<std::vector<KeyValue>> mapping(Value value);

/// Items, in order, of a list, tuple or set, of a class that is one (deque, torch.Size,
/// set([...])), or of any class that had items appended. None for anything else.
std::optional<std::vector<Value>> sequence(Value value);

/// The attributes of an object: its state, as BUILD gave it, when that is a dict or a pair of
/// dicts.
std::vector<KeyValue> attributes(Value object);

/// The class or function that an object names: of a call, of a construction, or of the helpers of
/// copyreg. Null when that is no global.
const Global* class_of(Value object);

/// What the object was constructed from, less the class itself. Empty when that is no tuple.
std::vector<Value> construction(Value object);

/// A number, boolean or text, also as a numpy scalar or as a builtin's call, in Python's spelling
/// of it where it is not one of these (None, complex, bytes up to 32). None for anything else.
struct Scalar {
  enum class Type : std::uint8_t { none, boolean, integer, real, text, other };
  Type type = Type::none;
  std::int64_t integer = 0;  ///< also a boolean's
  double real = 0;
  std::string text;  ///< of text and other; a big integer's digits
};
std::optional<Scalar> scalar(Value value);

/// A numpy array: its bytes are those at `bytes` in the pickle's source, or `decoded`.
struct NumpyArray {
  std::string descr;  ///< byte order, kind, size: "<f4"
  Shape shape;
  bool fortran = false;
  std::optional<ByteRange> range;
  std::string decoded;  ///< of protocols below 3, which write bytes as text
};
std::optional<NumpyArray> numpy_array(Value value);

/// The array's bytes, little-endian and row-major, whatever its order. Throws Error when there are
/// too few, or when it has no plain numbers.
std::vector<std::byte> canonical_bytes(const NumpyArray& array, const Source& source);

/// Reads bytes, also those that protocols below 3 wrote as text of code points below 256. Gives
/// none for anything else or when longer than `limit`.
std::optional<std::string> byte_string(Value value, std::uint64_t limit);

}  // namespace ttcheck::formats
