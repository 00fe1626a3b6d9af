// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5/worker/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace ttcheck::formats {
namespace {

constexpr haddr_t kLast = std::numeric_limits<std::int64_t>::max();

struct Opened {
  H5FD_t base{};  // first, as the library casts
  Hdf5Medium* medium = nullptr;
  haddr_t end_of_addresses = 0;
};

Opened* opened(H5FD_t* file) { return reinterpret_cast<Opened*>(file); }
const Opened* opened(const H5FD_t* file) { return reinterpret_cast<const Opened*>(file); }

const char* const kName = "source";   // of the driver
const char* const kPath = "/source";  // of others the library asks for the current folder

H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t) {
  const void* info = hdf5_library().H5Pget_driver_info(access);
  if (info == nullptr || (flags & H5F_ACC_RDWR) != 0 || std::strcmp(name, kPath) != 0)
    return nullptr;
  auto* file = new (std::nothrow) Opened;
  if (file == nullptr) return nullptr;
  file->medium = *static_cast<Hdf5Medium* const*>(info);
  return &file->base;
}

herr_t close(H5FD_t* file) {
  delete opened(file);
  return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  const auto left = reinterpret_cast<std::uintptr_t>(opened(a)->medium);
  const auto right = reinterpret_cast<std::uintptr_t>(opened(b)->medium);
  return left < right ? -1 : left > right ? 1 : 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = 0;
  return 0;
}

haddr_t get_end_of_addresses(const H5FD_t* file, H5FD_mem_t) {
  return opened(file)->end_of_addresses;
}

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  opened(file)->end_of_addresses = end;
  opened(file)->medium->end = end;
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return opened(file)->medium->file->size();
}

herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, size_t size, void* out) {
  Hdf5Medium& medium = *opened(file)->medium;
  if (medium.locating && type == H5FD_MEM_DRAW) {
    medium.asked = Hdf5Extent{address, size};
    return 0;
  }
  const std::uint64_t end = medium.file->size();
  if (size > 0 && address >= end) return -1;
  try {
    const std::size_t there =
        static_cast<std::size_t>(std::min<std::uint64_t>(size, end - address));
    const std::span<std::byte> whole(static_cast<std::byte*>(out), size);
    medium.file->read(address, whole.first(there));
    std::ranges::fill(whole.subspan(there), std::byte{0});  // blocks are read ahead of their size
    return 0;
  } catch (...) {
    return -1;
  }
}

herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) { return -1; }

hid_t driver(const Hdf5Library& library) {
  static const hid_t id = [&] {
    H5FD_class_t row{};
#if H5_VERS_MINOR >= 14
    row.version = H5FD_CLASS_VERSION;
    row.value = H5_VFD_RESERVED;  // the first that is not the library's
#endif
    row.name = kName;
    row.maxaddr = kLast;
    row.fc_degree = H5F_CLOSE_STRONG;
    row.fapl_size = sizeof(Hdf5Medium*);
    row.open = open;
    row.close = close;
    row.cmp = compare;
    row.query = query;
    row.get_eoa = get_end_of_addresses;
    row.set_eoa = set_end_of_addresses;
    row.get_eof = get_end_of_file;
    row.read = read;
    row.write = write;
    std::ranges::fill(row.fl_map, H5FD_MEM_DEFAULT);
    return library.H5FDregister(&row);
  }();
  return id;
}

}  // namespace

Hdf5Handle open_hdf5(const Hdf5Library& library, Hdf5Medium& medium) {
  const Hdf5Handle access(library.H5Pcreate(library.file_access), library.H5Pclose);
  const Hdf5Medium* info = &medium;
  if (!access || library.H5Pset_driver(access.id(), driver(library), &info) < 0 ||
      library.H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG) < 0) {
    throw Error(fmt::format("the HDF5 library refuses our driver: {}", hdf5_reason(library)));
  }
  Hdf5Handle file(library.H5Fopen(kPath, H5F_ACC_RDONLY, access.id()), library.H5Fclose);
  if (!file) {
    throw Error(fmt::format("not readable as HDF5: {}", hdf5_reason(library)),
                medium.file->where(0));
  }
  return file;
}

}  // namespace ttcheck::formats
