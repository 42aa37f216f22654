// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/data_glm.hpp"

namespace dpsosp {

/// A table of the caller's own, in CSV or NPY: a row a record.
struct OwnTable {
  std::vector<std::string> columns;
  Matrix values;  ///< n × columns
};
/// \throws InputError "FILE, line N: ..." for what is no finite number, and for a table without
/// rows
OwnTable read_own_table(const std::filesystem::path& file);

/// Generalised linear models of the caller's own table (docs/own-data.md).
class OwnGlm final : public DataGlmFamily {
 public:
  std::string_view name() const override { return "own-glm"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override;
  std::string missing() const override;
  int numbers_version() const override { return 2; }

  std::string data;      ///< path
  std::string label;     ///< name of its column; empty: the last
  double longest = 1.0;  ///< public bound of a record's features

 protected:
  Fields data_fields() override;
  Index available() const override;
  Index raw_features() const override;
  double gap_attained() const override { return 1.0; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  GlmData load(const std::vector<Index>& rows) const override;

 private:
  const OwnTable& table() const;
  Index label_column() const;
  mutable std::shared_ptr<const OwnTable> table_;
};

}  // namespace dpsosp
