// SPDX-License-Identifier: Apache-2.0
// The one table of formats: a row here, a file beside it.

#include <array>
#include <vector>

#include "formats/open.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

// clang-format off
constexpr std::array kTable = {
    &kSafetensors,
    &kHf,
    &kHfTrainer,
    &kHfAccelerate,
    &kHfPeft,
    &kNpy,
    &kNpz,
    &kHdf5,
    &kTorch,
    &kTorchScript,
    &kTrace,
    &kSglangDump,
    &kSglangPass,
    &kHfDebug,
    &kMegatronDump,
    &kTeDump,
    &kMsprobe,
    &kDebugMode,
    &kRankFiles,
    &kFsdpRankFiles,
    &kDeepspeed,
    &kDeepspeedUniversal,
    &kMegatronLegacy,
    &kDcp,
    &kDcpHf,
    &kMegatronCore,
};
// clang-format on

constexpr std::array kContainers = {&kSeries, &kDiffusers, &kFolder, &kParent};

}  // namespace

std::span<const Format* const> table() { return kTable; }
std::span<const Format* const> containers() { return kContainers; }

std::span<const FormatRow> formats() {
  static const std::vector<FormatRow> rows = [] {
    std::vector<FormatRow> made;
    for (const Format* format : table()) made.push_back({format->name, format->summary});
    return made;
  }();
  return rows;
}

}  // namespace ttcheck::formats
