// SPDX-License-Identifier: Apache-2.0
// torch: one file that torch.save wrote, in its zip, legacy and bare pickle forms; torchscript:
// what torch.jit.save wrote. The object's tensors are the state; there are no steps and no ranks.

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {
namespace {

Bid bid_signature(const Probe& probe) {
  return probe.file.empty() ? Bid::none : torch_signature(probe.head);
}

/// torch's name of an archive that it wrote to a stream.
constexpr std::string_view kStream = "archive";

Run open_torch(const Probe& probe, const OpenOptions&) {
  auto file = std::make_shared<const TorchFile>(read_torch(probe.root.file(probe.file)));
  Run run;
  run.format = file->container() == TorchContainer::script ? "torchscript" : "torch";
  run.steps = {std::nullopt};
  if (file->has_code()) {
    run.facts.push_back({"code", true, FactUse::note, file->pickle().source().where(0)});
  }
  const std::string& saved_as = file->saved_as();
  const std::string stem = probe.file.substr(0, probe.file.rfind('.'));
  if (!saved_as.empty() && saved_as != kStream && saved_as != stem) {
    run.facts.push_back(
        {std::string(kSavedAs), saved_as, FactUse::note, file->pickle().source().where(0)});
  }
  const bool named_by_torch = probe.file.ends_with(".pt") || probe.file.ends_with(".pth");
  if (named_by_torch && file->container() == TorchContainer::pickle) {
    run.findings.push_back(
        odd(file->pickle().source().where(0), "is a bare pickle, as torch.save never writes one"));
  }
  run.open = [file](std::size_t) { return torch_state(*file); };
  run.owner = std::make_shared<std::shared_ptr<const TorchFile>>(file);
  return run;
}

/// TorchScript archives are found by the same bits; the run says which of the two it is.
Bid no_bid(const Probe&) { return Bid::none; }

}  // namespace

const Format kTorch = {"torch",
                       "an object that torch.save wrote: zip, legacy stream or bare pickle",
                       bid_signature, open_torch};
const Format kTorchScript = {
    "torchscript", "an archive that torch.jit.save wrote; its code is listed", no_bid, open_torch};

}  // namespace ttcheck::formats
