// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5/worker/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ttcheck::formats {
namespace {

/// Sonames of the serial build, and the packages that have them.
struct Series {
  int minor;
  const char* file;
  const char* package;
};
constexpr Series kSeries[] = {{10, "libhdf5_serial.so.103", "libhdf5-103-1"},
                              {12, "libhdf5_serial.so.200", "libhdf5-200"},
                              {14, "libhdf5_serial.so.310", "libhdf5-310"}};
constexpr const Series& kBuilt = *std::ranges::find(kSeries, H5_VERS_MINOR, &Series::minor);
constexpr const char* kFile = kBuilt.file;

void* symbol(void* module, const char* name) {
  void* found = dlsym(module, name);
  if (found == nullptr) {
    throw Error(
        fmt::format("the HDF5 library {} lacks {}, which reading this file needs", kFile, name));
  }
  return found;
}

/// What calls are laid out for is what answers them: asked before anything else of it is used.
void check_series(void* module) {
  const auto version =
      reinterpret_cast<decltype(&::H5get_libversion)>(symbol(module, "H5get_libversion"));
  unsigned major = 0, minor = 0, release = 0;
  if (version(&major, &minor, &release) >= 0 && major == H5_VERS_MAJOR && minor == H5_VERS_MINOR) {
    return;
  }
  throw Error::unable(fmt::format(
      "{} is HDF5 {}.{}.{}; this ttcheck was built for {}.{} and reads HDF5 files by no other",
      kFile, major, minor, release, H5_VERS_MAJOR, H5_VERS_MINOR));
}

std::unique_ptr<Hdf5Library> load() {
  void* module = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw Error::unable(fmt::format("reading HDF5 needs the library {} (Debian: {}): {}", kFile,
                                    kBuilt.package, dlerror()));
  }
  check_series(module);
  auto library = std::make_unique<Hdf5Library>();
#define TTCHECK_HDF5_TEXT(name) #name  // of what the name is defined as
#define TTCHECK_HDF5_LOAD(name) \
  library->name = reinterpret_cast<decltype(&::name)>(symbol(module, TTCHECK_HDF5_TEXT(name)));
  TTCHECK_HDF5_FUNCTIONS(TTCHECK_HDF5_LOAD)
#undef TTCHECK_HDF5_LOAD
#undef TTCHECK_HDF5_TEXT
  if (library->H5open() < 0) throw Error::unable("the HDF5 library does not start");
  library->H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  library->file_access = *static_cast<hid_t*>(symbol(module, "H5P_CLS_FILE_ACCESS_ID_g"));
  library->transfer = *static_cast<hid_t*>(symbol(module, "H5P_CLS_DATASET_XFER_ID_g"));
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
