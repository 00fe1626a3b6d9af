// SPDX-License-Identifier: Apache-2.0
#pragma once
// One dataset of an open HDF5 file: its type, shape and where its bytes are.

#include "formats/bytes/hdf5/plan_bytes.hpp"
#include "formats/bytes/hdf5/worker/driver.hpp"

namespace ttcheck::formats {

/// Fills type, shape and storage of `item`; whatever is wrong becomes its `problem`.
void describe_dataset(const Hdf5Library& library, Hdf5Medium& medium, hid_t id, Hdf5Item& item);

}  // namespace ttcheck::formats
