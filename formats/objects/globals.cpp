// SPDX-License-Identifier: Apache-2.0
// Nothing is imported, so two strings are all there is to judge. The lists are asked in this
// order: names that the pickle computes are code; then data, name by name, since a harmless class
// may lie in a module of code (`signal.Signals`); then names with dots: from protocol 4 on they are
// resolved attribute by attribute, and most modules hold others that they import, so that
// `torch.serialization` and `os.system` are `os.system`. They are code where a part is called like
// a module of code or a function of builtins, or where parts in a row are a single function. Then
// code by the top of the module's path, with all that is below it; then functions of builtins; then
// single functions that load or run something. What no list knows is unknown. Three rules stand
// beside the list of data, as their names are many or move: classes of tensors' places anywhere in
// torch.distributed, enumerations of Megatron, and all that lies in `__torch__`; none of them has
// dots that reach code.
// Modules bear their Python 3 names already, those of NumPy's arrays the names of NumPy 2
// (formats/bytes/pickle/builder).

#include "formats/objects/globals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace ttcheck::formats {
namespace {

struct Known {
  std::string_view module;
  std::string_view name;
};

constexpr std::array kData = {
    Known{"collections", "OrderedDict"},
    Known{"collections", "defaultdict"},
    Known{"collections", "Counter"},
    Known{"collections", "deque"},
    Known{"builtins", "set"},
    Known{"builtins", "frozenset"},
    Known{"builtins", "list"},
    Known{"builtins", "dict"},
    Known{"builtins", "tuple"},
    Known{"builtins", "bytes"},
    Known{"builtins", "bytearray"},
    Known{"builtins", "complex"},
    Known{"builtins", "int"},
    Known{"builtins", "float"},
    Known{"builtins", "str"},
    Known{"builtins", "bool"},
    Known{"builtins", "slice"},
    Known{"builtins", "range"},
    Known{"builtins", "object"},
    Known{"_codecs", "encode"},
    Known{"copyreg", "_reconstructor"},
    Known{"argparse", "Namespace"},
    Known{"types", "SimpleNamespace"},
    Known{"pathlib", "PosixPath"},
    Known{"pathlib", "PurePosixPath"},
    Known{"pathlib._local", "PosixPath"},
    Known{"datetime", "datetime"},
    Known{"datetime", "timedelta"},
    Known{"datetime", "date"},
    Known{"signal", "Signals"},
    Known{"numpy", "dtype"},
    Known{"numpy", "ndarray"},
    Known{"numpy._core.multiarray", "scalar"},
    Known{"numpy._core.multiarray", "_reconstruct"},
    Known{"numpy._core.numeric", "_frombuffer"},
    Known{"torch", "Size"},
    Known{"torch", "device"},
    Known{"torch", "Tensor"},
    Known{"torch._utils", "_rebuild_tensor"},
    Known{"torch._utils", "_rebuild_tensor_v2"},
    Known{"torch._utils", "_rebuild_tensor_v3"},
    Known{"torch._utils", "_rebuild_parameter"},
    Known{"torch._utils", "_rebuild_parameter_with_state"},
    Known{"torch._utils", "_rebuild_sparse_tensor"},
    Known{"torch._utils", "_rebuild_qtensor"},
    Known{"torch._utils", "_rebuild_nested_tensor"},
    Known{"torch._utils", "_rebuild_wrapper_subclass"},
    Known{"torch._utils", "_rebuild_meta_tensor_no_storage"},
    Known{"torch._utils", "_rebuild_device_tensor_from_numpy"},
    Known{"torch._utils", "_rebuild_device_tensor_from_cpu_tensor"},
    Known{"torch._tensor", "_rebuild_from_type_v2"},
    Known{"torch.serialization", "_get_layout"},
    Known{"torch.storage", "_load_from_bytes"},
    Known{"torch.nn.parameter", "Parameter"},
    Known{"deepspeed.runtime.fp16.loss_scaler", "LossScaler"},
    Known{"deepspeed.runtime.fp16.loss_scaler", "DynamicLossScaler"},
    Known{"deepspeed.runtime.zero.config", "ZeroStageEnum"},
    Known{"deepspeed.utils.tensor_fragment", "fragment_address"},
    Known{"deepspeed.checkpoint.universal_checkpoint", "SubparamShape"},
};

/// Classes of torch.distributed that hold a tensor's place, or a distributed checkpoint's tables;
/// their modules moved often.
constexpr std::array kPlaces = {
    std::string_view("DTensorSpec"),
    std::string_view("DeviceMesh"),
    std::string_view("_MeshLayout"),
    std::string_view("_FlatLayout"),
    std::string_view("TensorMeta"),
    std::string_view("ShardOrderEntry"),
    std::string_view("Shard"),
    std::string_view("_StridedShard"),
    std::string_view("Replicate"),
    std::string_view("Partial"),
    std::string_view("_Partial"),
    std::string_view("ShardMetadata"),
    std::string_view("ShardedTensorMetadata"),
    std::string_view("TensorProperties"),
    std::string_view("MEM_FORMAT_ENCODING"),
    std::string_view("ChunkShardingSpec"),
    std::string_view("EnumerableShardingSpec"),
    std::string_view("_remote_device"),
    std::string_view("Metadata"),
    std::string_view("TensorStorageMetadata"),
    std::string_view("BytesStorageMetadata"),
    std::string_view("ChunkStorageMetadata"),
    std::string_view("_MEM_FORMAT_ENCODING"),
    std::string_view("MetadataIndex"),
    std::string_view("StorageMeta"),
    std::string_view("_StorageInfo"),
    std::string_view("SavePlan"),
    std::string_view("WriteItem"),
    std::string_view("WriteItemType"),
    std::string_view("TensorWriteData"),
};

constexpr std::array kCodeModules = {
    std::string_view("os"),
    std::string_view("posix"),
    std::string_view("nt"),
    std::string_view("sys"),
    std::string_view("subprocess"),
    std::string_view("runpy"),
    std::string_view("pip"),
    std::string_view("socket"),
    std::string_view("shutil"),
    std::string_view("importlib"),
    std::string_view("pickle"),
    std::string_view("_pickle"),
    std::string_view("webbrowser"),
    std::string_view("ctypes"),
    std::string_view("code"),
    std::string_view("timeit"),
    std::string_view("pty"),
    std::string_view("commands"),
    std::string_view("multiprocessing"),
    std::string_view("asyncio"),
    std::string_view("requests"),
    std::string_view("urllib"),
    std::string_view("http"),
    std::string_view("bdb"),
    std::string_view("pdb"),
    std::string_view("cProfile"),
    std::string_view("profile"),
    std::string_view("trace"),
    std::string_view("operator"),
    std::string_view("_operator"),
    std::string_view("marshal"),
    std::string_view("platform"),
    std::string_view("signal"),
};

constexpr std::array kCodeBuiltins = {
    std::string_view("eval"),    std::string_view("exec"),       std::string_view("compile"),
    std::string_view("open"),    std::string_view("__import__"), std::string_view("execfile"),
    std::string_view("input"),   std::string_view("apply"),      std::string_view("breakpoint"),
    std::string_view("globals"), std::string_view("vars"),       std::string_view("map"),
    std::string_view("delattr"), std::string_view("setattr"),
};

constexpr std::array kCodeFunctions = {
    Known{"torch", "load"},
    Known{"torch.hub", "load"},
    Known{"torch.serialization", "load"},
    Known{"numpy.testing._private.utils", "runstring"},
    Known{"numpy", "load"},
    Known{"numpy.f2py.crackfortran", "myeval"},
    Known{"torch.jit.unsupported_tensor_ops", "execWrapper"},
};

bool is_listed(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Whether a name with dots reaches through or to something that runs code.
bool reaches_code(std::string_view module, std::string_view name) {
  if (name.find('.') == std::string_view::npos) return false;
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (is_listed(kCodeModules, part) || is_listed(kCodeBuiltins, part)) return true;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  const std::string whole = fmt::format(".{}.{}.", module, name);
  return std::ranges::any_of(kCodeFunctions, [&](const Known& row) {
    return whole.find(fmt::format(".{}.{}.", row.module, row.name)) != std::string::npos;
  });
}

bool is_state_only(std::string_view module) { return module.starts_with("__torch__"); }

bool is_place(std::string_view module, std::string_view name) {
  return module.starts_with("torch.distributed.") &&
         std::find(kPlaces.begin(), kPlaces.end(), name) != kPlaces.end();
}

/// `megatron.core.enums` and the like: the arguments of a run hold members of these enumerations.
bool is_enumeration(std::string_view module, std::string_view name) {
  return module.starts_with("megatron.") && module.ends_with(".enums") &&
         name.find('.') == std::string_view::npos;
}

}  // namespace

GlobalClass classify(const Global& global) {
  const std::string_view module = global.module;
  const std::string_view name = global.name;
  if (global.computed) return GlobalClass::code;
  const auto same = [&](const Known& row) { return row.module == module && row.name == name; };
  if (std::ranges::any_of(kData, same)) return GlobalClass::data;
  if (reaches_code(module, name)) return GlobalClass::code;
  if (is_state_only(module) || is_enumeration(module, name) || is_place(module, name)) {
    return GlobalClass::data;
  }
  if (is_listed(kCodeModules, module.substr(0, module.find('.')))) return GlobalClass::code;
  if (module == "builtins" && is_listed(kCodeBuiltins, name)) return GlobalClass::code;
  if (std::any_of(kCodeFunctions.begin(), kCodeFunctions.end(), same)) return GlobalClass::code;
  return GlobalClass::unknown;
}

}  // namespace ttcheck::formats
