// SPDX-License-Identifier: Apache-2.0
#pragma once
// The opcodes of pickle protocols 0 to 5, and how each one's argument is written.

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/bytes/pickle.hpp"
#include "formats/bytes/stream.hpp"

namespace ttcheck::formats {

enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  real = 'F',
  integer = 'I',
  binint = 'J',
  binint1 = 'K',
  long_integer = 'L',
  binint2 = 'M',
  none = 'N',
  persid = 'P',
  binpersid = 'Q',
  reduce = 'R',
  string = 'S',
  binstring = 'T',
  short_binstring = 'U',
  unicode = 'V',
  binunicode = 'X',
  append = 'a',
  build = 'b',
  global = 'c',
  dict = 'd',
  empty_dict = '}',
  appends = 'e',
  get = 'g',
  binget = 'h',
  inst = 'i',
  long_binget = 'j',
  list = 'l',
  empty_list = ']',
  obj = 'o',
  put = 'p',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  empty_tuple = ')',
  setitems = 'u',
  binfloat = 'G',
  proto = 0x80,
  newobj = 0x81,
  ext1 = 0x82,
  ext2 = 0x83,
  ext4 = 0x84,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  binbytes = 'B',
  short_binbytes = 'C',
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  newobj_ex = 0x92,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  bytearray8 = 0x96,
  next_buffer = 0x97,
  readonly_buffer = 0x98,
};

/// Names an opcode for messages; empty for a byte that is none.
std::string_view opcode_name(std::uint8_t code);

/// One opcode with its argument decoded. What is not given by the opcode's kind is left as it was.
struct PickleOp {
  std::uint64_t offset = 0;  ///< of the opcode byte
  Opcode code = Opcode::stop;
  std::uint64_t number =
      0;  ///< integers (two's complement), memo keys, protocol, frame length, bits of a real
  std::string
      text;  ///< text; both names of GLOBAL and INST, a newline between; digits of a big integer
  bool big = false;  ///< an integer of any length needs more than 64 bits: `text` has its digits
  ByteRange bytes;   ///< of byte strings: not read
};

/// Reads the next opcode and its argument into `op`. Throws Error at the opcode's offset.
void next_op(Stream& in, PickleOp& op);

}  // namespace ttcheck::formats
