// SPDX-License-Identifier: Apache-2.0
#include "core/noise/rules.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/require.hpp"

namespace ttcheck::noise {
namespace {

constexpr ChanceRule kRules[] = {
    {kTerms, "the gradient of a bias, its moments, and what an optimizer's call gets of them",
     "c eps rms(dW) / rms(x) for its rms, 16 times that for an element; of a second moment twice "
     "the square",
     "What a bias adds may be seen by nothing behind it (keys in front of a softmax, a convolution "
     "in front of a batch norm). The terms of its gradient then cancel, in each run whatever came "
     "from above, and what is left of them is the round-off of one op, c eps of the model at depth "
     "1, or eps sqrt(n) of n terms in fp32 where that is more, relative to the terms, or, where "
     "terms of one sign lie together, eps sqrt(sum s^2) of the partial sums s on the way. The "
     "gradient of the weight beside it sums the same terms, each "
     "times an input: rms(dW) = sqrt(sum d^2) rms(x). Both sides, or what one is beyond the other, "
     "must be that small.",
     "the gradient on both sides; the gradient of the weight beside it; the gradient of what the "
     "op "
     "put out, where it was recorded; the op's recorded input or, from its output and weight, "
     "rms(x) = rms(y) / (rms(W) sqrt(columns)), or rms(dW) / "
     "rms(db) of "
     "the other ops of its parent, in the median; 1 for a norm, and where nothing tells",
     false},
    {kGates, "gradients behind a ReLU or a max pooling, and what is made of them",
     "beside the limit, what gates that are open on one side alone make their gradient differ by: "
     "||dg|| of these / ||g||, of several ReLUs in the mean square; of a row and of an element the "
     "largest of them; of a second moment twice that; the same of places that won a window of a "
     "pooling on one side alone",
     "A value that is zero but for round-off is on either side of zero by chance. Its gradient is "
     "there in one run and nothing in the other, and what is computed with it is apart by as much: "
     "an error of forward of eps, relative, turns a part of about eps of the gates, and the "
     "gradient is off by the square root of that. Two values of a window that are equal but for "
     "round-off are in either order by chance, and the gradient is at the place of the larger.",
     "what goes into the ReLU or comes out of it on both sides, within its limit; the gradient "
     "behind it, on each side zero to the bit where the value is not positive; of a pooling both, "
     "and on each side all maxima the largest of their windows, to the bit, and the gradient that "
     "of the windows that its place won; no op of what is "
     "excused is wrong, recomputed from its own inputs",
     false},
    {kUpdate, "a parameter behind an update",
     "2 U |ga - gb| / max(|ga|, |gb|) an element, U being the longest update, or the same of first "
     "moments, which remember the gradients of earlier steps, or with that of the gradients of the "
     "step before added, which they remember best; 2 U a step where the gradient is "
     "round-off altogether (terms)",
     "An optimizer that divides by the gradient's own size steps with full length along one that "
     "is zero but for round-off, either way. U = lr max(1, (1 - beta1) / sqrt(1 - beta2)) of Adam "
     "and its kin (Kingma and Ba, 2014, section 2.1), lr of Lion and other signs (Chen and others, "
     "2023), lr / sqrt(1 - alpha) / (1 - momentum) of RMSprop; where nothing states it, the most "
     "by which an element of the reference moved. What an update of RMSprop with momentum differs "
     "by "
     "is in the next ones again: there, elements are looked at from 1 - momentum of their limit "
     "on. Of optimizers whose updates are multiples of the gradient (SGD) 2 lr / (1 - momentum) "
     "times what is round-off altogether, a step.",
     "both sides' gradients, or first moments, which must be within their own limits; learning "
     "rate and betas"},
    {kMultiple,
     "a parameter behind updates that are multiples of the gradient (SGD), mostly one that "
     "began at zero",
     "beside the limit, lr (1 - momentum^(t + 1)) / (1 - momentum) ||dg|| / ||p|| for each update "
     "so "
     "far, t being how many there were; of an element the largest |dg| / rms(p)",
     "What a gradient differs by is in the update, times the learning rate, and by momentum in the "
     "next ones: ||dp|| <= ||dp before|| + lr sum momentum^k ||dg_k||, dg_k no larger than the "
     "largest so far. Of a parameter that is large beside its updates that is below its limit; one "
     "that began at zero is nothing but updates, and as far off as they are.",
     "both sides' gradients in each step, none of which diverged; learning rate and momentum"},
    {kStands, "a parameter as a later step finds it",
     "what it stood apart by when it was seen last, and 2 U for each update since; behind a step "
     "that "
     "recorded what its update left, no more than that",
     "Nothing brings such elements together again; their moments differ, too.",
     "the same records of the step before"},
    {kAdded, "what an op puts out, and inputs that hold the same",
     "what its bias stands apart by, along the last dimension, and 2 U for each update that no "
     "step "
     "recorded",
     "A bias is added to what its op puts out.",
     "the bias on both sides, or its gradients in the step that was seen last, which must be "
     "round-off "
     "(terms); the output"},
    {kMade, "what an optimizer's calls put in and out, in dumps that name ops by a counter",
     "for outputs of an update 2 of the factor that the call states, or twice its limit for a "
     "square; inputs that hold what such a call put out: all of it",
     "Nothing there names the parameter of a call. A bias's call follows its weight's, of the same "
     "op; what is made of a gradient that was excused, and of nothing else that diverged, is by "
     "chance as well.",
     "values or statistics of the calls before"},
    {kPassedOn, "what is computed with parameters that stand apart",
     "the result's ratio, in limits",
     "A step along round-off is felt by every op that its parameter goes into.",
     "all that went into the op, none of which diverged; recomputed from it, the op is right"},
};

}  // namespace

std::span<const ChanceRule> rules() { return kRules; }

const ChanceRule& rule_named(std::string_view name) {
  const auto* const found = std::ranges::find(kRules, name, &ChanceRule::name);
  require(found != std::end(kRules), "a rule of the table");
  return *found;
}

}  // namespace ttcheck::noise
