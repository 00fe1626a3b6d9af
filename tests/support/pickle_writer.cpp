// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pickle_writer.hpp"

#include <algorithm>

namespace ttcheck::tests {

std::string little(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::vector<std::byte> to_bytes(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

namespace pickled {
namespace {

std::string sequence(const std::vector<std::int64_t>& items) {
  std::string out = "(";
  for (const std::int64_t item : items) out += integer(item);
  return out + "t";
}

}  // namespace

std::string text(std::string_view value) {
  return "X" + little(value.size(), 4) + std::string(value);
}

std::string integer(std::int64_t value) {
  return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8);
}

std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}

std::string tuple(std::initializer_list<std::string> items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}

std::string numbers(std::initializer_list<std::int64_t> items) { return sequence(items); }

std::string list(std::initializer_list<std::string> items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

std::string dict(std::initializer_list<std::pair<std::string, std::string>> pairs) {
  std::string out = "}(";
  for (const auto& [key, value] : pairs) out += text(key) + value;
  return out + "u";
}

std::string call(std::string_view module, std::string_view name,
                 std::initializer_list<std::string> args) {
  return global(module, name) + tuple(args) + "R";
}

std::string tensor(const Tensor& made) {
  const std::string id = tuple({text("storage"), global("torch", made.storage), text(made.key),
                                text("cpu"), integer(made.count)});
  return call("torch._utils", "_rebuild_tensor_v2",
              {id + "Q", integer(made.offset), sequence(made.size), sequence(made.stride), "\x89",
               call("collections", "OrderedDict", {})});
}

std::string whole(const std::string& value) { return "\x80\x02" + value + "."; }

}  // namespace pickled
}  // namespace ttcheck::tests
