#pragma once
// One dataset of an open HDF5 file: its type, shape and where its bytes are.

#include <memory>
#include <string>
#include <vector>

#include "formats/bytes/hdf5.hpp"
#include "formats/bytes/hdf5_driver.hpp"

namespace ttcheck::formats {

/// Fills all of `dataset` but its path and text; `sources` receives the decoder it may need.
/// Whatever is wrong becomes its `problem`. REQUIRES the library's mutex held.
void describe_dataset(const Hdf5Library& library, Hdf5Medium& medium, hid_t id,
                      Hdf5Dataset& dataset, std::vector<std::unique_ptr<Source>>& sources);

}  // namespace ttcheck::formats
