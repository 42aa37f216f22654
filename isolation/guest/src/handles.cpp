// SPDX-License-Identifier: Apache-2.0
// The handles of dpsosp/privacy, defined for a process that has no curator: every call is a message
// to the host, whose curator answers. The linker chooses these definitions or those of privacy/, so
// an algorithm is the same source in both processes, and the guest holds no code that reads
// records; virtual functions would put that code into every process.
#include <cstdint>
#include <memory>
#include <utility>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "host_link.hpp"

namespace dpsosp {
namespace door {

using guest::ask;

/// What the host holds, by its number. It is let go when the handle is.
class Held {
 public:
  Held(const char* drop, std::int64_t id) : drop_(drop), id_(id) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    try {
      guest::channel().post(drop_, id_);
    } catch (const std::exception&) {  // the next question will say that the host is gone
    }
  }
  std::int64_t id() const { return id_; }

 private:
  const char* drop_;
  std::int64_t id_;
};

class Curator {
 public:
  std::int64_t id;
  PublicFacts facts;
};

struct Batch : Held {
  Batch(std::int64_t id, const BatchPolicy& policy_) : Held("drop_batch", id), policy(policy_) {}
  BatchPolicy policy;
};

#define DPSOSP_HELD(Name, drop)                        \
  class Name : public Held {                           \
   public:                                             \
    explicit Name(std::int64_t id) : Held(drop, id) {} \
  };
DPSOSP_HELD(TreeStream, "drop_tree")
DPSOSP_HELD(HessianStream, "drop_hessian_stream")
DPSOSP_HELD(StationarityTest, "drop_stationarity_test")
DPSOSP_HELD(LineSearch, "drop_line_search")
DPSOSP_HELD(ExponentialMechanism, "drop_exponential")
DPSOSP_HELD(GibbsSampler, "drop_gibbs")
#undef DPSOSP_HELD

}  // namespace door

struct Handles {
  static std::int64_t of(const Curator& curator) { return curator.curator_->id; }
  static std::int64_t of(const Batch& batch) { return batch.drawn_ ? batch.drawn_->id() : -1; }
  static BatchPolicy policy_of(const Batch& batch) {
    return batch.drawn_ ? batch.drawn_->policy : BatchPolicy{};
  }
  static Batch batch(std::int64_t id, const BatchPolicy& policy) {
    Batch batch;
    batch.drawn_ = std::make_shared<const door::Batch>(id, policy);
    return batch;
  }
  static Curator curator(std::int64_t id, PublicFacts facts) {
    return Curator(std::make_unique<door::Curator>(id, std::move(facts)));
  }
};

namespace {

namespace question = wire::question;
using guest::ask;
using wire::get;

template <class Session, class... Types, class... Parts>
std::unique_ptr<Session> open(const wire::Question<Types...>& asked, const Parts&... parts) {
  return std::make_unique<Session>(ask(asked, parts...).integer());
}

}  // namespace

Curator guest::root_curator(const PublicFacts& facts) { return Handles::curator(0, facts); }

BatchPolicy Batch::policy() const { return Handles::policy_of(*this); }

Curator::Curator(std::unique_ptr<door::Curator> curator)
    : curator_(std::move(curator)), facts_(curator_->facts) {}
Curator::~Curator() = default;
Curator::Curator(Curator&&) noexcept = default;

Remaining Curator::remaining() const {
  return get<Remaining>(ask(question::remaining, Handles::of(*this)));
}
Index Curator::fresh_records() const {
  return ask(question::fresh_records, Handles::of(*this)).integer();
}
Ledger Curator::ledger() const {
  throw InputError("isolated run: the ledger stays with the curator; ask what remains");
}
PrivacyLabel Curator::label() const {
  return get<PrivacyLabel>(ask(question::label, Handles::of(*this)));
}
bool Curator::answers_second_order() const {
  return ask(question::answers_second_order, Handles::of(*this)).boolean();
}

Batch Curator::draw(const BatchPolicy& policy, BatchUse use) {
  return Handles::batch(ask(question::draw, Handles::of(*this), policy, use).integer(), policy);
}
void Curator::gradient(const Point& point, const Batch& batch, const GradientQuery& query,
                       VectorRef out) {
  read_exactly(ask(question::gradient, Handles::of(*this), point, Handles::of(batch), query), out);
}
void Curator::gradient_difference(const Point& point, const Point& previous, const Batch& batch,
                                  const GradientQuery& query, VectorRef out) {
  read_exactly(ask(question::gradient_difference, Handles::of(*this), point, previous,
                   Handles::of(batch), query),
               out);
}
void Curator::gradient_combination(double gamma, const Point& point, const Point& previous,
                                   const Batch& batch, const CombinationQuery& query,
                                   VectorRef out) {
  read_exactly(ask(question::gradient_combination, Handles::of(*this), gamma, point, previous,
                   Handles::of(batch), query),
               out);
}
void Curator::hessian(const Point& point, const Batch& batch, const HessianQuery& query,
                      MatrixRef out) {
  const auto hessian =
      get<Matrix>(ask(question::hessian, Handles::of(*this), point, Handles::of(batch), query));
  if (hessian.rows() != out.rows() || hessian.cols() != out.cols())
    reject("query", "out", static_cast<double>(out.rows()), "d rows and columns");
  out = hessian;
}
void Curator::hessian_product(const Point& point, ConstVectorRef v, const Batch& batch,
                              const HessianProductQuery& query, VectorRef out) {
  read_exactly(
      ask(question::hessian_product, Handles::of(*this), point, v, Handles::of(batch), query), out);
}
Curator Curator::child(const ChildSpec& spec) {
  wire::Message& answer = ask(question::child, Handles::of(*this), spec);
  const std::int64_t id = answer.integer();
  return Handles::curator(id, get<PublicFacts>(answer));
}

TreeStream::TreeStream(Curator& curator, double sigma, std::int64_t max_leaves)
    : session_(open<door::TreeStream>(question::tree, Handles::of(curator), sigma, max_leaves)) {}
TreeStream::~TreeStream() = default;
void TreeStream::restart() { ask(question::tree_restart, session_->id()); }
void TreeStream::push_gradient(const Point& point, const Batch& batch, const GradientQuery& query,
                               VectorRef out) {
  read_exactly(ask(question::tree_gradient, session_->id(), point, Handles::of(batch), query), out);
}
void TreeStream::push_difference(const Point& point, const Point& previous, const Batch& batch,
                                 const GradientQuery& query, VectorRef out) {
  read_exactly(
      ask(question::tree_difference, session_->id(), point, previous, Handles::of(batch), query),
      out);
}
std::int64_t TreeStream::leaves() const {
  return ask(question::tree_leaves, session_->id()).integer();
}

HessianStream::HessianStream(Curator& curator, HessianMode mode)
    : session_(open<door::HessianStream>(question::hessian_stream, Handles::of(curator), mode)) {}
HessianStream::~HessianStream() = default;
HessianStream::HessianStream(HessianStream&&) noexcept = default;
HessianStream& HessianStream::operator=(HessianStream&&) noexcept = default;
HessianStream::HessianStream(const HessianStream& other)
    : session_(open<door::HessianStream>(question::hessian_stream_copy, other.session_->id())) {}
HessianStream& HessianStream::operator=(const HessianStream& other) {
  if (this != &other)
    session_ = open<door::HessianStream>(question::hessian_stream_copy, other.session_->id());
  return *this;
}
void HessianStream::refresh(const Point& point, const Batch& batch, double limit) {
  ask(question::hessian_stream_refresh, session_->id(), point, Handles::of(batch), limit);
}
void HessianStream::add(const Point& point, const Point& previous, const Batch& batch,
                        double limit) {
  ask(question::hessian_stream_add, session_->id(), point, previous, Handles::of(batch), limit);
}
std::size_t HessianStream::groups() const {
  return static_cast<std::size_t>(ask(question::hessian_stream_groups, session_->id()).integer());
}
void HessianStream::product(ConstVectorRef v, double standard_deviation, VectorRef out) {
  read_exactly(ask(question::hessian_stream_product, session_->id(), v, standard_deviation), out);
}

StationarityTest::StationarityTest(Curator& curator, const Batch& batch,
                                   const StationaritySpec& spec)
    : session_(open<door::StationarityTest>(question::stationarity_test, Handles::of(curator),
                                            Handles::of(batch), spec)) {}
StationarityTest::~StationarityTest() = default;
bool StationarityTest::accepts(ConstVectorRef x) {
  return ask(question::stationarity_accepts, session_->id(), x).boolean();
}
double StationarityTest::sensitivity() const {
  return ask(question::stationarity_sensitivity, session_->id()).number();
}
std::int64_t StationarityTest::questions() const {
  return ask(question::stationarity_questions, session_->id()).integer();
}

LineSearch::LineSearch(Curator& curator, const Batch& batch, ConstVectorRef from,
                       const LineSearchSpec& spec)
    : session_(open<door::LineSearch>(question::line_search, Handles::of(curator),
                                      Handles::of(batch), from, spec)) {}
LineSearch::~LineSearch() = default;
bool LineSearch::decreases(ConstVectorRef to, double decrease) {
  return ask(question::line_search_decreases, session_->id(), to, decrease).boolean();
}
double LineSearch::sensitivity() const {
  return ask(question::line_search_sensitivity, session_->id()).number();
}
std::int64_t LineSearch::questions() const {
  return ask(question::line_search_questions, session_->id()).integer();
}

ExponentialMechanism::ExponentialMechanism(Curator& curator, const Batch& batch)
    : session_(open<door::ExponentialMechanism>(question::exponential, Handles::of(curator),
                                                Handles::of(batch))) {}
ExponentialMechanism::~ExponentialMechanism() = default;
ExponentialMechanism::ExponentialMechanism(ExponentialMechanism&&) noexcept = default;
ExponentialMechanism& ExponentialMechanism::operator=(ExponentialMechanism&&) noexcept = default;
double ExponentialMechanism::range(double lipschitz, double reach) const {
  return ask(question::exponential_range, session_->id(), lipschitz, reach).number();
}
double ExponentialMechanism::range(const ProductGrid& grid, double coordinate_lipschitz) const {
  return ask(question::exponential_grid_range, session_->id(), grid, coordinate_lipschitz).number();
}
double ExponentialMechanism::vertex_range(double gradient_limit, double diameter) const {
  return ask(question::exponential_vertex_range, session_->id(), gradient_limit, diameter).number();
}
Index ExponentialMechanism::choose(const Matrix& points, ConstVectorRef centre, double lipschitz,
                                   double epsilon) {
  return ask(question::exponential_choose, session_->id(), points, centre, lipschitz, epsilon)
      .integer();
}
Index ExponentialMechanism::choose(const Net& net, double lipschitz, double epsilon,
                                   VectorRef out) {
  wire::Message& answer =
      ask(question::exponential_choose_net, session_->id(), net, lipschitz, epsilon);
  const Index chosen = answer.integer();
  read_exactly(answer, out);
  return chosen;
}
void ExponentialMechanism::choose(const ProductGrid& grid, double coordinate_lipschitz,
                                  double epsilon, VectorRef out) {
  read_exactly(
      ask(question::exponential_choose_grid, session_->id(), grid, coordinate_lipschitz, epsilon),
      out);
}
Index ExponentialMechanism::choose_vertex(const Matrix& vertices, ConstVectorRef point,
                                          double gradient_limit, double epsilon) {
  return ask(question::exponential_choose_vertex, session_->id(), vertices, point, gradient_limit,
             epsilon)
      .integer();
}
Index ExponentialMechanism::choose_l1_vertex(double radius, ConstVectorRef point,
                                             double gradient_limit, double epsilon) {
  return ask(question::exponential_choose_l1_vertex, session_->id(), radius, point, gradient_limit,
             epsilon)
      .integer();
}

GibbsSampler::GibbsSampler(Curator& curator, const Batch& batch, const GibbsSpec& spec)
    : session_(open<door::GibbsSampler>(question::gibbs, Handles::of(curator), Handles::of(batch),
                                        spec)) {}
GibbsSampler::~GibbsSampler() = default;
GibbsSampler::GibbsSampler(GibbsSampler&&) noexcept = default;
GibbsSampler& GibbsSampler::operator=(GibbsSampler&&) noexcept = default;
double GibbsSampler::epsilon() const {
  return ask(question::gibbs_epsilon, session_->id()).number();
}
void GibbsSampler::sample(VectorRef out) {
  read_exactly(ask(question::gibbs_sample, session_->id()), out);
}

}  // namespace dpsosp
