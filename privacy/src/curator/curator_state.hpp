// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "curator.hpp"
#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/audited_curator.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "dpsosp/trusted/records.hpp"
#include "lattice.hpp"
#include "simulated_ranges.hpp"

namespace dpsosp::door {

/// What a curator and all its children share.
struct Curator::Shared {
  Ledger ledger;
  std::thread::id thread = std::this_thread::get_id();
  ClipLog* clip_log = nullptr;
  Departures departures;
  SimulatedRanges simulated;
  std::unordered_set<std::uint64_t> paths;  // of the keys of all curators so far
  bool rests_on_assumption = false;         // a release whose exactness nothing enforces
  Auditor* auditor = nullptr;               // of AuditedCurator alone
  std::unique_ptr<WordSource> words;        // of ReleaseCurator alone

  /// The charge of Gaussian noise as it is drawn: a discrete Gaussian has the same zCDP, and
  /// nothing else of a Gaussian is proved of it.
  Event as_drawn(const GaussianEvent& event) const {
    if (!words) return event;
    if (event.noise_multiplier < 5e-4)
      reject("release", "noise over sensitivity", event.noise_multiplier, ">= 5e-4");
    return ZcdpEvent{*zcdp(event)};
  }
  /// Refuses mechanisms that have floating-point noise only, where noise is exact.
  void refuse_if_exact(std::string_view query) const {
    if (words)
      throw InputError(fmt::format(
          "{}: a release has exact noise only for Gaussian queries on public batches; choose an "
          "algorithm with no other queries",
          query));
  }

  void list(LedgerEntry entry) {
    if (auditor != nullptr) auditor->charged(entry);
    ledger.append(std::move(entry));
  }
  void audit(const AuditedAnswer& what, VectorRef value) const {
    if (auditor != nullptr) auditor->answer(what, value);
  }
  void audit(const AuditedAnswer& what, double& value) const {
    if (auditor != nullptr) auditor->answer(what, Eigen::Map<Vector>(&value, 1));
  }
  void audit_exact(AuditedAnswer what, const LatticeVector& sum) const {
    if (auditor == nullptr) return;
    what.exact = true;
    Vector value(sum.size());
    sum.write(value);
    auditor->answer(what, value);
  }
  void audit_noisy(VectorRef value) const {
    if (auditor != nullptr) auditor->noisy(value);
  }
  void audit_noisy(double& value) const {
    if (auditor != nullptr) auditor->noisy(Eigen::Map<Vector>(&value, 1));
  }
};

/// A Gaussian query while it is answered.
struct Curator::Question {
  const char* name;
  const Batch& batch;
  GaussianPlan plan;
  /// The true sensitivity where a batch may be a single record.
  double lone_sensitivity;
  double isotropic = 1.0;     ///< deviation in every direction over that of the plan; √2 of GOE
  bool clipped_mean = false;  ///< a departure clips the mean of this query, not each record
  bool still = false;         ///< the answer is zero whatever the records are
  bool reads = true;          ///< the records are read
};

/// What a curator has of its own.
struct Curator::Own {
  Own(Source source, PublicFacts facts, std::string scope, RecordRange range, FilterRule rule,
      const StreamKey& key);

  const RecordSums& sums() const {
    return std::visit([](const auto* of) -> const RecordSums& { return *of; }, source);
  }
  /// Null where they are simulated.
  const AnyRecords* records() const {
    const auto* records = std::get_if<const AnyRecords*>(&source);
    return records != nullptr ? *records : nullptr;
  }
  /// Whether records' contributions depend on each other, so that no clip bounds one.
  bool mixed() const { return records() != nullptr && !records()->separate(); }
  bool simulated() const { return records() == nullptr; }

  Source source;  // what queries read: the root's, or projected ones
  std::shared_ptr<const RecordSums> projected;

  /// The filter's charge for an event; computed once for a run of equal events.
  double charge_of(const Event& event);
  /// Charges an event that is pure DP, to the pure account where there is room; the account, or
  /// none if it is refused. \throws UnsupportedError if the rule has no account for it
  std::optional<RangeFilter::Account> charge_pure(RecordRange charged, const Event& event,
                                                  double delta_extra = 0.0);

  std::shared_ptr<const void> identity = std::make_shared<char>();
  PublicFacts facts;
  std::string scope;
  RecordRange range;  // of the root's records
  FilterRule rule;
  RangeFilter filter;
  StreamKey key;
  Stream noise;
  Stream sampling;
  Stream choice;
  Index fresh_cursor;
  /// The last one where no handle of it is left, so that a loop allocates once.
  std::shared_ptr<Batch> new_batch();
  std::shared_ptr<Batch> drawn;

  std::uint64_t children = 0;
  Vector work;
  Vector rest;  // of queries that read twice
  std::optional<std::pair<Event, double>> last_charged;
};

}  // namespace dpsosp::door
