// SPDX-License-Identifier: Apache-2.0
// Each opcode is a byte and an argument of one of a few kinds: a number of fixed width, a line of
// text (protocol 0), or a length and that many bytes. One table has a row for each opcode,
// another finds the row by the byte; a byte without a row is an Error. All errors name the offset
// of the opcode, not of what failed in its argument.
//
// A length is a claim. Byte strings are not read: their range is kept and skipped, so that
// tensors inside of a pickle cost nothing here. Text is copied only if all of it is there. A line
// has at most 64 KiB. A binary integer of more than 128 bytes is given as a hash, as its digits
// would take quadratic time. Strings and unicode lines of protocol 0 have their escapes resolved
// here. INT writes the booleans as 00 and 01, so `text` keeps these two. A decimal that is too
// large for 64 bits is an Error, as it is in Python; one that is too small is zero.

#include "formats/bytes/pickle/opcodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "formats/bytes/pickle/text.hpp"

namespace ttcheck::formats {
namespace {

/// The longest text argument of protocol 0; one is ended by a newline only.
constexpr std::size_t kLongestLine = std::size_t{64} * 1024;

enum class Argument : std::uint8_t {
  none,
  u8,
  u16,
  u32,
  i32,
  frame,
  decimal,
  decimal_long,
  decimal_key,
  real_text,
  real,
  quoted,
  line,
  two_lines,
  escaped,
  text8,
  text32,
  text64,
  bytes8,
  bytes32,
  bytes64,
  integer8,
  integer32,
};

struct Row {
  Opcode code;
  std::string_view name;
  Argument argument = Argument::none;
};

using enum Argument;
constexpr std::array kRows = {
    Row{Opcode::mark, "MARK"},
    Row{Opcode::stop, "STOP"},
    Row{Opcode::pop, "POP"},
    Row{Opcode::pop_mark, "POP_MARK"},
    Row{Opcode::dup, "DUP"},
    Row{Opcode::real, "FLOAT", real_text},
    Row{Opcode::integer, "INT", decimal},
    Row{Opcode::binint, "BININT", i32},
    Row{Opcode::binint1, "BININT1", Argument::u8},
    Row{Opcode::long_integer, "LONG", decimal_long},
    Row{Opcode::binint2, "BININT2", Argument::u16},
    Row{Opcode::none, "NONE"},
    Row{Opcode::persid, "PERSID", Argument::line},
    Row{Opcode::binpersid, "BINPERSID"},
    Row{Opcode::reduce, "REDUCE"},
    Row{Opcode::string, "STRING", quoted},
    Row{Opcode::binstring, "BINSTRING", text32},
    Row{Opcode::short_binstring, "SHORT_BINSTRING", text8},
    Row{Opcode::unicode, "UNICODE", escaped},
    Row{Opcode::binunicode, "BINUNICODE", text32},
    Row{Opcode::append, "APPEND"},
    Row{Opcode::build, "BUILD"},
    Row{Opcode::global, "GLOBAL", two_lines},
    Row{Opcode::dict, "DICT"},
    Row{Opcode::empty_dict, "EMPTY_DICT"},
    Row{Opcode::appends, "APPENDS"},
    Row{Opcode::get, "GET", decimal_key},
    Row{Opcode::binget, "BINGET", Argument::u8},
    Row{Opcode::inst, "INST", two_lines},
    Row{Opcode::long_binget, "LONG_BINGET", Argument::u32},
    Row{Opcode::list, "LIST"},
    Row{Opcode::empty_list, "EMPTY_LIST"},
    Row{Opcode::obj, "OBJ"},
    Row{Opcode::put, "PUT", decimal_key},
    Row{Opcode::binput, "BINPUT", Argument::u8},
    Row{Opcode::long_binput, "LONG_BINPUT", Argument::u32},
    Row{Opcode::setitem, "SETITEM"},
    Row{Opcode::tuple, "TUPLE"},
    Row{Opcode::empty_tuple, "EMPTY_TUPLE"},
    Row{Opcode::setitems, "SETITEMS"},
    Row{Opcode::binfloat, "BINFLOAT", Argument::real},
    Row{Opcode::proto, "PROTO", Argument::u8},
    Row{Opcode::newobj, "NEWOBJ"},
    Row{Opcode::ext1, "EXT1", Argument::u8},
    Row{Opcode::ext2, "EXT2", Argument::u16},
    Row{Opcode::ext4, "EXT4", i32},
    Row{Opcode::tuple1, "TUPLE1"},
    Row{Opcode::tuple2, "TUPLE2"},
    Row{Opcode::tuple3, "TUPLE3"},
    Row{Opcode::newtrue, "NEWTRUE"},
    Row{Opcode::newfalse, "NEWFALSE"},
    Row{Opcode::long1, "LONG1", integer8},
    Row{Opcode::long4, "LONG4", integer32},
    Row{Opcode::binbytes, "BINBYTES", bytes32},
    Row{Opcode::short_binbytes, "SHORT_BINBYTES", bytes8},
    Row{Opcode::short_binunicode, "SHORT_BINUNICODE", text8},
    Row{Opcode::binunicode8, "BINUNICODE8", text64},
    Row{Opcode::binbytes8, "BINBYTES8", bytes64},
    Row{Opcode::empty_set, "EMPTY_SET"},
    Row{Opcode::additems, "ADDITEMS"},
    Row{Opcode::frozenset, "FROZENSET"},
    Row{Opcode::newobj_ex, "NEWOBJ_EX"},
    Row{Opcode::stack_global, "STACK_GLOBAL"},
    Row{Opcode::memoize, "MEMOIZE"},
    Row{Opcode::frame, "FRAME", Argument::frame},
    Row{Opcode::bytearray8, "BYTEARRAY8", bytes64},
    Row{Opcode::next_buffer, "NEXT_BUFFER"},
    Row{Opcode::readonly_buffer, "READONLY_BUFFER"},
};
static_assert(kRows.size() == 68);

constexpr std::array<std::uint8_t, 256> kRowOf = [] {
  std::array<std::uint8_t, 256> rows{};
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    rows[static_cast<std::size_t>(kRows[i].code)] = static_cast<std::uint8_t>(i + 1);
  }
  return rows;
}();

const Row* row_of(std::uint8_t code) {
  return kRowOf[code] == 0 ? nullptr : &kRows[kRowOf[code] - std::size_t{1}];
}

void set_integer(PickleOp& op, IntegerText value) {
  op.big = !value.small.has_value();
  op.number = std::bit_cast<std::uint64_t>(value.small.value_or(0));
  op.text = std::move(value.digits);
}

void read_decimal(Stream& in, PickleOp& op, Argument argument, std::string_view name) {
  std::string line = in.line(kLongestLine, name);
  if (argument == decimal_long && line.ends_with('L')) line.pop_back();
  std::optional<IntegerText> value = integer_of_decimal(line);
  if (!value) in.fail(fmt::format("is no decimal number, but {} characters", line.size()), name);
  set_integer(op, std::move(*value));
  if (argument == decimal_key && (op.big || std::bit_cast<std::int64_t>(op.number) < 0)) {
    in.fail("memo key is out of range", name);
  }
  // INT writes the booleans as 01 and 00
  if (argument == decimal && (line == "00" || line == "01")) op.text = line;
}

/// Of a decimal that no double holds: true when it is too small for one, false when too large. Only
/// the place of its first digit that counts and the exponent tell.
bool is_tiny(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, end);
  const std::size_t point = std::min(digits.find('.'), end);
  const std::size_t first = std::min(digits.find_first_of("123456789"), end);
  text.remove_prefix(std::min(end + 1, text.size()));
  const bool negative = text.starts_with('-');
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int32_t power = 0;  // beyond these the line has too few digits to make up for it
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), power);
  if (error == std::errc::result_out_of_range) return negative;
  return std::int64_t{power} + static_cast<std::int64_t>(point) < static_cast<std::int64_t>(first);
}

void read_real(Stream& in, PickleOp& op, std::string_view name) {
  const std::string line = in.line(kLongestLine, name);
  double value = 0;
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, value);
  const bool range = error == std::errc::result_out_of_range;
  if (stop != end || (error != std::errc() && !range)) in.fail("is no number", name);
  if (range && !is_tiny(line)) in.fail("is a number beyond those of 64 bits", name);
  if (range) value = line.starts_with('-') ? -0.0 : 0.0;
  op.number = std::bit_cast<std::uint64_t>(value);
}

void read_integer(Stream& in, PickleOp& op, std::uint64_t size, std::string_view name) {
  if (size > kLongestDecimal) {
    const std::uint64_t hash = in.hash(size, name);
    op.big = true;
    op.text = fmt::format("integer of {} bytes, xxh3 {:016x}", size, hash);
    return;
  }
  set_integer(op, integer_of_bytes(in.text(size, name)));
}

void read_bytes(Stream& in, PickleOp& op, std::uint64_t size, std::string_view name) {
  op.bytes = {in.offset(), size};
  in.skip(size, name);
}

void read_text(Stream& in, PickleOp& op, std::uint64_t size, std::string_view name) {
  in.text(size, name, op.text);
}

void read_line(Stream& in, PickleOp& op, Argument argument, std::string_view name) {
  op.text = in.line(kLongestLine, name);
  if (argument == two_lines) op.text += '\n' + in.line(kLongestLine, name);
  std::optional<std::string> plain;
  if (argument == quoted) plain = unquote(op.text);
  if (argument == escaped) plain = unescape_unicode(op.text);
  if (argument != quoted && argument != escaped) return;
  if (!plain) in.fail("text has an unfinished escape or quote", name);
  op.text = std::move(*plain);
}

void read_argument(Stream& in, PickleOp& op, const Row& row) {
  switch (row.argument) {
    case Argument::none:
      return;
    case Argument::u8:
      op.number = in.u8(row.name);
      return;
    case Argument::u16:
      op.number = in.u16(row.name);
      return;
    case Argument::u32:
      op.number = in.u32(row.name);
      return;
    case i32:
      op.number =
          std::bit_cast<std::uint64_t>(std::int64_t{std::bit_cast<std::int32_t>(in.u32(row.name))});
      return;
    case Argument::frame:
      op.number = in.u64(row.name);
      return;
    case decimal:
    case decimal_long:
    case decimal_key:
      return read_decimal(in, op, row.argument, row.name);
    case real_text:
      return read_real(in, op, row.name);
    case Argument::real:
      op.number = in.u64_big(row.name);
      return;
    case quoted:
    case line:
    case two_lines:
    case escaped:
      return read_line(in, op, row.argument, row.name);
    case text8:
      return read_text(in, op, in.u8(row.name), row.name);
    case text32:
      return read_text(in, op, in.u32(row.name), row.name);
    case text64:
      return read_text(in, op, in.u64(row.name), row.name);
    case bytes8:
      return read_bytes(in, op, in.u8(row.name), row.name);
    case bytes32:
      return read_bytes(in, op, in.u32(row.name), row.name);
    case bytes64:
      return read_bytes(in, op, in.u64(row.name), row.name);
    case integer8:
      return read_integer(in, op, in.u8(row.name), row.name);
    case integer32: {
      const std::uint32_t size = in.u32(row.name);
      if (std::bit_cast<std::int32_t>(size) < 0) in.fail("length is negative", row.name);
      return read_integer(in, op, size, row.name);
    }
  }
}

Where place(const Stream& in, const PickleOp& op, std::string_view object) {
  Where where = in.source().where(op.offset);
  where.object = object;
  return where;
}

// Apart from next_op, so that it needs no frame for what most opcodes do not have.

[[noreturn, gnu::cold, gnu::noinline]] void ended(const Stream& in) {
  in.fail("truncated: ends without STOP", "pickle");
}

[[noreturn, gnu::cold, gnu::noinline]] void unknown(const Stream& in, const PickleOp& op,
                                                    std::uint8_t code) {
  throw Error(fmt::format("byte 0x{:02x} is no opcode", code), place(in, op, "pickle"));
}

[[gnu::noinline]] void read_argument_of(Stream& in, PickleOp& op, const Row& row) {
  try {
    read_argument(in, op, row);
  } catch (const Error& error) {
    throw Error(error.message(), place(in, op, row.name));
  }
}

}  // namespace

std::string_view opcode_name(std::uint8_t code) {
  const Row* row = row_of(code);
  return row == nullptr ? std::string_view() : row->name;
}

void next_op(Stream& in, PickleOp& op) {
  op.offset = in.offset();
  if (in.done()) ended(in);
  const std::uint8_t code = in.u8({});
  const Row* row = row_of(code);
  if (row == nullptr) unknown(in, op, code);
  op.code = row->code;
  if (row->argument == Argument::none) return;
  if (row->argument == Argument::u8 && !in.done()) {
    op.number = in.u8({});  // a quarter of all opcodes
  } else {
    read_argument_of(in, op, *row);
  }
}

}  // namespace ttcheck::formats
