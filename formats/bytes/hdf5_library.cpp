// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

namespace ttcheck::formats {
namespace {

constexpr const char* kFile = "libhdf5_serial.so.103";  // soname of the 1.10 series, serial build

void* symbol(void* module, const char* name) {
  void* found = dlsym(module, name);
  if (found == nullptr) {
    throw Error(
        fmt::format("the HDF5 library {} lacks {}, which reading this file needs", kFile, name));
  }
  return found;
}

std::unique_ptr<Hdf5Library> load() {
  void* module = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw Error::unable(fmt::format("reading HDF5 needs the library {} (Debian: libhdf5-103-1): {}",
                                    kFile, dlerror()));
  }
  auto library = std::make_unique<Hdf5Library>();
#define TTCHECK_HDF5_LOAD(name) \
  library->name = reinterpret_cast<decltype(&::name)>(symbol(module, #name));
  TTCHECK_HDF5_FUNCTIONS(TTCHECK_HDF5_LOAD)
#undef TTCHECK_HDF5_LOAD
  if (library->H5open() < 0) throw Error::unable("the HDF5 library does not start");
  library->H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  library->file_access = *static_cast<hid_t*>(symbol(module, "H5P_CLS_FILE_ACCESS_ID_g"));
  return library;
}

herr_t keep_description(unsigned, const H5E_error2_t* error, void* out) {
  if (error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
  return 1;  // the innermost is enough
}

}  // namespace

const Hdf5Library& hdf5_library() {
  static const std::unique_ptr<Hdf5Library> library = load();
  return *library;
}

std::string hdf5_reason(const Hdf5Library& library) {
  std::string reason;
  library.H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, &reason);
  library.H5Eclear2(H5E_DEFAULT);
  return reason.empty() ? "no reason given" : reason;
}

}  // namespace ttcheck::formats
