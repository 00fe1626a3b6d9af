#include "formats/torch_attribute.hpp"

#include <vector>

#include "formats/bytes/pickle_known.hpp"

namespace ttcheck::formats {

Value attribute(Value object, std::string_view name) {
  Value found;
  for (const auto& [key, value] : attributes(object)) {
    if (key.text() == name) found = value;
  }
  return found;
}

Value attribute_or_argument(Value object, std::string_view name, std::size_t position) {
  if (const Value found = attribute(object, name)) return found;
  const std::vector<Value> given = construction(object);
  return position < given.size() ? given[position] : Value();
}

}  // namespace ttcheck::formats
