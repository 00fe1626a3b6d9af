// SPDX-License-Identifier: Apache-2.0
#include "formats/dumps/hf_debug/value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/arrays/safetensors_header.hpp"
#include "formats/bytes/held_bytes.hpp"
#include "formats/dumps/printed_tensor.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

constexpr double kStatisticsGrain = 1e-4;  // they are printed with four digits behind the point

DType dtype_of(const Json& node) {
  constexpr std::string_view kModule = "torch.";
  std::string_view word = node.string();
  if (word.starts_with(kModule)) word.remove_prefix(kModule.size());
  const auto dtype = torch_dtype_named(word);
  if (!dtype) node.fail(fmt::format("a dtype of torch was expected, found '{}'", node.string()));
  return *dtype;
}

/// `torch.Size([1, 7, 16])`.
Shape shape_of(const Json& node) {
  const std::string_view text = node.string();
  const auto fail = [&] { node.fail(fmt::format("a torch.Size was expected, found '{}'", text)); };
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) fail();
  std::string_view rest = text.substr(begin + 1, end - begin - 1);
  Shape shape;
  while (!rest.empty()) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc{} || extent < 0) fail();
    shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    if (rest.starts_with(", ")) rest.remove_prefix(2);
  }
  static_cast<void>(element_count(shape));
  return shape;
}

std::optional<double> number_of(const Json& node, std::string_view key) {
  const auto text = node.find(key);
  return text && text->is(Json::Kind::string) ? printed_number(text->string()) : std::nullopt;
}

/// The norm follows from mean and deviation (which torch divides by n - 1).
std::optional<StoredStats> stats_of(const Json& node, const Shape& shape) {
  const auto mean = number_of(node, "mean");
  const auto deviation = number_of(node, "std");
  const auto min = number_of(node, "min");
  const auto max = number_of(node, "max");
  StoredStats stats;
  stats.numel = element_count(shape);
  if (!mean || !deviation || !min || !max || stats.numel == 0) return std::nullopt;
  stats.min = *min;
  stats.max = *max;
  const auto n = static_cast<double>(stats.numel);
  const double spread = stats.numel == 1 ? 0 : *deviation * *deviation * (n - 1);
  stats.l2 = std::sqrt(n * *mean * *mean + spread);
  stats.nan = std::isnan(*min) ? 1 : 0;
  stats.inf = std::isinf(*min) || std::isinf(*max) ? 1 : 0;
  return stats;
}

}  // namespace

Record described_record(const DebugValue& value) {
  Record record;
  record.identity = {value.name(), Phase::forward, 0, value.call};
  record.kind = value.is_input() ? Kind::input : Kind::output;
  record.dtype = record.piece.dtype = dtype_of(*value.node.find("dtype"));
  record.shape = shape_of(*value.node.find("shape"));
  record.stored = false;
  auto trace = std::make_shared<TraceRecord>();
  trace->stats = stats_of(value.node, record.shape);
  if (trace->stats) trace->grain = kStatisticsGrain;
  record.trace = std::move(trace);
  return record;
}

std::unique_ptr<const Source> take_printed(const Json& lines, Record& record) {
  std::string text;
  for (const Json line : lines.items()) text.append(line.string()).push_back('\n');
  PrintedTensor printed = parse_printed(text, record.dtype);
  PrintedParts parts = parts_of(printed, record.shape);
  auto trace = std::make_shared<TraceRecord>(*record.trace);
  trace->grain = printed.grain;
  for (const Box& hole : parts.holes) {
    trace->left_out = checked_add(trace->left_out, volume(hole));
  }
  record.trace = std::move(trace);
  record.piece.cells = std::move(parts.cells);
  record.holes = std::move(parts.holes);
  record.stored = true;
  auto source = std::make_unique<const HeldBytes>(std::move(printed.values), lines.where());
  record.piece.source = source.get();
  return source;
}

void take_saved(const Source& file, Record& record, std::vector<Finding>& findings) {
  SafetensorsHeader header = read_safetensors_header(file);
  if (header.tensors.size() != 1) {
    throw Error(fmt::format("one tensor was expected, found {}", header.tensors.size()),
                file.where(0));
  }
  const SafetensorsEntry& entry = header.tensors.front();
  if (entry.dtype != record.dtype || entry.shape != record.shape) {
    throw Error(fmt::format("the file holds {} [{}], the tree says {} [{}]", name(entry.dtype),
                            fmt::join(entry.shape, ", "), name(record.dtype),
                            fmt::join(record.shape, ", ")),
                file.where(entry.begin));
  }
  for (Finding& finding : header.findings) findings.push_back(std::move(finding));
  record.piece.source = &file;
  record.piece.offset = entry.begin;
  record.stored = true;
  auto trace = std::make_shared<TraceRecord>(*record.trace);
  trace->grain = 0;
  record.trace = std::move(trace);
}

std::string_view saved_file(const DebugValue& value) {
  const auto path = value.tensor ? value.node.find("value") : std::nullopt;
  if (!path || !path->is(Json::Kind::string)) return {};
  const std::string_view text = path->string();
  return text.substr(text.rfind('/') + 1);
}

}  // namespace ttcheck::formats
