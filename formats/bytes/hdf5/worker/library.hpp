// SPDX-License-Identifier: Apache-2.0
#pragma once
// The C library of HDF5, loaded when the first file needs it: it pulls dozens of shared libraries,
// which commands that read none should not pay for. Nothing of it is linked. For the .cpp files of
// this reader only.

#include <hdf5.h>

#include <string>
#include <utility>

#include "core/base/error.hpp"

// The header's constants call the library first; here it is open before any is used.
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

namespace ttcheck::formats {

// The series whose headers these are; each has a layout of H5FD_class_t of its own. The symbols
// below go by the names that H5_USE_110_API gives them.
static_assert(H5_VERS_MAJOR == 1 &&
              (H5_VERS_MINOR == 10 || H5_VERS_MINOR == 12 || H5_VERS_MINOR == 14));

// clang-format off
#define TTCHECK_HDF5_FUNCTIONS(X) \
  X(H5open) X(H5Eset_auto2) X(H5Ewalk2) X(H5Eclear2) X(H5FDregister) X(H5Pcreate) X(H5Pclose) \
  X(H5Pset_driver) X(H5Pget_driver_info) X(H5Pset_fclose_degree) X(H5Pset_vlen_mem_manager) X(H5Pget_layout) \
  X(H5Pget_chunk) X(H5Pget_chunk_opts) X(H5Pget_nfilters) X(H5Pget_filter2) \
  X(H5Pget_external_count) X(H5Pget_external) X(H5Pfill_value_defined) X(H5Pget_fill_value) \
  X(H5Pget_virtual_count) X(H5Pget_virtual_filename) X(H5Fopen) X(H5Fclose) X(H5Gopen2) \
  X(H5Gclose) X(H5Literate) X(H5Lget_val) X(H5Lunpack_elink_val) X(H5Oget_info_by_name2) \
  X(H5Oopen_by_addr) X(H5Dopen2) X(H5Dclose) X(H5Dget_type) X(H5Dget_space) X(H5Dget_create_plist) \
  X(H5Dget_offset) X(H5Dget_storage_size) X(H5Dget_num_chunks) X(H5Dget_chunk_storage_size) \
  X(H5Dread_chunk) X(H5Dread) X(H5Dvlen_get_buf_size) X(H5Dvlen_reclaim) X(H5Sget_simple_extent_type) X(H5Sget_simple_extent_ndims) \
  X(H5Sget_simple_extent_dims) X(H5Sclose) X(H5Tclose) X(H5Tget_class) X(H5Tget_size) \
  X(H5Tget_order) X(H5Tget_sign) X(H5Tget_precision) X(H5Tget_offset) X(H5Tget_fields) \
  X(H5Tget_super) X(H5Tget_nmembers) X(H5Tget_member_name) X(H5Tget_member_type) \
  X(H5Tget_member_offset) X(H5Tget_member_value) X(H5Tget_ebias) X(H5Tget_norm) X(H5Tis_variable_str) X(H5Tdetect_class) X(H5Tget_strpad) X(H5free_memory) X(H5Aopen) \
  X(H5Aclose) X(H5Aexists) X(H5Aget_type) X(H5Aget_space) X(H5Aread)
// clang-format on

struct Hdf5Library {
#define TTCHECK_HDF5_MEMBER(name) decltype(&::name) name = nullptr;
  TTCHECK_HDF5_FUNCTIONS(TTCHECK_HDF5_MEMBER)
#undef TTCHECK_HDF5_MEMBER
  hid_t file_access = H5I_INVALID_HID;  ///< the class of file access property lists
  hid_t transfer = H5I_INVALID_HID;     ///< of those of single reads
};

/// The loaded library, its printing of errors off. Not safe from two threads. Throws Error when it
/// is not installed, or of another series than its headers were.
const Hdf5Library& hdf5_library();

/// The innermost reason of the last call that failed, in the library's words.
std::string hdf5_reason(const Hdf5Library& library);

/// One identifier of the library, closed at the end of its life.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

}  // namespace ttcheck::formats
