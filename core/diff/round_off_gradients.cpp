// SPDX-License-Identifier: Apache-2.0
// What a bias adds may be seen by nothing behind it (keys in front of a softmax, a convolution in
// front of a batch norm). Its gradient is then what rounding leaves of terms that cancel, and the
// gradient of the weight beside it sums the same terms, each times an input, of size 1 behind a
// norm. What K terms leave that cancel is (8 + sqrt(K)) eps of them (core/limits/model.cpp). A
// moment is a mean of gradients: behind 200 steps of torch in fp32 such a bias's was below 4e-6 of
// its weight's, any other bias's above 5e-2.

#include "core/diff/round_off_gradients.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/name_map.hpp"
#include "core/model/dtype.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::diff {
namespace {

constexpr double kTokens = 524'288;  // tokens of a batch
constexpr std::string_view kBias = "bias", kWeight = "weight";

std::string_view parameter_of(std::string_view name) { return name.substr(0, name.find('@')); }

/// Means and sums of squared gradients, under whatever name (`exp_avg_sq`, `square_avg`).
bool is_of_squares(const Tensor& moment) {
  return moment.identity.name.find("sq", moment.identity.name.find('@')) != std::string::npos;
}

/// `layers.0.k.weight@exp_avg` of a bias's moment.
std::optional<std::string> beside(const Tensor& moment) {
  const std::string_view name = moment.identity.name;
  const std::string_view parameter = parameter_of(name);
  const bool known = moment.kind == Kind::moment1 || moment.kind == Kind::momentum ||
                     (parameter.size() < name.size() && is_of_squares(moment));
  if (!known || !parameter.ends_with(kBias)) return std::nullopt;
  std::string other(parameter.substr(0, parameter.size() - kBias.size()));
  return other.append(kWeight).append(name.substr(parameter.size()));
}

double rms(double squares, const Metrics& metrics) {
  return std::sqrt(squares / static_cast<double>(metrics.count));
}

bool is_round_off(const Metrics& bias, const Metrics& weight, bool squares) {
  const double most = (8 + std::sqrt(kTokens)) * epsilon(DType::f32);
  const auto is_small = [&](double of_bias, double of_weight) {
    return of_bias > 0 && of_bias <= (squares ? most * most : most) * of_weight;
  };
  return is_small(rms(bias.sum_a2, bias), rms(weight.sum_a2, weight)) &&
         is_small(rms(bias.sum_b2, bias), rms(weight.sum_b2, weight));
}

}  // namespace

std::vector<bool> of_round_off_gradients(const Work& work,
                                         std::span<const compare::Compared> compared) {
  NameViewMap<std::size_t> moments;
  const auto tensor = [&](std::size_t i) -> const Tensor& { return *work.pairs[i].reference; };
  for (std::size_t i = 0; i < work.pairs.size(); ++i) {
    if (compared[i].whole()) moments.emplace(tensor(i).identity.name, i);
  }
  std::set<std::string_view> biases;
  for (const auto& [name, i] : moments) {
    const auto other = beside(tensor(i));
    const auto weight = other ? moments.find(std::string_view(*other)) : moments.end();
    if (weight == moments.end()) continue;
    const bool squares = is_of_squares(tensor(i));
    if (is_round_off(compared[i].metrics, compared[weight->second].metrics, squares)) {
      biases.insert(parameter_of(name));
    }
  }
  std::vector<bool> chance(work.pairs.size(), false);
  for (std::size_t i = 0; i < work.pairs.size(); ++i) {
    chance[i] = biases.contains(parameter_of(tensor(i).identity.name));
  }
  return chance;
}

}  // namespace ttcheck::diff
