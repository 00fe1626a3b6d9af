// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5/worker/by_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "core/base/checked.hpp"
#include "formats/bytes/hdf5/worker/types.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{16} << 20;

void check_size(std::uint64_t bytes) {
  if (bytes <= kMost) return;
  throw Error::unable(
      fmt::format("limit reached: {} bytes of elements that are no numbers, at most {} are read",
                  bytes, kMost));
}

void add(std::span<const std::byte> bytes, std::vector<std::byte>& all) {
  const auto size = static_cast<std::uint64_t>(bytes.size());
  for (int i = 0; i < 8; ++i) all.push_back(static_cast<std::byte>(size >> (8 * i)));
  all.insert(all.end(), bytes.begin(), bytes.end());
}

[[noreturn]] void fail_read(const std::string& reason) {
  throw Error("its elements cannot be read: " + reason);
}

/// What the library allocates for elements is given and taken back here: no more than may be read,
/// whatever length an element claims.
class Varying {
 public:
  Varying(const Hdf5Library& library, hid_t type, hid_t space, std::uint64_t bytes)
      : h5_(library),
        type_(type),
        space_(space),
        transfer_(library.H5Pcreate(library.transfer), library.H5Pclose),
        elements_(static_cast<std::size_t>(bytes)) {
    if (!transfer_ ||
        h5_.H5Pset_vlen_mem_manager(transfer_.id(), give, &given_, take_back, nullptr) < 0) {
      fail_read(hdf5_reason(h5_));
    }
  }
  Varying(const Varying&) = delete;
  Varying& operator=(const Varying&) = delete;
  ~Varying() { h5_.H5Dvlen_reclaim(type_, space_, transfer_.id(), elements_.data()); }

  void read(hid_t dataset) {
    if (h5_.H5Dread(dataset, type_, H5S_ALL, H5S_ALL, transfer_.id(), elements_.data()) >= 0) {
      return;
    }
    const std::string reason = hdf5_reason(h5_);
    check_size(given_);
    fail_read(reason);
  }

  template <class Element>
  Element at(std::uint64_t i) const {
    Element element{};
    std::memcpy(&element, elements_.data() + i * sizeof element, sizeof element);
    return element;
  }

 private:
  static void* give(std::size_t size, void* given) {
    auto& all = *static_cast<std::uint64_t*>(given);
    all += std::min<std::uint64_t>(size, UINT64_MAX - all);
    return all > kMost ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  }

  static void take_back(void* memory, void*) { std::free(memory); }

  const Hdf5Library& h5_;
  hid_t type_, space_;
  std::uint64_t given_ = 0;  ///< of the elements, and the first that was too much
  Hdf5Handle transfer_;
  std::vector<std::byte> elements_;
};

void read(const Hdf5Library& library, hid_t dataset, hid_t type, void* into) {
  if (library.H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into) < 0) {
    fail_read(hdf5_reason(library));
  }
}

std::vector<std::byte> varying_bytes(const Hdf5Library& library, hid_t dataset, hid_t type,
                                     hid_t space, std::uint64_t count) {
  const bool text = library.H5Tget_class(type) == H5T_STRING;
  // The library of 1.10 ends the process where it is asked for the size of one that is no array: it
  // is read until its memory is too much.
  hsize_t held = 0;
  if (library.H5Sget_simple_extent_type(space) == H5S_SIMPLE &&
      library.H5Dvlen_get_buf_size(dataset, type, space, &held) < 0) {
    fail_read(hdf5_reason(library));
  }
  check_size(held);
  const std::uint64_t in_memory = checked_mul(count, text ? sizeof(char*) : sizeof(hvl_t));
  check_size(in_memory);
  std::size_t item = 1;
  if (!text) {
    const Hdf5Handle base(library.H5Tget_super(type), library.H5Tclose);
    item = library.H5Tget_size(base.id());
  }
  Varying elements(library, type, space, in_memory);
  elements.read(dataset);
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (text) {
      const char* const word = elements.at<char*>(i);
      add(std::as_bytes(std::span(word, word == nullptr ? 0 : std::strlen(word))), bytes);
      check_size(bytes.size());
    } else {
      const auto list = elements.at<hvl_t>(i);
      add({static_cast<const std::byte*>(list.p), list.len * item}, bytes);
    }
  }
  return bytes;
}

}  // namespace

bool is_varying(const Hdf5Library& library, hid_t type) {
  const H5T_class_t kind = library.H5Tget_class(type);
  if (kind == H5T_STRING) return library.H5Tis_variable_str(type) > 0;
  if (kind != H5T_VLEN) return false;
  const Hdf5Handle base(library.H5Tget_super(type), library.H5Tclose);
  return base && holds_itself(library, base.id());
}

std::vector<std::byte> opaque_bytes(const Hdf5Library& library, hid_t dataset, hid_t type,
                                    hid_t space, std::uint64_t count) {
  if (is_varying(library, type)) return varying_bytes(library, dataset, type, space, count);
  const std::uint64_t size = checked_mul(count, std::uint64_t{library.H5Tget_size(type)});
  check_size(size);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (size > 0) read(library, dataset, type, bytes.data());
  return bytes;
}

}  // namespace ttcheck::formats
