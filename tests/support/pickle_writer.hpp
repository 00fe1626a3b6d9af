// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small valid pickles, written piece by piece: each function gives the opcodes of one value.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttcheck::tests {

/// `count` bytes of `value`, little-endian.
std::string little(std::uint64_t value, int count);

std::vector<std::byte> to_bytes(std::string_view text);

namespace pickled {

std::string text(std::string_view value);
std::string integer(std::int64_t value);
std::string global(std::string_view module, std::string_view name);
std::string tuple(std::initializer_list<std::string> items);
std::string numbers(std::initializer_list<std::int64_t> items);  ///< a tuple of integers
std::string list(std::initializer_list<std::string> items);
std::string dict(std::initializer_list<std::pair<std::string, std::string>> pairs);  ///< text keys
std::string call(std::string_view module, std::string_view name,
                 std::initializer_list<std::string> args);

/// A tensor as torch.save writes it; the fields are those of the rebuild call.
struct Tensor {
  std::string storage = "FloatStorage";
  std::string key = "0";
  std::int64_t count = 4;  ///< of the storage, in its elements
  std::int64_t offset = 0;
  std::vector<std::int64_t> size = {2, 2};
  std::vector<std::int64_t> stride = {2, 1};
};
std::string tensor(const Tensor& tensor);

/// PROTO 2, the value, STOP.
std::string whole(const std::string& value);

}  // namespace pickled
}  // namespace ttcheck::tests
