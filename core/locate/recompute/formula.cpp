#include "core/locate/recompute/formula.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

namespace ttcheck::locate {
namespace {

/// Elements of a range, where nothing else asks for more.
constexpr std::int64_t kFormulaRange = 1 << 14;

}  // namespace

const std::string* Attributes::text_of(std::string_view key) const {
  if (items_ == nullptr) return nullptr;
  const auto found = std::ranges::find(*items_, key, &Items::value_type::first);
  return found == items_->end() ? nullptr : &found->second;
}

std::optional<double> Attributes::number(std::string_view key) const {
  const std::string* text = text_of(key);
  if (text == nullptr) return std::nullopt;
  double value = 0;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || at != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Attributes::extent(std::string_view key) const {
  constexpr double kMost = 2147483648.0;
  const auto value = number(key);
  if (!value || *value < 1 || *value > kMost || *value != std::trunc(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> Attributes::flag(std::string_view key) const {
  const std::string* text = text_of(key);
  if (text != nullptr && *text == "true") return true;
  if (text != nullptr && *text == "false") return false;
  return std::nullopt;
}

std::optional<std::string_view> Attributes::word(std::string_view key) const {
  const std::string* text = text_of(key);
  if (text == nullptr || text->size() < 2 || text->front() != '"') return std::nullopt;
  return std::string_view(*text).substr(1, text->size() - 2);
}

Formula elementwise(double cost, std::function<void(std::int64_t, std::span<double>)> fill) {
  return {1, kFormulaRange, cost, 1, std::move(fill)};
}

std::optional<Formula> by_rows(std::int64_t width, double cost,
                               std::function<void(std::int64_t, std::span<double>)> fill) {
  if (width < 1 || width > kMostHeld) return std::nullopt;
  const std::int64_t preferred = width * std::max<std::int64_t>(1, kFormulaRange / width);
  return Formula{width, preferred, cost, 1, std::move(fill)};
}

std::optional<Formula> sum_of(std::vector<Formula> parts) {
  if (parts.empty()) return std::nullopt;
  if (parts.size() == 1) return std::move(parts.front());
  Formula sum = *std::ranges::max_element(parts, {}, &Formula::granule);
  sum.cost = sum.length = 0;
  std::int64_t preferred = 0;
  for (const Formula& part : parts) {
    if (sum.granule % part.granule != 0) return std::nullopt;
    preferred = std::max(preferred, part.preferred);
    sum.cost += part.cost;
    sum.length = std::max(sum.length, part.length);
  }
  sum.preferred = std::max<std::int64_t>(1, preferred / sum.granule) * sum.granule;
  auto all = std::make_shared<const std::vector<Formula>>(std::move(parts));
  sum.fill = [all](std::int64_t begin, std::span<double> out) {
    std::vector<double> part(out.size());
    all->front().fill(begin, out);
    for (std::size_t n = 1; n < all->size(); ++n) {
      (*all)[n].fill(begin, part);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += part[i];
    }
  };
  return sum;
}

}  // namespace ttcheck::locate
