#pragma once
// Which limit a pair is held to, and the words that say where it came from.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits/limits_file.hpp"
#include "core/model/limit.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::limits {

/// `[GLOB:]V` of --rtol / --atol; an empty glob means every tensor. Later ones win.
struct ToleranceRule {
  std::string glob;
  double value = 0;
};

struct LimitOptions {
  enum class Mode : std::uint8_t { automatic, exact, model, file } mode = Mode::automatic;
  std::vector<ToleranceRule> rtol, atol;
  std::shared_ptr<const LimitsFile> file;  ///< of mode file
};

/// How far earlier steps left parameters apart that are noise: rel of all of them, added up like
/// independent errors.
struct Apart {
  double noise = 0;   ///< within their limits
  double chance = 0;  ///< by elements that were set apart: the sign of their gradient was chance
  std::set<std::string> diverged{};  ///< parameters that are beyond their limits, which is no noise

  bool any() const { return noise > 0 || chance > 0; }
};

/// What the limits need to know of the two runs beside the pair itself.
struct Context {
  bool trace = false;
  bool copies = false;            ///< at least half of the non-constant pairs are equal
  bool nothing_to_count = false;  ///< every pair is constant, so `copies` could not be judged
  DType coarsest = DType::f64;    ///< of the recorded floating tensors of both sides
  std::int64_t depth = 1;         ///< number of layers
  std::int64_t encoder = 0, decoder = 0;  ///< of them, where the two are one behind the other
  std::int64_t matrix = 0;                ///< largest extent of a tensor of two or more dimensions
  std::int64_t flat = 1;  ///< of one dimension: may be a buffer, which nothing sums over

  /// Of the longest way through the network.
  std::int64_t layers() const { return std::max(depth, encoder + decoder); }
  /// Elements of the longest sum.
  std::int64_t length() const { return matrix > 0 ? matrix : flat; }
  Apart apart;
};

/// Widens `context` by one recorded tensor: coarsest dtype, depth from the layer number in its
/// name, longest extent.
void observe(Context& context, const Tensor& tensor);

/// Widens `context` by what other tensors told `part`.
void join(Context& context, const Context& part);

/// The elementwise tolerance that the user gave for this name, if any.
std::optional<Limit> tolerance_for(const LimitOptions& options, const std::string& name);

/// The elementwise limit of a pair: the user's tolerance, else how far its sides were rounded,
/// which `exact` does not admit. Nothing for other pairs.
std::optional<Limit> elementwise_limit(const Tensor& reference, const Tensor& candidate,
                                       const LimitOptions& options);

/// The limit of a pair; with a limits file the measured one, by the name of either side, and the
/// model's where it has none. Integers, bools and step counters are exact whatever the mode.
Limit limit_for(const Tensor& reference, const Tensor& candidate, const Context& context,
                const LimitOptions& options);

}  // namespace ttcheck::limits
