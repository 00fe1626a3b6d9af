// SPDX-License-Identifier: Apache-2.0
#pragma once
// Canonical names of the keys of a distributed checkpoint. A key is the dotted path into the nested
// state that was saved: `model.<parameter>`, `optim.state.<parameter>.exp_avg`,
// `optim.param_groups.0.lr` (torch/distributed/checkpoint/_nested_dict.py); optimizers may be
// flattened, `optim.param_groups.<parameter>.lr` (state_dict.py, flatten_optimizer_state_dict).

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/finding.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dcp/dotted_names.hpp"
#include "formats/dcp/metadata.hpp"

namespace ttcheck::formats {

/// What a key means.
struct DcpKey {
  enum class Role : std::uint8_t { plain, state, option, groups };
  Role role = Role::plain;
  std::string name;       ///< plain: canonical
  std::string optimizer;  ///< state, option and groups: the path of the optimizer, may be empty
  std::string owner;      ///< state: parameter, or its number; option: the group
  std::string field;      ///< state and option
};

class DcpNames {
 public:
  /// Names the keys in the tables of one checkpoint (one, or one a rank).
  explicit DcpNames(const std::vector<const DcpMetadata*>& tables);
  DcpNames(const DcpNames&) = delete;
  DcpNames& operator=(const DcpNames&) = delete;

  DcpKey key(std::string_view key) const;

  /// True for a key of neither an optimizer's state nor its options.
  bool is_plain(std::string_view key) const;

  /// Optimizers that there are, sorted.
  const std::vector<std::string>& optimizers() const { return optimizers_; }

  /// Gives the numbers of an optimizer's parameters their names, by order and shape. `groups` are
  /// the numbers of each group as its `params` list them. Adds to `findings` what is not certain.
  void name_numbers(const std::string& optimizer,
                    const std::vector<std::vector<std::string>>& groups,
                    std::vector<Finding>& findings);

  /// Canonical name of a tensor: `<parameter>@<field>` of optimizer state.
  std::string tensor(std::string_view key) const;

  /// Says, once, which keys would have the name of another one, and are `<name>#<n>`.
  std::vector<Finding> take_findings() { return findings_.take(); }

  /// Names of the model's tensors, in the order of the model where it is known.
  const std::vector<std::string>& parameters() const { return parameters_; }

  /// The parameters that were saved with their options, by optimizer, in the order of its groups as
  /// the paths keep it (torch state_dict.py, _flatten_optim_state_dict).
  std::map<std::string, std::vector<std::string>> option_owners() const;

 private:
  /// What the tables say of a key.
  struct Entry {
    const std::vector<std::string>* path = nullptr;  ///< null: none
    const DcpTensor* tensor = nullptr;               ///< of a plain key; null: none
  };

  void find_optimizers();
  std::vector<Entry> list_plain();
  void find_container(const std::vector<Entry>& plain);
  void list_parameters(std::vector<Entry> plain);
  struct Below {
    DcpKey::Role role;
    std::string_view optimizer;  ///< of the key
    std::string_view rest;       ///< of the key, below the optimizer
  };
  std::optional<Below> below_any_optimizer(std::string_view key) const;
  void split_state(std::string_view key, std::string_view rest, DcpKey& out) const;
  const std::vector<std::string>* path_of(std::string_view key) const;
  bool in_container(std::string_view key, const std::vector<std::string>* path) const;
  std::string canonical(std::string_view key, const std::vector<std::string>* path) const;
  std::string kept_apart(const DcpTensor& tensor, const std::string& taken);

  const std::vector<const DcpMetadata*> tables_;
  std::vector<std::string> optimizers_;
  DottedNames by_parts_;     ///< the same
  NameViewMap<Entry> keys_;  ///< of the tables
  std::string container_;    ///< with its dot; empty: none
  bool parallel_ = false;    ///< all parameters are below `module.`
  std::vector<std::string> parameters_;
  DottedNames parameters_by_parts_;
  NameViewMap<const DcpTensor*> known_;  ///< by what lies in parameters_
  NameViewMap<std::string> apart_;       ///< names of keys that have their own
  NameMap<int> namesakes_;               ///< the number that the next one gets
  Findings findings_;
  NameMap<std::string> numbers_;  ///< `<optimizer>\n<number>`: name
};

}  // namespace ttcheck::formats
