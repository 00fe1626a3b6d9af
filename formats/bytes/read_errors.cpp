// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/read_errors.hpp"

namespace ttcheck::formats {

void ReadErrors::listed(const std::string& file) {
  const std::lock_guard lock(mutex_);
  listed_.insert(file);
}

bool ReadErrors::was_listed(const std::string& file) const {
  const std::lock_guard lock(mutex_);
  return listed_.contains(file);
}

void ReadErrors::note(const Error& error) {
  const std::lock_guard lock(mutex_);
  const std::string& file = error.where().file;
  if (!taken_.contains(file)) noted_.try_emplace(file, error);
}

std::vector<Error> ReadErrors::take() {
  const std::lock_guard lock(mutex_);
  std::vector<Error> errors;
  for (auto& [file, error] : noted_) {
    taken_.insert(file);
    errors.push_back(error);
  }
  noted_.clear();
  return errors;
}

}  // namespace ttcheck::formats
