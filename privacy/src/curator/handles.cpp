// SPDX-License-Identifier: Apache-2.0
// The classes that algorithms see: handles, which hand every call on.
#include "handles.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/audited_curator.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/trusted/records.hpp"
#include "exponential_mechanism.hpp"
#include "gibbs_sampler.hpp"
#include "hessian_stream.hpp"
#include "line_search.hpp"
#include "stationarity_test.hpp"
#include "tree_stream.hpp"

namespace dpsosp {
namespace {

/// What a handle stands for, asked in the curator's own thread.
door::Curator& ask(Curator& curator) {
  door::Curator& own = Handles::of(curator);
  own.expect_own_thread();
  return own;
}
const door::Curator& ask(const Curator& curator) {
  const door::Curator& own = Handles::of(curator);
  own.expect_own_thread();
  return own;
}
template <class Session>
Session& ask(const std::unique_ptr<Session>& session) {
  session->curator().expect_own_thread();
  return *session;
}

std::unique_ptr<door::Curator> unsound(const PublicFacts& facts, door::Source source, StreamKey key,
                                       Departures departures, ClipLog* clip_log) {
  departures.no_filter = true;
  return std::make_unique<door::Curator>(facts, source, FilterRule{}, key, clip_log, departures);
}

}  // namespace

BatchPolicy Batch::policy() const { return Handles::of(*this).policy; }

Curator::Curator(std::unique_ptr<door::Curator> curator)
    : curator_(std::move(curator)), facts_(curator_->facts()) {}
Curator::Curator(const PublicFacts& facts, const AnyRecords& records, const FilterRule& rule,
                 StreamKey key, ClipLog* clip_log)
    : Curator(std::make_unique<door::Curator>(facts, &records, rule, key, clip_log)) {}
Curator::~Curator() = default;
Curator::Curator(Curator&&) noexcept = default;

Remaining Curator::remaining() const { return ask(*this).remaining(); }
Index Curator::fresh_records() const { return ask(*this).fresh_records(); }
Ledger Curator::ledger() const { return ask(*this).ledger(); }
PrivacyLabel Curator::label() const { return ask(*this).label(); }
bool Curator::answers_second_order() const { return curator_->answers_second_order(); }

Batch Curator::draw(const BatchPolicy& policy, BatchUse use) {
  return Handles::of(ask(*this).draw(policy, use));
}
void Curator::gradient(const Point& point, const Batch& batch, const GradientQuery& query,
                       VectorRef out) {
  ask(*this).answer("gradient", point, nullptr, Handles::of(batch), query, out);
}
void Curator::gradient_difference(const Point& point, const Point& previous, const Batch& batch,
                                  const GradientQuery& query, VectorRef out) {
  ask(*this).answer("gradient_difference", point, &previous, Handles::of(batch), query, out);
}
void Curator::gradient_combination(double gamma, const Point& point, const Point& previous,
                                   const Batch& batch, const CombinationQuery& query,
                                   VectorRef out) {
  ask(*this).gradient_combination(gamma, point, previous, Handles::of(batch), query, out);
}
void Curator::hessian(const Point& point, const Batch& batch, const HessianQuery& query,
                      MatrixRef out) {
  ask(*this).hessian(point, Handles::of(batch), query, out);
}
void Curator::hessian_product(const Point& point, ConstVectorRef v, const Batch& batch,
                              const HessianProductQuery& query, VectorRef out) {
  ask(*this).hessian_product(point, v, Handles::of(batch), query, out);
}
Curator Curator::child(const ChildSpec& spec) { return Handles::of(ask(*this).child(spec)); }

SimulatedCurator::SimulatedCurator(const PublicFacts& facts, const SimulatedSums& sums,
                                   const FilterRule& rule, StreamKey key, ClipLog* clip_log)
    : Curator(std::make_unique<door::Curator>(facts, &sums, rule, key, clip_log)) {}

UnsoundCurator::UnsoundCurator(const PublicFacts& facts, const AnyRecords& records, StreamKey key,
                               const Departures& departures, ClipLog* clip_log)
    : Curator(unsound(facts, &records, key, departures, clip_log)) {}
UnsoundCurator::UnsoundCurator(const PublicFacts& facts, const SimulatedSums& sums, StreamKey key,
                               const Departures& departures, ClipLog* clip_log)
    : Curator(unsound(facts, &sums, key, departures, clip_log)) {}

AuditedCurator::AuditedCurator(const PublicFacts& facts, const AnyRecords& records,
                               const FilterRule& rule, StreamKey key, Auditor& auditor,
                               ClipLog& log, std::unique_ptr<WordSource> words)
    : Curator(std::make_unique<door::Curator>(facts, &records, rule, key, &log, Departures{},
                                              &auditor, std::move(words))) {}

ReleaseCurator::ReleaseCurator(const PublicFacts& facts, const AnyRecords& records,
                               const FilterRule& rule, StreamKey key,
                               std::unique_ptr<WordSource> words, ClipLog* clip_log)
    : Curator([&] {
        if (rule.calibrator == Calibrator::exact_gaussian)
          throw InputError(
              "release: calibrator = exact-gaussian, expected cks, bun-steinke or rdp; a discrete "
              "Gaussian has the zCDP of a Gaussian, not its exact curve");
        return std::make_unique<door::Curator>(facts, &records, rule, key, clip_log, Departures{},
                                               nullptr, std::move(words));
      }()) {}

TreeStream::TreeStream(Curator& curator, double sigma, std::int64_t max_leaves)
    : session_(std::make_unique<door::TreeStream>(ask(curator), sigma, max_leaves)) {}
TreeStream::~TreeStream() = default;
void TreeStream::restart() { ask(session_).restart(); }
void TreeStream::push_gradient(const Point& point, const Batch& batch, const GradientQuery& query,
                               VectorRef out) {
  ask(session_).push(point, nullptr, Handles::of(batch), query, out);
}
void TreeStream::push_difference(const Point& point, const Point& previous, const Batch& batch,
                                 const GradientQuery& query, VectorRef out) {
  ask(session_).push(point, &previous, Handles::of(batch), query, out);
}
std::int64_t TreeStream::leaves() const { return session_->leaves(); }

HessianStream::HessianStream(Curator& curator, HessianMode mode)
    : session_(std::make_unique<door::HessianStream>(ask(curator), mode)) {}
HessianStream::~HessianStream() = default;
HessianStream::HessianStream(HessianStream&&) noexcept = default;
HessianStream& HessianStream::operator=(HessianStream&&) noexcept = default;
HessianStream::HessianStream(const HessianStream& other)
    : session_(std::make_unique<door::HessianStream>(ask(other.session_))) {}
HessianStream& HessianStream::operator=(const HessianStream& other) {
  ask(session_) = ask(other.session_);
  return *this;
}
void HessianStream::refresh(const Point& point, const Batch& batch, double limit) {
  ask(session_).refresh(point, Handles::of(batch), limit);
}
void HessianStream::add(const Point& point, const Point& previous, const Batch& batch,
                        double limit) {
  ask(session_).add(point, previous, Handles::of(batch), limit);
}
std::size_t HessianStream::groups() const { return session_->groups(); }
void HessianStream::product(ConstVectorRef v, double standard_deviation, VectorRef out) {
  ask(session_).product(v, standard_deviation, out);
}

StationarityTest::StationarityTest(Curator& curator, const Batch& batch,
                                   const StationaritySpec& spec)
    : session_(std::make_unique<door::StationarityTest>(ask(curator), Handles::of(batch), spec)) {}
StationarityTest::~StationarityTest() = default;
bool StationarityTest::accepts(ConstVectorRef x) { return ask(session_).accepts(x); }
double StationarityTest::sensitivity() const { return session_->sensitivity(); }
std::int64_t StationarityTest::questions() const { return session_->questions(); }

LineSearch::LineSearch(Curator& curator, const Batch& batch, ConstVectorRef from,
                       const LineSearchSpec& spec)
    : session_(std::make_unique<door::LineSearch>(ask(curator), Handles::of(batch), from, spec)) {}
LineSearch::~LineSearch() = default;
bool LineSearch::decreases(ConstVectorRef to, double decrease) {
  return ask(session_).decreases(to, decrease);
}
double LineSearch::sensitivity() const { return session_->sensitivity(); }
std::int64_t LineSearch::questions() const { return session_->questions(); }

ExponentialMechanism::ExponentialMechanism(Curator& curator, const Batch& batch)
    : session_(std::make_unique<door::ExponentialMechanism>(ask(curator), Handles::of(batch))) {}
ExponentialMechanism::~ExponentialMechanism() = default;
ExponentialMechanism::ExponentialMechanism(ExponentialMechanism&&) noexcept = default;
ExponentialMechanism& ExponentialMechanism::operator=(ExponentialMechanism&&) noexcept = default;
double ExponentialMechanism::range(double lipschitz, double reach) const {
  return session_->range(lipschitz, reach);
}
double ExponentialMechanism::range(const ProductGrid& grid, double coordinate_lipschitz) const {
  return session_->range(grid, coordinate_lipschitz);
}
double ExponentialMechanism::vertex_range(double gradient_limit, double diameter) const {
  return session_->vertex_range(gradient_limit, diameter);
}
Index ExponentialMechanism::choose(const Matrix& points, ConstVectorRef centre, double lipschitz,
                                   double epsilon) {
  return ask(session_).choose(points, centre, lipschitz, epsilon);
}
Index ExponentialMechanism::choose(const Net& net, double lipschitz, double epsilon,
                                   VectorRef out) {
  return ask(session_).choose(net, lipschitz, epsilon, out);
}
void ExponentialMechanism::choose(const ProductGrid& grid, double coordinate_lipschitz,
                                  double epsilon, VectorRef out) {
  ask(session_).choose(grid, coordinate_lipschitz, epsilon, out);
}
Index ExponentialMechanism::choose_vertex(const Matrix& vertices, ConstVectorRef point,
                                          double gradient_limit, double epsilon) {
  return ask(session_).choose_vertex(vertices, point, gradient_limit, epsilon);
}
Index ExponentialMechanism::choose_l1_vertex(double radius, ConstVectorRef point,
                                             double gradient_limit, double epsilon) {
  return ask(session_).choose_l1_vertex(radius, point, gradient_limit, epsilon);
}

GibbsSampler::GibbsSampler(Curator& curator, const Batch& batch, const GibbsSpec& spec)
    : session_(std::make_unique<door::GibbsSampler>(ask(curator), Handles::of(batch), spec)) {}
GibbsSampler::~GibbsSampler() = default;
GibbsSampler::GibbsSampler(GibbsSampler&&) noexcept = default;
GibbsSampler& GibbsSampler::operator=(GibbsSampler&&) noexcept = default;
double GibbsSampler::epsilon() const { return session_->epsilon(); }
void GibbsSampler::sample(VectorRef out) { ask(session_).sample(out); }

}  // namespace dpsosp
