// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/reproduction.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "summary.hpp"

namespace dpsosp {
namespace {

template <class T>
void append(std::vector<T>& list, std::vector<T> more) {
  for (T& entry : more) list.push_back(std::move(entry));
}

}  // namespace

Collection collect(const std::vector<Reproduction>& reproductions) {
  Collection all;
  std::vector<ExhibitEntry> exhibits;
  for (const Reproduction& r : reproductions) {
    const std::string folder(r.texts.key);
    append(all.catalogue.sweeps, r.texts.sweeps);
    append(all.catalogue.probes, r.probes);
    append(exhibits, r.exhibits);
    append(all.claims.predicates, r.predicates);
    if (!r.texts.claims.empty()) {
      std::vector<Claim> claims = parse_claims(r.texts.claims, folder + "/claims.toml");
      if (!r.texts.arguments.empty())
        add_arguments(r.texts.arguments, folder + "/arguments.toml", claims);
      append(all.claims.claims, std::move(claims));
    }
    if (!r.texts.tables.empty()) append(all.tables, parse_tables(r.texts));
  }
  for (const Claim& c : all.claims.claims)
    for (const ClaimedSlope& s : c.slopes)
      all.catalogue.exponents.push_back(
          {c.id, s.axis, s.exponent, s.part, s.arm, s.metric, s.rivals, s.solved});
  // In the order of their file names, whichever paper they belong to.
  std::ranges::sort(all.catalogue.sweeps, {},
                    [](const BuiltInSweep& s) { return std::string(s.name) + ".toml"; });
  const auto claims = std::make_shared<const ClaimSet>(all.claims);
  all.catalogue.exhibits.push_back(claims_exhibit(claims));
  append(all.catalogue.exhibits, std::move(exhibits));
  return all;
}

}  // namespace dpsosp
