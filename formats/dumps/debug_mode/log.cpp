// SPDX-License-Identifier: Apache-2.0
// Only the indent tells what ran within what. The lines are read once, with a stack of scopes: a
// line closes those that are as deep as itself or deeper, and what is left on the stack is what
// it ran in. An op on DTensors, or a function of torch, may be printed at its caller's depth, and
// closes only the deeper ones, so that any number may pile up at one indent: what a scope is
// within it knows itself, and nothing walks the stack. The way back is not printed either. It
// begins where, outside of all modules, a scalar `ones_like` makes the gradient of the loss, or
// with a compiled graph that says `bwd`; a part of the model that runs by itself after that is
// recomputed there.
//
// An op on DTensors stands for all ranks and is not kept; the ops below it work on this rank's
// parts and are marked `scattered`. Lines of no known form, of more than 1 MiB, or cut off within
// arguments or hashes are counted, and the first one's place is kept.

#include "formats/dumps/debug_mode/log.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "formats/bytes/lines.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::string_view kArrow = "  ->  ";
constexpr std::string_view kLog = "  # {";
constexpr std::string_view kModule = "[nn.Mod";
constexpr std::string_view kRedistribute = "redistribute_input";

/// A line without its indent, told apart by how it starts.
enum class Form : std::uint8_t { blank, comment, module, note, placement, redistribute, op, other };

/// The name of an op, up to the bracket of its arguments; empty where there is none.
std::string_view op_name(std::string_view text) {
  // A function that torch prints as `<method 'sum' of ...>`.
  const std::size_t end = text.starts_with('<') ? text.find(">(") : text.find('(');
  if (end == std::string_view::npos || end == 0) return {};
  return text.substr(0, end + (text.starts_with('<') ? 1 : 0));
}

Form form_of(std::string_view text) {
  if (text.empty()) return Form::blank;
  if (text.starts_with('#')) return Form::comment;
  if (text.starts_with(kModule)) return Form::module;
  if (text.starts_with('[')) return Form::note;
  if (text.starts_with("-> output:")) return Form::placement;
  if (text.starts_with(kRedistribute)) return Form::redistribute;
  const std::string_view name = op_name(text);
  const bool spaced = name.find(' ') != std::string_view::npos && !name.starts_with('<');
  return name.empty() || spaced ? Form::other : Form::op;
}

/// The three parts of an op's line behind its name.
struct LineParts {
  std::string_view arguments, outputs, log;
};

LineParts parts_of_line(std::string_view text, std::size_t name) {
  LineParts parts;
  if (const std::size_t log = text.rfind(kLog); log != std::string_view::npos) {
    parts.log = text.substr(log + kLog.size() - 1);
    text = text.substr(0, log);
  }
  if (const std::size_t arrow = text.rfind(kArrow); arrow != std::string_view::npos) {
    parts.outputs = text.substr(arrow + kArrow.size());
    text = text.substr(0, arrow);
  }
  parts.arguments = inside_brackets(text.substr(name)).value_or(std::string_view());
  return parts;
}

/// `28.0`: a norm is a real number, a hash an integer; of several functions both stand in a tuple.
std::optional<double> norm_in(std::string_view hash) {
  std::string_view text = hash;
  if (const auto inside = inside_brackets(hash)) {
    const auto items = split_items(*inside);
    if (items.empty()) return std::nullopt;
    text = items.front();
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  const bool real = text.find_first_of(".ein") != std::string_view::npos;
  return whole && real ? std::optional(number) : std::nullopt;
}

std::optional<LoggedValue> logged_value(std::string_view text, std::string_view hash) {
  const auto tensor = logged_tensor(text);
  if (!tensor) return std::nullopt;
  LoggedValue value{*tensor, {}, {}};
  if (hash.empty() || hash == "None") return value;
  value.hash = hash;
  value.norm = norm_in(hash);
  return value;
}

/// Whether text is of several outputs or arguments; a hash of two functions is a tuple as well.
bool is_list(std::string_view text) { return text.starts_with('[') || text.starts_with('('); }

/// `pad=t: f32[4]` without the word of a keyword argument.
std::string_view without_keyword(std::string_view item) {
  const std::size_t equals = item.find('=');
  const bool word = equals != std::string_view::npos &&
                    item.substr(0, equals).find_first_of(":'\"[( ") == std::string_view::npos;
  return word ? item.substr(equals + 1) : item;
}

using LoggedValues = std::vector<std::optional<LoggedValue>>;

/// Each item with its hash; of a list the items within it.
LoggedValues values_of(const std::vector<std::string_view>& items,
                       const std::vector<std::string_view>& hashes) {
  LoggedValues values;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view hash = i < hashes.size() ? hashes[i] : std::string_view();
    const std::string_view item = without_keyword(items[i]);
    const auto inside = is_list(item) ? inside_brackets(item) : std::nullopt;
    if (!inside) {
      values.push_back(logged_value(item, hash));
      continue;
    }
    const auto marks = split_items(inside_brackets(hash).value_or(std::string_view()));
    const auto inner = split_items(*inside);
    for (std::size_t k = 0; k < inner.size(); ++k) {
      values.push_back(logged_value(inner[k], k < marks.size() ? marks[k] : std::string_view()));
    }
  }
  return values;
}

/// Hashes of arguments: a tuple of those by place and a dict of those by keyword, in their order.
std::vector<std::string_view> hashes_of_arguments(std::string_view log) {
  const auto both = split_items(
      inside_brackets(dict_value(log, "input_hash").value_or("")).value_or(std::string_view()));
  if (both.empty()) return {};
  auto hashes = split_items(inside_brackets(both[0]).value_or(std::string_view()));
  if (both.size() < 2) return hashes;
  for (const std::string_view item :
       split_items(inside_brackets(both[1]).value_or(std::string_view()))) {
    const std::size_t colon = item.find(": ");
    hashes.push_back(colon == std::string_view::npos ? item : item.substr(colon + 2));
  }
  return hashes;
}

/// False for a line that was cut within its arguments or its hashes.
bool is_whole(std::string_view text) {
  const std::size_t name = op_name(text).size();
  const bool log_ends = text.rfind(kLog) == std::string_view::npos || text.ends_with('}');
  const std::size_t arrow = text.find(kArrow);
  const std::size_t log = text.find(kLog);
  const std::string_view arguments = text.substr(name, std::min(arrow, log) - name);
  return log_ends && inside_brackets(arguments).has_value();
}

LoggedOp op_of_line(std::string_view text) {
  LoggedOp op;
  op.name = op_name(text);
  const LineParts parts = parts_of_line(text, op.name.size());
  op.inputs = values_of(split_items(parts.arguments), hashes_of_arguments(parts.log));
  const std::string_view hash = dict_value(parts.log, "hash").value_or(std::string_view());
  const auto several = is_list(parts.outputs) ? inside_brackets(parts.outputs) : std::nullopt;
  op.outputs =
      several ? values_of(split_items(*several), split_items(inside_brackets(hash).value_or("")))
              : LoggedValues{logged_value(parts.outputs, hash)};
  return op;
}

bool has_tensor(const LoggedValues& values) {
  return std::ranges::any_of(values, [](const auto& value) { return value.has_value(); });
}

bool is_distributed(const LoggedValues& values) {
  return std::ranges::any_of(values,
                             [](const auto& value) { return value && value->tensor.distributed; });
}

bool is_hashed(const LoggedValues& values) {
  return std::ranges::any_of(values,
                             [](const auto& value) { return value && !value->hash.empty(); });
}

/// Follows modules and phases down the lines.
class LogReader {
 public:
  void line(const Line& line) {
    const std::size_t indent = std::min(line.text.find_first_not_of(' '), line.text.size());
    const std::string_view text = std::string_view(line.text).substr(indent);
    const Form form = form_of(text);
    if (!line.ended && is_cut(text, form)) return odd(line);
    if (form == Form::blank || form == Form::comment || form == Form::placement) return;
    if (form == Form::other || line.cut || (form == Form::op && !is_whole(text))) return odd(line);
    // What is called at its caller's depth stands below its own calls, too: DTensor's ops, and
    // functions of torch.
    const bool inside = form == Form::op && below_its_calls(text);
    leave(indent + (inside ? 1 : 0));
    if (form == Form::module) return enter(text, indent);
    if (form == Form::note) return;
    if (form == Form::redistribute) return push(indent, module(), true);
    add(text, indent, line.offset);
  }

  DebugModeLog take() { return std::move(log_); }

 private:
  struct Scope {
    std::size_t indent = 0;
    std::string_view module;        ///< of the log's
    bool scattered = false;         ///< within it, or within what it ran in, others work on parts
    std::string op = {};            ///< that stands for others, on DTensors
    std::vector<Shape> whole = {};  ///< of what it took
  };

  static bool below_its_calls(std::string_view text) {
    return op_name(text).find("::") == std::string_view::npos ||
           text.find("(dt: ") != std::string_view::npos ||
           text.find("(dt$") != std::string_view::npos ||
           text.find(" dt: ") != std::string_view::npos ||
           text.find(" dt$") != std::string_view::npos;
  }

  /// Whether a last line was cut off: the writer ends none in blanks, and gives each op a hash or
  /// none.
  bool is_cut(std::string_view text, Form form) const {
    if (form == Form::blank) return true;
    return form == Form::op && log_.hashed && !below_its_calls(text) &&
           text.find(kLog) == std::string_view::npos;
  }

  void odd(const Line& line) {
    if (log_.not_ours++ == 0) log_.first_odd = line.offset;
  }

  void leave(std::size_t indent) {
    while (!scopes_.empty() && scopes_.back().indent >= indent) scopes_.pop_back();
  }

  void push(std::size_t indent, std::string_view module, bool scatters) {
    scopes_.push_back({indent, module, scatters || scattered()});
  }

  std::string_view module() const {
    return scopes_.empty() ? std::string_view() : scopes_.back().module;
  }

  bool scattered() const { return !scopes_.empty() && scopes_.back().scattered; }

  /// `[nn.Mod] Model.layers.0`; a compiled graph says that it runs backward. Once the whole model
  /// ran, a part of it that runs by itself on the way back is recomputed there (activation
  /// checkpointing).
  void enter(std::string_view text, std::size_t indent) {
    const std::size_t end = text.find("] ");
    std::string_view path = end == std::string_view::npos ? "" : text.substr(end + 2);
    const bool backward = text.substr(0, std::min(end, text.size())).find("bwd") != text.npos;
    const std::size_t dot = path.find('.');
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    const bool again = seen_whole_ && phase_ == Phase::backward && !path.empty();
    phase_ = backward || again ? Phase::backward : Phase::forward;
    seen_module_ = true;
    seen_whole_ = seen_whole_ || path.empty();
    log_.modules.push_back(std::make_unique<const std::string>(path));
    push(indent, *log_.modules.back(), false);
  }

  /// Outside of all modules the gradient of the loss, a one, starts the way back.
  void see_phase(const LoggedOp& op) {
    if (!scopes_.empty() || !seen_module_) return;
    if (op.name == "aten::ones_like" && op.outputs.size() == 1 && op.outputs[0] &&
        op.outputs[0]->tensor.shape.empty()) {
      phase_ = Phase::backward;
    }
  }

  static std::vector<Shape> shapes_of(const LoggedValues& values) {
    std::vector<Shape> shapes;
    for (const auto& value : values) shapes.push_back(value ? value->tensor.shape : Shape());
    return shapes;
  }

  /// True where `op` took a smaller part of a DTensor than the op above it, which stands for all
  /// ranks. How many there are it does not say: the last part of an uneven cut is any size.
  bool took_a_part(const LoggedOp& op) const {
    if (scopes_.empty() || scopes_.back().op != op.name) return false;
    const auto is_part = [](const Shape& part, const Shape& whole) {
      return part != whole && std::ranges::equal(part, whole, std::less_equal<std::int64_t>());
    };
    const std::vector<Shape> parts = shapes_of(op.inputs);
    const std::vector<Shape>& wholes = scopes_.back().whole;
    for (std::size_t i = 0; i < std::min(parts.size(), wholes.size()); ++i) {
      if (is_part(parts[i], wholes[i])) return true;
    }
    return false;
  }

  void add(std::string_view text, std::size_t indent, std::uint64_t offset) {
    LoggedOp op = op_of_line(text);
    op.module = module();
    op.scattered = scattered();
    op.offset = offset + indent;
    see_phase(op);
    op.phase = phase_;
    const bool distributed = is_distributed(op.inputs) || is_distributed(op.outputs);
    log_.one_of_several = log_.one_of_several || (!distributed && took_a_part(op));
    push(indent, op.module, distributed);
    if (distributed) {
      scopes_.back().op = op.name;
      scopes_.back().whole = shapes_of(op.inputs);
    }
    log_.hashed = log_.hashed || is_hashed(op.inputs) || is_hashed(op.outputs);
    if (!distributed && (has_tensor(op.inputs) || has_tensor(op.outputs))) {
      log_.ops.push_back(std::move(op));
    }
  }

  DebugModeLog log_;
  std::vector<Scope> scopes_;
  Phase phase_ = Phase::forward;
  bool seen_module_ = false, seen_whole_ = false;
};

}  // namespace

DebugModeLog read_debug_mode(const Source& file) {
  LogReader reader;
  for_each_line(file, kLongestLine, [&](const Line& line) { reader.line(line); });
  return reader.take();
}

bool is_debug_mode(std::string_view head) {
  bool ours = false;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    const bool whole = end != std::string_view::npos;
    head.remove_prefix(whole ? end + 1 : head.size());
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(indent);
    const Form form = form_of(line);
    if (form == Form::blank || form == Form::comment) continue;
    if (form == Form::other || indent < 2 || indent % 2 != 0) return ours && !whole;
    const bool tensors =
        line.find("t: ") != std::string_view::npos || line.find("t$") != std::string_view::npos;
    ours = ours || form == Form::module || (form == Form::op && tensors);
  }
  return ours;
}

}  // namespace ttcheck::formats
