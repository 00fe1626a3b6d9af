// SPDX-License-Identifier: Apache-2.0
#pragma once
// What hides inside the values of a pickle: pickles within its byte strings, texts that look like
// encoded ones, keys that a dict gets twice.

#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// A pickle found in a byte string of another one, and where it starts.
struct InnerPickle {
  Pickle pickle;
  ByteRange range;
};

/// The pickles that the byte strings of `pickle` hold: whole ones, and damaged ones that refer to
/// what runs code. Time is linear in the bytes of the strings.
std::vector<InnerPickle> inner_pickles(const Pickle& pickle);

/// Notes on texts that are a pickle in base64 or hex (not decoded).
void note_encoded_pickles(const Pickle& pickle, std::string_view what,
                          std::vector<Finding>& findings);

/// A warning when dicts get a key twice: readers keep the last value, which one file may use to
/// show two readers two things.
void note_repeated_keys(const Pickle& pickle, std::string_view what,
                        std::vector<Finding>& findings);

}  // namespace ttcheck::formats
