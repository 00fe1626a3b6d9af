// SPDX-License-Identifier: Apache-2.0
// HDF5 has no names for formats of numbers: a type is a class, a size, a byte order and the
// places of its bits. So a float is known by its fields (the mantissa from bit 0, the exponent
// above it, the sign on top, the leading one implied) and by the bias; an integer must use all of
// its bits. h5py writes a bool as an enum of one byte with FALSE 0 and TRUE 1, and a complex
// number as a compound of `r` and `i`; any other enum is read as its integers. What fits none of
// these is no number, and the caller takes it as bytes if it can.
//
// It can where an element holds itself. Text of any length and lists lie elsewhere in the file,
// and a reference is to something else: such an element says only where. Text in a compound or
// array might be of any length, so that such a type counts as one that does not hold itself. A
// fixed text of an attribute has at most 16 MiB.

#include "formats/bytes/hdf5/worker/types.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace ttcheck::formats {
namespace {

constexpr std::size_t kTextLimit = std::size_t{16} << 20;

std::optional<ByteOrder> order_of(const Hdf5Library& library, hid_t type) {
  const H5T_order_t order = library.H5Tget_order(type);
  if (order == H5T_ORDER_LE || order == H5T_ORDER_NONE) return ByteOrder::little;
  if (order == H5T_ORDER_BE) return ByteOrder::big;
  return std::nullopt;
}

std::optional<DType> integer_of(const Hdf5Library& library, hid_t type) {
  const std::size_t size = library.H5Tget_size(type);
  if (library.H5Tget_precision(type) != 8 * size || library.H5Tget_offset(type) != 0)
    return std::nullopt;
  const bool negative = library.H5Tget_sign(type) != H5T_SGN_NONE;
  switch (size) {
    case 1:
      return negative ? DType::i8 : DType::u8;
    case 2:
      return negative ? DType::i16 : DType::u16;
    case 4:
      return negative ? DType::i32 : DType::u32;
    case 8:
      return negative ? DType::i64 : DType::u64;
    default:
      return std::nullopt;
  }
}

/// The IEEE format, or bfloat16, by position and width of exponent and mantissa in bits, the
/// leading one of which is not stored.
std::optional<DType> float_of(const Hdf5Library& library, hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  if (library.H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) <
      0) {
    return std::nullopt;
  }
  if (mantissa != 0 || exponent != mantissa_bits || sign != exponent + exponent_bits ||
      8 * library.H5Tget_size(type) != sign + 1 || library.H5Tget_precision(type) != sign + 1 ||
      library.H5Tget_norm(type) != H5T_NORM_IMPLIED) {
    return std::nullopt;
  }
  for (const auto& [dtype, e, m] :
       {std::tuple{DType::f16, 5U, 10U}, std::tuple{DType::bf16, 8U, 7U},
        std::tuple{DType::f32, 8U, 23U}, std::tuple{DType::f64, 11U, 52U}}) {
    const std::size_t bias = (std::size_t{1} << (e - 1)) - 1;
    if (exponent_bits == e && mantissa_bits == m && library.H5Tget_ebias(type) == bias)
      return dtype;
  }
  return std::nullopt;
}

std::string member_name(const Hdf5Library& library, hid_t type, unsigned index) {
  const std::unique_ptr<char, herr_t (*)(void*)> name(library.H5Tget_member_name(type, index),
                                                      library.H5free_memory);
  return name ? std::string(name.get()) : std::string();
}

std::optional<Hdf5Element> complex_of(const Hdf5Library& library, hid_t type) {
  if (library.H5Tget_nmembers(type) != 2 || member_name(library, type, 0) != "r" ||
      member_name(library, type, 1) != "i") {
    return std::nullopt;
  }
  const Hdf5Handle first(library.H5Tget_member_type(type, 0), library.H5Tclose);
  const Hdf5Handle second(library.H5Tget_member_type(type, 1), library.H5Tclose);
  if (!first || !second) return std::nullopt;
  const std::size_t half = library.H5Tget_size(first.id());
  if (library.H5Tget_class(first.id()) != H5T_FLOAT ||
      library.H5Tget_class(second.id()) != H5T_FLOAT || library.H5Tget_size(type) != 2 * half ||
      library.H5Tget_member_offset(type, 0) != 0 || library.H5Tget_member_offset(type, 1) != half) {
    return std::nullopt;
  }
  const auto part = float_of(library, first.id());
  const auto order = order_of(library, first.id());
  if (!part || part != float_of(library, second.id()) || !order ||
      order != order_of(library, second.id())) {
    return std::nullopt;
  }
  if (*part == DType::f16) return Hdf5Element{DType::c32, *order};
  if (*part == DType::f32) return Hdf5Element{DType::c64, *order};
  if (*part == DType::f64) return Hdf5Element{DType::c128, *order};
  return std::nullopt;
}

/// REQUIRES an enum of one byte.
int member_value(const Hdf5Library& library, hid_t type, unsigned index) {
  unsigned char value = 0xff;
  return library.H5Tget_member_value(type, index, &value) < 0 ? -1 : value;
}

bool is_boolean(const Hdf5Library& library, hid_t type) {
  return library.H5Tget_size(type) == 1 && library.H5Tget_nmembers(type) == 2 &&
         member_name(library, type, 0) == "FALSE" && member_name(library, type, 1) == "TRUE" &&
         member_value(library, type, 0) == 0 && member_value(library, type, 1) == 1;
}

/// A string up to its padding.
std::string unpadded(std::string text, H5T_str_t padding) {
  if (padding == H5T_STR_SPACEPAD) {
    text.erase(text.find_last_not_of(' ') + 1);
  } else if (padding == H5T_STR_NULLPAD) {
    text.erase(text.find_last_not_of('\0') + 1);
  } else if (const std::size_t end = text.find('\0'); end != std::string::npos) {
    text.erase(end);
  }
  return text;
}

}  // namespace

std::optional<Hdf5Element> element_of(const Hdf5Library& library, hid_t type) {
  const H5T_class_t kind = library.H5Tget_class(type);
  if (kind == H5T_COMPOUND) return complex_of(library, type);
  std::optional<DType> dtype;
  if (kind == H5T_INTEGER) dtype = integer_of(library, type);
  if (kind == H5T_FLOAT) dtype = float_of(library, type);
  if (kind == H5T_ENUM) {
    const Hdf5Handle base(library.H5Tget_super(type), library.H5Tclose);
    if (!base) return std::nullopt;
    dtype = integer_of(library, base.id());
    if (dtype && is_boolean(library, type)) dtype = DType::boolean;
  }
  const auto order = order_of(library, type);
  if (!dtype || !order) return std::nullopt;
  // An enum may be said to be larger than the integers it names: who knows where these lie in it.
  if (static_cast<std::size_t>(bits(*dtype)) != 8 * library.H5Tget_size(type)) return std::nullopt;
  return Hdf5Element{*dtype, *order};
}

bool holds_itself(const Hdf5Library& library, hid_t type) {
  const H5T_class_t kind = library.H5Tget_class(type);
  if (kind == H5T_STRING) return library.H5Tis_variable_str(type) == 0;
  const auto lacks = [&](H5T_class_t part) { return library.H5Tdetect_class(type, part) == 0; };
  const bool may_hold_text = kind == H5T_COMPOUND || kind == H5T_ARRAY;
  return lacks(H5T_VLEN) && lacks(H5T_REFERENCE) && !(may_hold_text && !lacks(H5T_STRING));
}

std::optional<std::string> text_attribute(const Hdf5Library& library, hid_t object,
                                          const std::string& name) {
  const htri_t exists = library.H5Aexists(object, name.c_str());
  if (exists == 0) return std::nullopt;
  const auto fail = [&](std::string_view what) {
    return Error(fmt::format("attribute {} {}: {}", name, what, hdf5_reason(library)));
  };
  if (exists < 0) throw fail("cannot be looked up");
  const Hdf5Handle attribute(library.H5Aopen(object, name.c_str(), H5P_DEFAULT), library.H5Aclose);
  if (!attribute) throw fail("cannot be opened");
  const Hdf5Handle type(library.H5Aget_type(attribute.id()), library.H5Tclose);
  const Hdf5Handle space(library.H5Aget_space(attribute.id()), library.H5Sclose);
  if (!type || !space) throw fail("has no readable type");
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = library.H5Sget_simple_extent_ndims(space.id());
  const bool one =
      rank == 0 ||
      (rank == 1 && library.H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr) == 1 &&
       extents[0] == 1);
  if (library.H5Tget_class(type.id()) != H5T_STRING || !one) {
    throw Error(fmt::format("attribute {} is no single string", name));
  }
  if (library.H5Tis_variable_str(type.id()) > 0) {
    char* text = nullptr;
    if (library.H5Aread(attribute.id(), type.id(), &text) < 0) throw fail("cannot be read");
    const std::unique_ptr<char, herr_t (*)(void*)> owner(text, library.H5free_memory);
    return std::string(text != nullptr ? text : "");
  }
  const std::size_t size = library.H5Tget_size(type.id());
  if (size > kTextLimit) throw Error(fmt::format("attribute {} claims {} bytes", name, size));
  std::string text(size, '\0');
  if (library.H5Aread(attribute.id(), type.id(), text.data()) < 0) throw fail("cannot be read");
  return unpadded(std::move(text), library.H5Tget_strpad(type.id()));
}

}  // namespace ttcheck::formats
