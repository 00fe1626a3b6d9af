// SPDX-License-Identifier: Apache-2.0
// The writer puts down a magic, a version, the length of the header (2 bytes in 1.0, 4 in 2.0 and
// 3.0), the header (npy_literal) and then the items, all of one size. Nothing is copied: a record
// is a place in the source, and a column-major array is read through strides. The table of codes
// decides what an array becomes. NumPy has no bfloat16 and no float8; ml_dtypes stores them as
// `V2`, `V1` and `f1`, so a fact notes what was assumed. Items of other known kinds (text, dates,
// structured ones, long double) become u8 with one more dimension, the item's bytes. An object
// array is one pickle: it is judged, and its bytes are compared. A code of no known kind is an
// Error.
//
// The header may be at most 1 MiB and must lie in the file; shape and item size are multiplied
// with care for overflow and must not need more bytes than are there. Only the header, and a
// pickle, are read here.

#include "formats/arrays/npy_array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/arrays/npy_literal.hpp"
#include "formats/bytes/cursor.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/pickle.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/judge.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kMaxHeader = 1 << 20;

struct TypeCode {
  std::string_view text;  ///< without the byte order
  DType dtype;
  bool assumed = false;  ///< the code does not say it: what ml_dtypes writes
};

constexpr std::array kCodes = {
    TypeCode{"b1", DType::boolean},
    TypeCode{"?", DType::boolean},
    TypeCode{"i1", DType::i8},
    TypeCode{"i2", DType::i16},
    TypeCode{"i4", DType::i32},
    TypeCode{"i8", DType::i64},
    TypeCode{"u1", DType::u8},
    TypeCode{"u2", DType::u16},
    TypeCode{"u4", DType::u32},
    TypeCode{"u8", DType::u64},
    TypeCode{"f2", DType::f16},
    TypeCode{"f4", DType::f32},
    TypeCode{"f8", DType::f64},
    TypeCode{"c8", DType::c64},
    TypeCode{"c16", DType::c128},
    TypeCode{"V2", DType::bf16, true},
    TypeCode{"V1", DType::f8_e4m3fn, true},
    TypeCode{"f1", DType::f8_e5m2, true},
    TypeCode{"bfloat16", DType::bf16},
};

std::string_view without_order(std::string_view code) {
  return !code.empty() && std::string_view("<>|=").find(code.front()) != std::string_view::npos
             ? code.substr(1)
             : code;
}

const TypeCode* known_code(std::string_view code) {
  const std::string_view bare = without_order(code);
  for (const TypeCode& row : kCodes) {
    if (row.text == bare) return &row;
  }
  return nullptr;
}

/// Kinds of items that are no numbers, or numbers that no dtype of ours holds (long double).
void check_opaque(const NpyDescr& descr, const Where& where) {
  constexpr std::string_view kKinds = "SUaMmVfcO";
  const std::string_view bare = without_order(descr.code);
  if (descr.text.starts_with('[') ||
      (!bare.empty() && kKinds.find(bare.front()) != std::string_view::npos)) {
    return;
  }
  throw Error(fmt::format("dtype {} is not known", descr.text), where);
}

struct Header {
  NpyLiteral literal;
  std::uint64_t data = 0;  ///< offset of the first byte of the array
};

Header read_header(const Source& source) {
  const Where start = source.where(0);
  std::vector<std::byte> bytes(std::min<std::uint64_t>(source.size(), 12));
  source.read(0, bytes);
  Cursor cursor(bytes, start.file);
  if (cursor.text(kMagic.size(), "npy magic") != kMagic) {
    throw Error("no npy magic at the start", start);
  }
  const unsigned major = cursor.u8("npy version");
  const unsigned minor = cursor.u8("npy version");
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(fmt::format("npy version {}.{}, 1.0 to 3.0 are known", major, minor), start);
  }
  const std::uint64_t length =
      major == 1 ? cursor.u16("npy header length") : cursor.u32("npy header length");
  const std::uint64_t begin = cursor.at();
  if (length > source.size() - begin || length > kMaxHeader) {
    throw Error(
        fmt::format("npy header of {} bytes is claimed, {} are left and at most {} are read",
                    length, source.size() - begin, kMaxHeader),
        start);
  }
  std::string text(length, '\0');
  source.read(begin, std::as_writable_bytes(std::span(text)));
  return {parse_npy_literal(text, source.where(begin)), begin + length};
}

/// Column-major strides, as a single cell.
std::vector<Cell> fortran_cells(const Shape& shape) {
  if (shape.size() < 2 || element_count(shape) == 0) return {};
  Cell cell{whole(shape), 0, Extents(shape.size())};
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    cell.strides[d] = stride;
    stride = checked_mul(stride, shape[d]);
  }
  return {cell};
}

/// What is no number of ours is compared by its bytes, an item's along a last dimension; a fact
/// says what they are.
void add_opaque(const Source& source, const Header& header, std::uint64_t item, Shape shape,
                const std::string& name, State& state) {
  const NpyLiteral& literal = header.literal;
  Record record;
  record.identity.name = name;
  record.kind = Kind::other;  // no parameter: a format that holds none of these lacks all of them
  record.dtype = record.piece.dtype = DType::u8;
  record.piece.source = &source;
  record.piece.offset = header.data;
  const auto width = checked_cast<std::int64_t>(item);
  if (literal.fortran_order && shape.size() > 1) {
    record.piece.cells = fortran_cells(shape);
    for (Cell& cell : record.piece.cells) {
      cell.box.lo.push_back(0);
      cell.box.size.push_back(width);
      for (std::int64_t& stride : cell.strides) stride = checked_mul(stride, width);
      cell.strides.push_back(1);
    }
  }
  record.shape = std::move(shape);
  record.shape.push_back(width);
  state.facts.push_back({"dtype." + name, literal.descr.text, FactUse::compared, source.where(0)});
  state.records.push_back(std::move(record));
}

/// An object array is one pickle: walked for faults and callables, never run, compared byte by
/// byte.
void add_objects(const Source& source, const Header& header, const std::string& name,
                 State& state) {
  check_pickle_size(source);
  Stream in(source, header.data);
  const Pickle pickle = read_pickle(in);
  judge_pickle(pickle, name, state.findings);
  if (pickle.fault()) ++state.unreadable;
  if (!in.done()) {
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, in.remaining());
    state.findings.push_back(odd(
        source.where(in.offset()),
        fmt::format("{} bytes behind the pickle belong to nothing", in.remaining()), Code::torn));
    state.findings.back().tensor = name;
  }
  add_opaque(source, header, source.size() - header.data, {}, name, state);
}

void add_record(const Source& source, const Header& header, const TypeCode& code,
                const std::string& name, State& state) {
  const NpyLiteral& literal = header.literal;
  Record record;
  record.identity.name = name;
  record.kind = kind_of_name(name);
  record.dtype = code.dtype;
  record.shape = literal.shape;
  record.piece.source = &source;
  record.piece.offset = header.data;
  record.piece.dtype = code.dtype;
  record.piece.order = literal.descr.code.starts_with('>') ? ByteOrder::big : ByteOrder::little;
  if (literal.fortran_order) record.piece.cells = fortran_cells(literal.shape);
  if (code.assumed) {
    state.facts.push_back(
        {"assumed_dtype." + name,
         fmt::format("{} read as {}", literal.descr.code, ttcheck::name(code.dtype)), FactUse::note,
         source.where(0)});
  }
  state.records.push_back(std::move(record));
}

void read(const Source& source, const std::string& name, State& state) {
  const Header header = read_header(source);
  const NpyDescr& descr = header.literal.descr;
  const std::uint64_t there = source.size() - header.data;
  const TypeCode* code = known_code(descr.code);
  if (code == nullptr) check_opaque(descr, source.where(0));
  const std::uint64_t needed = checked_mul(
      checked_cast<std::uint64_t>(element_count(header.literal.shape)),
      code == nullptr ? descr.item_bytes : static_cast<std::uint64_t>(bits(code->dtype)) / 8);
  if (!descr.object) {
    if (needed > there) {
      throw Error(
          fmt::format("the array needs {} bytes, {} are there: it is cut off", needed, there),
          source.where(source.size()));
    }
    if (needed < there) {
      state.bytes_unclaimed = checked_add(state.bytes_unclaimed, there - needed);
      state.findings.push_back(found(
          Code::torn, fmt::format("{} bytes behind the array belong to nothing", there - needed),
          source.where(header.data + needed), name));
    }
  }
  if (code != nullptr) {
    add_record(source, header, *code, name, state);
  } else if (descr.object) {
    add_objects(source, header, name, state);
  } else {
    add_opaque(source, header, descr.item_bytes, header.literal.shape, name, state);
  }
}

}  // namespace

void read_npy(const Source& source, const std::string& name, State& state) {
  try {
    read(source, name, state);
  } catch (const Error& error) {
    throw error.at(source.where(0));
  }
}

std::optional<DType> npy_dtype(std::string_view code) {
  const TypeCode* row = known_code(code);
  return row == nullptr ? std::nullopt : std::optional(row->dtype);
}

}  // namespace ttcheck::formats
