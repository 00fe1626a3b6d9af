// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of the table of formats, each defined in its own file.

#include "formats/readers/format.hpp"

namespace ttcheck::formats {

extern const Format kSafetensors;
extern const Format kHf;
extern const Format kHfTrainer;
extern const Format kHfAccelerate;
extern const Format kHfPeft;
extern const Format kNpy;
extern const Format kNpz;
extern const Format kHdf5;
extern const Format kTorch;
extern const Format kTorchScript;
extern const Format kTrace;
extern const Format kSglangDump;
extern const Format kSglangPass;
extern const Format kHfDebug;
extern const Format kMegatronDump;
extern const Format kTeDump;
extern const Format kMsprobe;
extern const Format kDebugMode;
extern const Format kRankFiles;
extern const Format kFsdpRankFiles;
extern const Format kDeepspeed;
extern const Format kDeepspeedUniversal;
extern const Format kMegatronLegacy;
extern const Format kDcp;
extern const Format kDcpHf;
extern const Format kMegatronCore;

// Containers.
extern const Format kDiffusers;
extern const Format kSeries;
extern const Format kFolder;
extern const Format kParent;

}  // namespace ttcheck::formats
