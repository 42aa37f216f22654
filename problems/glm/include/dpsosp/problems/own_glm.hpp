// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/data_glm.hpp"
#include "dpsosp/problems/number_table.hpp"

namespace dpsosp {

/// A public range of a column.
struct ColumnRange {
  double least = 0, most = 0;
};

/// Generalised linear models of the caller's own table, CSV or NPY (docs/own-data.md). What a
/// record becomes depends on that record and on public settings alone.
class OwnGlm final : public DataGlmFamily {
 public:
  std::string_view name() const override { return "own-glm"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override;
  std::string missing() const override;
  int numbers_version() const override { return 2; }

  enum class Labels {
    numbers,  ///< y as it is written
    signs     ///< −1 and 1, which become 0 and 1
  };
  friend constexpr auto words_of(Labels) {
    using enum Labels;
    return word_list<Labels>("labels", {{numbers, "numbers"}, {signs, "signs"}});
  }

  std::string data;      ///< path
  std::string label;     ///< name of its column; empty: the last
  double longest = 1.0;  ///< public bound of a record's features
  std::string without;   ///< "NAME,...": columns that are no features, as one that numbers the rows
  std::string ranges;    ///< "NAME=LEAST:MOST,...": public ranges of columns, which become [-1, 1]
  Labels labels = Labels::numbers;

  // Public, as the names of the columns and the number of rows are.

  /// \throws InputError if the table cannot be read
  const NumberTable& table() const;
  /// Names of the features in the order of the weights, of which the last is the bias', if any.
  std::vector<std::string> feature_names() const;
  const std::string& label_name() const;
  /// ⟨w, x⟩ as constant + Σ_j weights_j x_j of the columns as the file has them, for records inside
  /// of their ranges that are not shortened.
  struct Score {
    std::vector<double> weights;
    double constant = 0;
  };
  Score score_of(ConstVectorRef w) const;

  // Not private: computed from the records without noise.

  /// ‖x‖/longest of the records of an instance that are shortened, and labels that are cut to the
  /// range of a formula.
  struct Shortened {
    Index records = 0, shortened = 0, labels_cut = 0;
    double median = 0, largest = 0;  ///< > 1 where any is
  };
  Shortened shortened(const InstanceSpec& spec) const;
  /// How the sign of the score tells labels that are 0 or 1.
  struct Judgement {
    Index records = 0;
    double accuracy = 0;        ///< share of the records with score > 0 if and only if y = 1
    double majority = 0;        ///< accuracy of the more frequent label
    std::optional<double> auc;  ///< ties count one half; none with one label alone
  };
  enum class Of { instance, others };
  /// Of an instance's records, or of the file's other ones. None for regression, for labels between
  /// 0 and 1, and without records.
  std::optional<Judgement> judge(const InstanceSpec& spec, ConstVectorRef w, Of of) const;
  /// Names of columns with one value alone.
  std::vector<std::string> constant_columns() const;

 protected:
  Fields data_fields() override;
  Index available() const override;
  Index raw_features() const override;
  double gap_attained() const override { return 1.0; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  GlmData load(const std::vector<Index>& rows, const RecordEnding& ending) const override;

 private:
  Index label_column() const;
  /// Those of x, ascending. \throws InputError
  std::vector<Index> feature_columns() const;
  /// By place in x. \throws InputError
  std::map<Index, ColumnRange> column_ranges() const;
  /// \throws CellRefused for the first in the file's order that is out of range
  void check_labels() const;

  mutable std::shared_ptr<const NumberTable> table_;
};

}  // namespace dpsosp
