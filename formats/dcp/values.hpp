// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of a distributed checkpoint that are no tensors, as facts: each is an item of its own,
// by default a torch.save archive of one Python value.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/run.hpp"
#include "formats/dcp/items.hpp"
#include "formats/dcp/names.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

/// Reads values one after another and keeps what holds tensors.
class DcpValues {
 public:
  DcpValues(const DcpNames& names, State& state) : names_(names), state_(state) {}

  /// Adds the facts of all items of one table. `rank` is that of a table of one rank: values that
  /// differ from the first rank's carry it.
  void add(DcpData& data, std::int32_t rank);

  /// Adds the options of the optimizers as `optimizer.groups.<i>.<option>`: parameters that were
  /// saved with their own options form a group where all of these are the same. After all tables.
  void add_groups();

  /// The numbers or names that each group lists as `params`, by optimizer.
  std::map<std::string, std::vector<std::vector<std::string>>> parameters() const;

  /// Owns what the records of tensors within values point to.
  std::shared_ptr<void> owner() const { return kept_; }

 private:
  struct Item {
    DcpStream stream;
    TorchFile file;
  };
  using Options = std::map<std::string, Fact>;  ///< by field

  void read(DcpData& data, const DcpItem& item, std::int32_t rank);
  void take(const TorchFile& file, Value value, const DcpKey& key, std::int32_t rank, bool& kept);
  void take_groups(const TorchFile& file, Value list, const DcpKey& key, std::int32_t rank);
  void take_option(Value value, const DcpKey& key, const std::string& group,
                   const std::string& field, std::int32_t rank);
  void add_fact(Fact fact, std::int32_t rank);

  const DcpNames& names_;
  State& state_;
  std::size_t read_ = 0;
  bool cut_ = false;             ///< items were passed over: too many
  NameMap<std::size_t> places_;  ///< of facts by name
  std::map<std::string, std::vector<std::pair<std::string, Options>>> options_;  ///< by optimizer
  std::map<std::string, NameMap<std::size_t>> groups_;
  std::map<std::string, std::map<std::string, std::vector<std::string>>> parameters_;
  std::shared_ptr<std::vector<std::unique_ptr<Item>>> kept_ =
      std::make_shared<std::vector<std::unique_ptr<Item>>>();
};

}  // namespace ttcheck::formats
