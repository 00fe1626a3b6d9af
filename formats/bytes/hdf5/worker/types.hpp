// SPDX-License-Identifier: Apache-2.0
#pragma once
// HDF5 datatypes that are tensors' element types, and strings of attributes.

#include <optional>
#include <string>

#include "core/model/dtype.hpp"
#include "core/model/piece.hpp"
#include "formats/bytes/hdf5/worker/library.hpp"

namespace ttcheck::formats {

struct Hdf5Element {
  DType dtype = DType::u8;
  ByteOrder order = ByteOrder::little;
};

/// Knows integers, floats (f16, bf16, f32, f64 by their fields), bool as the enum of i8 that h5py
/// writes, complex as a compound of two equal floats; gives nothing for other types.
std::optional<Hdf5Element> element_of(const Hdf5Library& library, hid_t type);

/// True where an element is the bytes that are stored for it: neither text of any length nor a
/// reference, nor a compound or array that may hold such.
bool holds_itself(const Hdf5Library& library, hid_t type);

/// Reads the string attribute of that name of an object, if it has one; bytes as they are, without
/// padding. Throws Error when it is there but is no single string, or cannot be read.
std::optional<std::string> text_attribute(const Hdf5Library& library, hid_t object,
                                          const std::string& name);

}  // namespace ttcheck::formats
