// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "reports/explain.hpp"

// What, why, a real case with its public source (none where we know of none), how to confirm, how
// to fix. In the order of the codes.

namespace ttcheck::reports {
namespace {

constexpr CodeText kTexts[] = {
    {Code::replica_mismatch, "Ranks that must hold the same bits of one tensor do not.",
     "A reduction that some ranks skip, clipping or an optimizer step that is not the same "
     "on each, random streams that drifted apart, or memory that was damaged on one rank. "
     "Sharded tensors look fine; norms, biases and routers drift.",
     "BLOOM-176B (bigscience-workshop/bigscience, chronicles of 2022-03-24 to 04-06; fixed "
     "in deepspeedai/DeepSpeed#1801): gradient clipping acted on one tensor-parallel rank "
     "only, and all norm weights, masters and moments drifted apart for more than a week.",
     "Compare an earlier step the same way: the step at which replicas first differ is "
     "where it began. See which ranks stand together.",
     "Make every rank of the group see the same gradient, norm and random state; then "
     "write one rank's replica to the others, moments and masters too."},
    {Code::partial_sum,
     "The candidate holds one rank's addend; the sum (or mean) over an axis gives the "
     "reference.",
     "A reduction is missing, was done over another group, or happened after the value was "
     "recorded.",
     "NVIDIA/Megatron-LM#1446: with sequence parallelism the gradient of the final norm "
     "was not reduced over the tensor-parallel ranks; each held the part of its own "
     "tokens.",
     "The residual of the hypothesis is what is left after summing: near rounding, the "
     "explanation holds. Every rank of the axis is wrong together.",
     "Add the reduction over the axis that the finding names, once. If the ranks only "
     "recorded too early, state the placement as partial in the layout."},
    {Code::tie_mismatch,
     "Copies of one tensor on several pipeline stages (the embedding and the head tied to it) "
     "differ.",
     "The gradients of the copies are not summed before the update, are summed in another order "
     "than others, or one stage was loaded from another file.",
     "NVIDIA/Megatron-LM#844 and #656: a reduce-scatter ran before the all-reduce of the tied "
     "embedding's gradient, and the copies drifted apart.",
     "Compare an earlier step the same way: the step at which the copies first differ is where it "
     "began.",
     "Sum the gradients over the stages that share the tensor, then write one copy to the others, "
     "moments and masters too."},
    {Code::conservation,
     "What came out of a collective is not the reduction (or the rearrangement) of what its ranks "
     "brought to it.",
     "A rank that was left out or came late, a buffer that was read before the collective was "
     "done, another group or another operation than meant, a payload damaged on its way.",
     "pytorch/pytorch#84803 and NVIDIA/open-gpu-kernel-modules#1257: a contiguous chunk of what a "
     "rank received was zero or foreign, and everything that went in was right.",
     "Inputs and outputs are both the candidate's own dumps, so no reference is needed: add up "
     "what "
     "the ranks of the group brought, and look at the element that the finding names.",
     "Look at the call itself: group, operation, and whether it is waited for before its buffer is "
     "used; test the links between the ranks that are named."},
    {Code::stale_replica,
     "A rank holds the value of another step, or the one from before the update.",
     "An all-gather whose result was not copied, an update that some ranks skip, or weights that "
     "were sent to some receivers only.",
     "vllm-project/vllm#52689: after an update of the weights only some engines had the new ones.",
     "The finding names the record that the rank's value equals bit for bit.",
     "Distribute the new value once more, then find the copy or collective that was left out."},
    {Code::scale, "The candidate is the reference times one number, up to rounding.",
     "A mean taken over another number of ranks or micro-batches, a loss scale left in, or a "
     "quantisation scale that was dropped or applied twice.",
     "meta-pytorch/torchtune#2420: gradients were divided by the world size, tensor-parallel "
     "ranks included; NVIDIA/Megatron-LM#673 multiplied the loss by the context-parallel size.",
     "The finding names the factor and what is left after it is taken out. See whether it is "
     "the size of an axis or a power of two, and whether second moments have its square.",
     "Divide or multiply where the factor is introduced: at the first tensor that has it."},
    {Code::offset, "The candidate is the reference plus one constant, up to rounding.",
     "A convention that adds one to a weight, a logarithm of a group's size in a loss, or a bias "
     "that is added on every rank.",
     "NVIDIA/Megatron-LM#7452: gathered logits went into a loss that sums over the ranks' parts of "
     "the vocabulary; it came out larger by ln(TP).",
     "The finding names the constant and what is left after it is taken out.",
     "Add or subtract it where it is introduced: at the first tensor that has it."},
    {Code::mean_of_means,
     "Each micro-batch was normalised by its own tokens, and the results were averaged.",
     "With gradient accumulation the sum must be divided by the tokens of all micro-batches; equal "
     "lengths hide the fault.",
     "huggingface/transformers#34191: losses of accumulated batches differed from those of one "
     "batch of the same samples.",
     "The finding lists the tokens of each micro-batch; weighting by them gives the reference.",
     "Divide by the number of tokens of the whole step."},
    {Code::norm_mismatch, "The logged norm is not the norm of the step's gradients.",
     "Ranks that add up their norms count what they all hold once each, or leave out what other "
     "ranks hold (experts, shards); clipping then scales by a wrong factor.",
     "NVIDIA-NeMo/RL#3788 and ROCm/TransformerEngine#715: parameters replicated over the "
     "tensor-parallel ranks were counted on each, a norm 1.36 to 1.52 times too large; "
     "NVIDIA/Megatron-LM#6099 left out the experts of other ranks.",
     "The finding names both norms. The difference of their squares is what was counted too often "
     "or not at all: compare it with the squared norms of single gradients.",
     "Count each parameter on one rank of the group over which it is replicated, and reduce over "
     "every group that cuts it."},
    {Code::permutation, "Parts lie in another order than they should: a rearrangement repairs it.",
     "Files of ranks that traded places, parts of a fused weight that were joined in another "
     "order, or a conversion between two conventions.",
     "", "Put the parts into the order that the finding names: the difference is gone.",
     "Rename the files, or repair the conversion, then compare again."},
    {Code::layer_mapping,
     "Layers are dropped, doubled or numbered otherwise than in the reference.",
     "Each pipeline stage counts its layers from 0, and the offset of the stage was left "
     "out or computed for another split.",
     "huggingface/transformers#24381: a conversion wrote layers 0, 1, 0, 1 for a model of "
     "four; NVIDIA/Megatron-LM#1304: 30 layers became 28.",
     "List both sides with ttcheck info --all and compare the layer numbers; compare a "
     "late layer with an early one.",
     "Give the stage's first layer in a [[rename]] of the layout file, or repair the "
     "conversion, then compare again."},
    {Code::padding, "Padding of a vocabulary or buffer is taken for data, or data for padding.",
     "Rows are added so that a dimension divides among ranks; a reader that does not trim "
     "them sees a larger tensor.",
     "NVIDIA/Megatron-LM#1754 and NVIDIA-NeMo/Megatron-Bridge#5353: the padded vocabulary "
     "was multiplied or kept when ranks were merged.",
     "Compare the first rows up to the true size: they are equal, and only the rest is "
     "not.",
     "State the true size in the layout: v[tp:pad=vocab], with vocab under [model]."},
    {Code::name_mapping, "Names of the two sides do not meet although tensors fit each other.",
     "Another framework's names, a prefix that a wrapper added, or a key that was renamed "
     "between versions.",
     "huggingface/transformers#48744: no name met after a prefix changed, nothing was "
     "loaded and 502 weights stayed random; torchgeo/torchgeo#4036 likewise.",
     "Look at the neighbours that the finding names: same shape, similar name.",
     "Put the proposed [[map]] into a file and give it with --map FILE."},
    {Code::missing, "The reference has a tensor or op that the candidate lacks.",
     "It was not saved, lies in a part that is not there, or has another name.",
     "KempnerInstitute/KempnerForge#202: a checkpoint kept the experts of one rank only; "
     "deepspeedai/DeepSpeed#6589 likewise.",
     "See whether the candidate has a tensor of that shape under another name (TT304), or "
     "lacks a rank or file (TT501, TT508).",
     "Save it, or map its name with --map; if it may be absent, leave it out with "
     "--exclude."},
    {Code::unexpected, "The candidate has a tensor or op that the reference lacks.",
     "Another name, a buffer that only one version saves, or parts of another model in the "
     "same place.",
     "huggingface/transformers#33190: keys with gamma and beta were renamed on load, so "
     "that the old name was missing and the new one unexpected.",
     "See whether the reference has a tensor of that shape under another name.",
     "Map its name with --map, or leave it out with --exclude."},
    {Code::shape_or_dtype,
     "One tensor has another shape on the two sides, or a file's shape contradicts its "
     "layout.",
     "Another configuration, a transposed matrix, padding, or a layout that cuts along "
     "another dimension. A dtype alone is no fault: values are then compared after a named "
     "cast.",
     "paiml/aprender#2189: bf16 tensors were read as f32, with half as many elements.",
     "Compare the product of the dimensions: equal means transposed or reshaped, a "
     "multiple means a shard or padding.",
     "Correct the layout's dims, or map the tensor with op transpose, reshape or slice."},
    {Code::byte_order, "The bytes of the candidate are the reference's in the other byte order.",
     "A file written on a machine of the other order, or one that says the wrong order "
     "about itself.",
     "", "Swap the bytes of one element by hand: it becomes the reference's value.",
     "Write the file again with the right order, or correct what it says about itself."},
    {Code::config, "Facts that shape the function or the update differ between the two sides.",
     "A key was renamed and fell back to its default, or a run was resumed with other "
     "arguments. Weights can be equal and the models still compute different functions.",
     "deepspeedai/DeepSpeed#8341 and swiss-ai/Megatron-LM#76: rope theta was read as its "
     "default after a rename; all weights were equal, and errors grew with position.",
     "The report shows both values, with --all also those that one side only has.",
     "Set the value that was meant on the side that has it wrong, then compare again."},
    {Code::step_counter, "The optimizer counts other steps than the run it belongs to.",
     "Its state was left out when the run was resumed, or it was loaded from an older save.", "",
     "Compare the optimizer's @step with the run's counter of steps and of skipped ones.",
     "Resume with the optimizer's state of the same step, unless it was meant to start anew."},
    {Code::master_mismatch,
     "The optimizer's fp32 copy of a parameter, rounded, is not the parameter.",
     "The two were saved at different steps, one of them was damaged or loaded from elsewhere, or "
     "the copies were made anew from 16 bit.",
     "", "Round the copy to the parameter's dtype and compare: they must be equal bit for bit.",
     "Find which of the two a good step has; take the other from the same save."},
    {Code::data_replay, "The two runs did not see the same batch in this step.",
     "A sampler that starts anew, skips or repeats after a resume, or an order that depends on "
     "the number of ranks.",
     "huggingface/accelerate#4071 and NVIDIA-NeMo/RL#2519: after a resume the data began again "
     "or went on elsewhere.",
     "Compare the inputs of the step themselves, and the steps before: find the first with "
     "another batch.",
     "Restore the state of the sampler and seed it by epoch and step; then compare steps that "
     "have the same batch."},
    {Code::unreadable,
     "Part of an input is truncated, malformed or missing; the rest was still analysed.",
     "A save that was interrupted, a copy or download that ended early, a full disk, or a "
     "file of another kind.",
     "",
     "Compare the size of the file with that of its siblings; the finding names the offset "
     "where reading ended.",
     "Fetch or save the file again. Nothing that it should hold is counted as equal."},
    {Code::checksum, "A checksum stored in the file does not match its bytes.",
     "Damage on disk or in transit, or a tool that changed bytes and left the checksum.",
     "CVE-2025-10156: a wrong CRC made a scanner skip an archive that PyTorch still loads.",
     "The finding names the member. If its tensors are equal to the reference's bit for "
     "bit, only the stored checksum is wrong.",
     "Fetch or save the file again."},
    {Code::moments_reset, "The optimizer's moments are zero where the other run's are not.",
     "A resume that loaded the weights and built the optimizer anew, or a save that left its state "
     "out.",
     "",
     "Compare the moments of the checkpoint with those after loading; the first steps after such a "
     "resume are as large as those of a fresh start.",
     "Load the optimizer's state with the weights, before parameters are wrapped or cut."},
    {Code::torn, "A region of a file was never written: a hole, or zeros where data belongs.",
     "The writer was killed, or the file system lost its last writes.", "",
     "Look at the named range: it is zero from an offset that divides by 4096 on.",
     "Use the step before, or another replica of the tensor."},
    {Code::degenerate, "The outputs of most layers hold one and the same content.",
     "A captured graph whose dumping code ran once, a buffer that every layer reuses and that was "
     "written when the step was over, or hooks that all hold the last tensor.",
     "kekzl/imp#1275: with graph capture every layer's file was identical.",
     "Compare the files of two layers with cmp; switch graph capture off for the dump.",
     "Dump while the op runs, from a copy. Nothing can be said of such a dump, equal or not."},
    {Code::rng_seam,
     "Random numbers are not those of the other run: dropout drew another mask, or a generator's "
     "state was not carried over a resume.",
     "Generators are seeded by rank, so that another layout draws others; or the state was not "
     "saved.",
     "NVIDIA/Megatron-LM#206: generators of one tensor-parallel group drifted apart, since one "
     "rank "
     "alone built the loader.",
     "Compare with dropout 0, or with generators that depend on the position alone.",
     "Switch dropout off for the comparison, or save and restore every generator."},
    {Code::overlap, "Two pieces claim the same part of one logical tensor.",
     "A wrong layout, or ranks that computed their offsets from different sizes.",
     "deepspeedai/DeepSpeed#1165: a consolidation computed offsets wrongly, and most of "
     "the model was made of shifted data.",
     "Read the boxes that the finding names; do their sizes add up to more than the "
     "tensor?",
     "Correct the layout; if the files state the boxes themselves, the checkpoint is "
     "damaged."},
    {Code::omission, "Part of a logical tensor is covered by no piece. The rest was compared.",
     "A rank's file is missing, a save plan left out new tensors, or the layout is wrong.",
     "NVIDIA/Megatron-LM#4378: a cached save plan omitted keys that had been added later.",
     "The finding names the missing box; see which rank should hold it.",
     "Find the missing file, or correct the layout."},
    {Code::duplicate_checkpoint,
     "A step of a series holds the files of another step, byte for byte.",
     "A save that failed and left the older files in place, or a folder that was copied or "
     "renamed.",
     "", "What the files say of their own step is the other's number, not the folder's.",
     "Take the step that the files state; training did not save the one that is named."},
    {Code::mixed_step, "Parts of one step or checkpoint come from different steps.",
     "A write that went on while training did, a rank that saved late, files of two saves in one "
     "place, or files of two ranks in each other's.",
     "NVIDIA/nvidia-resiliency-ext#376: asynchronous saves held the optimizer's step of t + 1 "
     "beside the parameters of t.",
     "See which ranks or files state which step, and when each was written.",
     "Copy what is saved before training goes on, and save every part under one step; compare "
     "an older checkpoint meanwhile."},
    {Code::missing_rank, "A rank of the mesh left nothing behind in this step.",
     "Its file was not copied, or the rank died before it saved.", "",
     "List the files; the finding names the rank and what it should hold.",
     "Fetch the file. Until then only what the other ranks hold is compared."},
    {Code::unsafe_pickle,
     "A pickle refers to callables outside the set that tensors need. They were never "
     "called.",
     "A checkpoint that holds whole objects, or one made to run code in whoever loads it.",
     "CVE-2025-32434 (GHSA-53q9-r3pm-6pq6): torch.load could be made to run code even with "
     "weights_only=True.",
     "The finding lists the callables with their offsets. Names of your own classes are "
     "harmless; os.system is not.",
     "Do not load a file that you do not trust; ask for safetensors, or save a state dict "
     "alone."},
    {Code::diverged,
     "The error of a tensor is beyond its limit, and no hypothesis explains it better.",
     "Different mathematics, not different rounding: another operation, another order of "
     "heads or experts, a missing or doubled reduction, other inputs.",
     "pytorch/torchtitan#1136: resuming with another layout gave another loss for months; "
     "it took comparing tensors to see that only the embedding and the output layer "
     "differed.",
     "Look at the first tensor only: what comes after it inherits its error. Rounding "
     "keeps the ratio of error and limit below 1; faults are far above.",
     "Find what differs between the two runs in the operation that makes the first tensor."},
    {Code::non_finite, "NaN or Inf on one side where the other has a number.",
     "An overflow, a division by zero, or memory that was damaged; it then spreads through "
     "every reduction.",
     "pytorch/torchtitan#951: NaN at the first step on 256 GPUs, traced to one faulty "
     "device.",
     "The first record in causal order is where it began; later ones inherited it. Look at "
     "the largest values one op before.",
     "If one rank alone has it, test that rank's hardware; if all have it, look at scale "
     "and dtype of the op."},
    {Code::precision, "Values lie on a coarser grid than the type that they are stored in.",
     "Something was computed, summed or kept in 16 bits and widened afterwards.", "",
     "Round the reference to the type that the finding names: it then is as far from the reference "
     "as the candidate.",
     "Keep the accumulator or master copy in fp32."},
    {Code::op_wrong,
     "Recomputed in double from its own dumped inputs, the op gives something else than it put "
     "out.",
     "The op itself: another formula, mask, position or reduction. Of a gradient also that "
     "backward "
     "saw other values than were dumped, as when activations are recomputed from a buffer that "
     "changed. Attributes count as the reference states them.",
     "NVIDIA/Megatron-LM#1503 and NVIDIA/TransformerEngine#1615: a fused attention's backward gave "
     "dq with a relative error of 0.5 on one device, where all that went in was right.",
     "What went wrong before does not matter to it: every op that is named is wrong by itself, and "
     "the reference's own record follows from the same formula. The message has error, limit, "
     "element and ranks. A record within the limit of its pair is named all the same if its op is "
     "clearly wrong.",
     "Look at that op's code on the ranks that are named; test it alone with the dumped inputs."},
    {Code::localised,
     "The damage is confined to some rows, heads, positions, blocks or one rank's slice.",
     "A shard of one rank is stale or came from another place; padding; one head's "
     "weights.",
     "pytorch/torchtitan#1136, worked around in #1702: with a vocabulary that did not "
     "divide, only rows of the last shard were wrong after a resume.",
     "Compare the range with the boundaries of ranks and heads.",
     "Repair what fills that range; the rest of the tensor is right."},
    {Code::unmeasured_noise,
     "The verdict noise rests on the built-in limit model and not on measured repeats.",
     "Nobody said how much two right runs of this model differ, so dtype, depth and "
     "reduction length set the limit.",
     "NVIDIA/Megatron-LM#1736: users ask which difference between two layouts is still "
     "acceptable.",
     "Compare two repeats of the reference with each other: their ratio shows how much "
     "room the limit has.",
     "If the limit is too wide or too narrow for your purpose, state your own with --rtol "
     "and --atol, or measure it with ttcheck calibrate."},
    {Code::nondeterministic, "Runs of one and the same configuration differ from each other.",
     "Atomic additions, kernels chosen by timing, or an order of messages that no run repeats.",
     "NVIDIA/Megatron-LM#5059: the fourth or fifth digit drifts from run to run.",
     "Repeat one run; the first op that differs is the cause, what follows are consequences.",
     "Ask the framework for deterministic algorithms, or judge by measured limits."},
    {Code::batch_variant,
     "Runs of one group agree bit for bit, and differ from the other group's within noise.",
     "A kernel that cuts its sums by the size of the batch, of the bucket or of the mesh.",
     "thinking-machines-lab/batch_invariant_ops: the first row of mm(a, b) is not mm(a[:1], b).",
     "Run both groups at one batch size.",
     "Use kernels that do not depend on the batch, or judge by measured limits."},
    {Code::residual_is, "What the candidate has too much is another tensor of the run.",
     "Something was added twice, on every rank, or not cleared: a residual connection before a "
     "reduction, a gradient of the step before, an unreduced part.",
     "stackoverflow.com/questions/60335387: gradients were never set to zero, so that each step "
     "added those before it.",
     "The finding names the tensor and its factor, and what is left after it is taken out.",
     "Add it once, or clear it, where the factor says that it comes in."},
    {Code::trained_apart,
     "The weights of the two states are further apart than rounding takes one training.",
     "The runs were fed other data, in another order, with another rate, seed or number of "
     "steps, or one lost its optimizer; or one is a fine-tune of the other.",
     "Of 128 small trainings, other data, order, rate or a lost optimizer move "
     "weights by 0.04 % of their values and more, other arithmetic in fp32 by 0.001 % at most.",
     "Compare the facts first (learning rate, step, seed, data), then an earlier step of both "
     "runs: where the first one is equal or noise, the cause lies between.",
     "Where both states are meant to be apart, look at TT613: what differs otherwise than its "
     "siblings may be damage all the same."},
    {Code::odd_one_out,
     "One tensor differs ten times as much as the same tensor of other layers does.",
     "A layer was not loaded, not trained or loaded from another step; one tensor was scaled, "
     "overwritten in part, or lost its reduction over ranks.",
     "Two fine-tunes are 0.8 % apart in every matrix, and one of them had one projection "
     "multiplied by 1.1.",
     "Look at that tensor alone (ttcheck show): a factor, a row, a block or a rank's slice tells "
     "the cause.",
     "Load it again from the run it came from, or repeat the conversion that wrote it."},
    {Code::bit_flip, "The only wrong elements are wrong by one bit each.",
     "Memory, a bus or a disk that turned over a bit.",
     "The training of Llama 3 on 16,384 GPUs was interrupted by silent data corruption six times "
     "in 54 days (arXiv 2407.21783).",
     "Read the file again, and compare the other replicas: they have the reference's bit.",
     "Write the right value back; test the memory of the rank that the finding names."},
    {Code::tile, "The only wrong elements fill one block of the last two dimensions.",
     "A matrix product that went wrong on one processor for one tile.", "",
     "Repeat the op on the same inputs on another device.",
     "Take the device of the rank that the finding names out and test it."},
    {Code::chunk, "The only wrong elements are one run in memory.",
     "A message or a part of a file that was lost, zeroed or written by another.",
     "pytorch/pytorch#84803: received tensors held parts that were never written.",
     "Compare the run's ends with the sizes of messages, pages and blocks.",
     "Send or write that part again, and check the transport."},
};

}  // namespace

const CodeText* explanation_of(Code code) {
  const auto* row = std::ranges::find(kTexts, code, &CodeText::code);
  return row == std::end(kTexts) ? nullptr : row;
}

}  // namespace ttcheck::reports
