// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/randhie_glm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/number_table.hpp"
#include "dpsosp/trusted/encode.hpp"

namespace dpsosp {
namespace {

struct Feature {
  const char* column;
  double largest;  ///< of its range [0, largest], public (docs/data.md); beyond is cut
};
const std::array<Feature, 9> features{{
    {"lncoins", std::log(101.0)},  // ln(1 + coinsurance), at most 100 %
    {"idp", 1},                    // individual deductible plan
    {"lpi", 8},                    // ln of the yearly participation payment, below e^8 dollars
    {"fmde", std::log(4000.0)},    // ln(largest expenditure/share), at most 1000 $ at 25 %
    {"physlm", 1},                 // physical limitation
    {"disea", 60},                 // index of chronic diseases
    {"hlthg", 1},                  // health good
    {"hlthf", 1},                  // fair
    {"hlthp", 1},                  // poor
}};

struct RandhieEncoder {
  struct Facts {
    RandhieGlm::Target target;
    RecordEnding ending;
  };
  static Index width(const Facts& facts) {
    return std::ssize(features) + (facts.ending.bias ? 1 : 0);
  }
  /// \param cells  of mdvis and the features
  static double encode(const Facts& facts, ConstVectorRef cells, double visits, VectorRef column) {
    for (std::size_t j = 0; j < features.size(); ++j) {
      const auto at = static_cast<Index>(j);
      column[at] = std::clamp(cells[at + 1] / features[j].largest, 0.0, 1.0) / 3;
    }
    const double counted = std::max(visits, 0.0);
    return facts.ending.finish(column,
                               facts.target == RandhieGlm::Target::any
                                   ? (counted > 0 ? 1.0 : 0.0)
                                   : std::clamp(std::log1p(counted) / std::log(101.0), 0.0, 1.0));
  }
};

}  // namespace

std::string_view RandhieGlm::summary() const {
  return "visits to a doctor by phi(<w,x>; y); RAND health insurance experiment, d = 10 (./run "
         "data)";
}

ProblemNotes RandhieGlm::notes() const {
  return {
      .group = "Real data",
      .formula =
          "f(w; x, y) = φ(⟨w, x⟩; y) + λ Σ_j r(w_j), φ the loss of `loss`, r the `penalty`. x: "
          "nine "
          "columns (coinsurance, deductible, payments, limitation, diseases, health), each "
          "divided by the end of its range (docs/data.md), cut to [0, 1], and by 3, so ‖x‖ ≤ 1; "
          "no statistic of the data enters. With `bias`, (x, 1)/√2. y = 1 for at least one visit "
          "in the year (`target` = any) or ln(1 + visits)/ln(101) (`visits`). n ≤ 20190 records "
          "in an order drawn from the data seed, or the first n, of which those of a person are "
          "neighbours.",
      .source =
          "RAND Health Insurance Experiment (public domain), as in Cameron and Trivedi (2005); "
          "randhie.csv of Debian's python3-statsmodels",
      .critical_points =
          "Nothing is known beyond the constants. A record is a person-year: privacy "
          "is for one of them, not for all years of a person."};
}

Fields RandhieGlm::data_fields() {
  return {field("target", target, "y = 1 for at least one visit, or ln(1 + visits)/ln(101)")};
}

std::vector<std::filesystem::path> RandhieGlm::files() const { return {"randhie/randhie.csv"}; }

GlmData RandhieGlm::load(const std::vector<Index>& rows, const RecordEnding& ending) const {
  const std::filesystem::path path = data_folder() / files().front();
  std::vector<std::string> columns{"mdvis"};
  for (const Feature& f : features) columns.emplace_back(f.column);
  const Matrix table = read_table(path, columns).records;
  if (table.cols() != available())
    throw InputError(
        fmt::format("{}: {} records, expected {}", path.string(), table.cols(), available()));
  return encoded<RandhieEncoder>({target, ending}, table, table.row(0), rows);
}

}  // namespace dpsosp
