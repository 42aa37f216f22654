// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/isolation/guest_process.hpp"

namespace dpsosp {

using wire::Broken;
using wire::get;
using wire::Message;
using wire::OwnPoint;

namespace {

void read(Message& m, OwnPoint& point) {
  wire::read(m, point.x);
  wire::read(m, point.y);
}

}  // namespace

const std::map<std::string_view, Server::Answer>& Server::answers() {
#define DPSOSP_ANSWER(name) \
  { #name, &Server::name }
  static const std::map<std::string_view, Answer> all{
      DPSOSP_ANSWER(words),
      DPSOSP_ANSWER(normals),
      DPSOSP_ANSWER(ball),
      DPSOSP_ANSWER(iterate),
      DPSOSP_ANSWER(estimate),
      DPSOSP_ANSWER(remaining),
      DPSOSP_ANSWER(fresh_records),
      DPSOSP_ANSWER(label),
      DPSOSP_ANSWER(answers_second_order),
      DPSOSP_ANSWER(draw),
      DPSOSP_ANSWER(drop_batch),
      DPSOSP_ANSWER(gradient),
      DPSOSP_ANSWER(gradient_difference),
      DPSOSP_ANSWER(gradient_combination),
      DPSOSP_ANSWER(hessian),
      DPSOSP_ANSWER(hessian_product),
      DPSOSP_ANSWER(child),
      DPSOSP_ANSWER(tree),
      DPSOSP_ANSWER(tree_restart),
      DPSOSP_ANSWER(tree_gradient),
      DPSOSP_ANSWER(tree_difference),
      DPSOSP_ANSWER(tree_leaves),
      DPSOSP_ANSWER(drop_tree),
      DPSOSP_ANSWER(hessian_stream),
      DPSOSP_ANSWER(hessian_stream_copy),
      DPSOSP_ANSWER(hessian_stream_refresh),
      DPSOSP_ANSWER(hessian_stream_add),
      DPSOSP_ANSWER(hessian_stream_groups),
      DPSOSP_ANSWER(hessian_stream_product),
      DPSOSP_ANSWER(drop_hessian_stream),
      DPSOSP_ANSWER(stationarity_test),
      DPSOSP_ANSWER(stationarity_accepts),
      DPSOSP_ANSWER(stationarity_sensitivity),
      DPSOSP_ANSWER(stationarity_questions),
      DPSOSP_ANSWER(drop_stationarity_test),
      DPSOSP_ANSWER(line_search),
      DPSOSP_ANSWER(line_search_decreases),
      DPSOSP_ANSWER(line_search_sensitivity),
      DPSOSP_ANSWER(line_search_questions),
      DPSOSP_ANSWER(drop_line_search),
      DPSOSP_ANSWER(exponential),
      DPSOSP_ANSWER(exponential_range),
      DPSOSP_ANSWER(exponential_grid_range),
      DPSOSP_ANSWER(exponential_vertex_range),
      DPSOSP_ANSWER(exponential_choose),
      DPSOSP_ANSWER(exponential_choose_net),
      DPSOSP_ANSWER(exponential_choose_grid),
      DPSOSP_ANSWER(exponential_choose_vertex),
      DPSOSP_ANSWER(exponential_choose_l1_vertex),
      DPSOSP_ANSWER(drop_exponential),
      DPSOSP_ANSWER(gibbs),
      DPSOSP_ANSWER(gibbs_epsilon),
      DPSOSP_ANSWER(gibbs_sample),
      DPSOSP_ANSWER(drop_gibbs),
  };
#undef DPSOSP_ANSWER
  return all;
}

std::vector<std::string_view> answered_questions() {
  std::vector<std::string_view> names;
  for (const auto& [name, answer] : Server::answers()) names.push_back(name);
  return names;
}

Outcome Server::serve() {
  while (true) {
    Message& m = guest_.receive();
    const std::string_view name = m.text();
    if (name == "done") {
      auto outcome = get<Outcome>(m);
      m.end();
      if (outcome.point.size() != root_.facts().dimension)
        throw Broken(fmt::format("its point has {} entries, expected {}", outcome.point.size(),
                                 root_.facts().dimension));
      if (outcome.steps < 0) throw Broken(fmt::format("it made {} steps", outcome.steps));
      if (outcome.status != Status::not_finite && !outcome.point.allFinite())
        throw Broken("its point is not finite");
      return outcome;
    }
    if (name == "failed") {
      const auto kind = get<std::string>(m), text = get<std::string>(m);
      if (kind == "input") throw InputError(text);
      throw GuestFailed(text);
    }
    const auto found = answers().find(name);
    if (found == answers().end())
      throw Broken(fmt::format("it asks for '{}', which there is not", name.substr(0, 64)));
    try {
      (this->*found->second)(m);
    } catch (const BudgetExhausted& e) {
      guest_.post("budget", e.what());
    } catch (const DataExhausted& e) {
      guest_.post("data", e.what());
    } catch (const UnsupportedError& e) {
      guest_.post("unsupported", e.what());
    } catch (const InputError& e) {
      guest_.post("input", e.what());
    } catch (const wire::Gone&) {
      throw;
    } catch (const Broken& e) {
      throw Broken(fmt::format("{}: {}", found->first, e.what()));
    }
  }
}

Curator& Server::curator(Message& m) {
  const std::int64_t id = m.integer();
  return id == 0 ? root_ : curators_.at(id);
}

const Batch& Server::batch(Message& m) {
  static const Batch none;
  const std::int64_t id = m.integer();
  return id == -1 ? none : batches_.at(id);
}

Vector& Server::answer_of(const Curator& asked, Block block) {
  const PublicFacts& facts = asked.facts();
  out_.setZero((block == Block::y ? 0 : facts.dimension) +
               (block == Block::x ? 0 : facts.dual_dimension));
  return out_;
}

template <class T>
void Server::drop(Table<T>& table, Message& m) {
  const std::int64_t id = m.integer();
  m.end();
  table.drop(id);
}

Stream& Server::coins_at(const std::vector<std::uint64_t>& path, std::uint64_t first,
                         std::int64_t count) {
  constexpr std::int64_t most_words = 4096;
  constexpr std::size_t deepest = 64;
  if (count < 1 || count > most_words || path.size() > deepest)
    throw Broken("it asks for more than 4096 random words at a time");
  if (!words_of_ || words_of_->first != path || words_of_->second.position() > first) {
    Stream stream = coins_;
    for (const std::uint64_t index : path) stream = stream.child(index);
    words_of_.emplace(path, stream);
  }
  Stream& stream = words_of_->second;
  stream.skip(first - stream.position());
  return stream;
}

void Server::words(Message& m) {
  const auto path = get<std::vector<std::uint64_t>>(m);
  const auto first = static_cast<std::uint64_t>(m.integer());
  const std::int64_t count = m.integer();
  m.end();
  Stream& stream = coins_at(path, first, count);
  std::vector<std::uint64_t> out(static_cast<std::size_t>(count));
  for (std::uint64_t& word : out) word = stream.bits();
  reply(out);
}

void Server::normals(Message& m) {
  const auto path = get<std::vector<std::uint64_t>>(m);
  const auto first = static_cast<std::uint64_t>(m.integer());
  const std::int64_t count = m.integer();
  m.end();
  Stream& stream = coins_at(path, first, count);
  out_.resize(count);
  stream.fill_normal(1.0, out_);
  reply(out_);
}

void Server::ball(Message& m) {
  const auto path = get<std::vector<std::uint64_t>>(m);
  const auto first = static_cast<std::uint64_t>(m.integer());
  const double radius = m.number();
  const Index dimension = m.integer();
  m.end();
  if (!(radius >= 0 && std::isfinite(radius)))
    reject("ball", "radius", radius, "a finite number >= 0");
  constexpr Index most_coordinates = 1 << 20;  // in one answer, since the last word scales them all
  if (dimension < 1 || dimension > most_coordinates)
    reject("ball", "dimension", static_cast<double>(dimension), "an integer in [1, 2^20]");
  Stream& stream = coins_at(path, first, 1);
  out_.resize(dimension);
  stream.fill_ball(radius, out_);
  reply(out_);
}

void Server::iterate(Message& m) {
  const Index t = m.integer();
  wire::read(m, v_);
  m.end();
  if (v_.size() != root_.facts().dimension)
    throw Broken("it shows an iterate of another dimension");
  observer_.iterate(t, v_);
}

void Server::estimate(Message& m) {
  const Index t = m.integer();
  wire::read(m, v_);
  wire::read(m, out_);
  m.end();
  observer_.estimate(t, v_, out_);
}

void Server::remaining(Message& m) {
  const Curator& asked = curator(m);
  m.end();
  reply(asked.remaining());
}
void Server::fresh_records(Message& m) {
  const Curator& asked = curator(m);
  m.end();
  reply(asked.fresh_records());
}
void Server::label(Message& m) {
  const Curator& asked = curator(m);
  m.end();
  reply(asked.label());
}
void Server::answers_second_order(Message& m) {
  const Curator& asked = curator(m);
  m.end();
  reply(asked.answers_second_order());
}

void Server::draw(Message& m) {
  Curator& asked = curator(m);
  const auto policy = get<BatchPolicy>(m);
  const auto use = get<BatchUse>(m);
  m.end();
  reply(batches_.add(asked.draw(policy, use)));
}
void Server::drop_batch(Message& m) { drop(batches_, m); }

void Server::gradient(Message& m) {
  Curator& asked = curator(m);
  read(m, point_);
  const Batch& of = batch(m);
  const auto query = get<GradientQuery>(m);
  m.end();
  asked.gradient(point_.point(), of, query, answer_of(asked, query.block));
  reply(out_);
}
void Server::gradient_difference(Message& m) {
  Curator& asked = curator(m);
  read(m, point_);
  read(m, previous_);
  const Batch& of = batch(m);
  const auto query = get<GradientQuery>(m);
  m.end();
  asked.gradient_difference(point_.point(), previous_.point(), of, query,
                            answer_of(asked, query.block));
  reply(out_);
}
void Server::gradient_combination(Message& m) {
  Curator& asked = curator(m);
  const double gamma = m.number();
  read(m, point_);
  read(m, previous_);
  const Batch& of = batch(m);
  const auto query = get<CombinationQuery>(m);
  m.end();
  asked.gradient_combination(gamma, point_.point(), previous_.point(), of, query,
                             answer_of(asked, query.block));
  reply(out_);
}
void Server::hessian(Message& m) {
  Curator& asked = curator(m);
  read(m, point_);
  const Batch& of = batch(m);
  const auto query = get<HessianQuery>(m);
  m.end();
  const Index d = asked.facts().dimension;
  Matrix out(d, d);
  asked.hessian(point_.point(), of, query, out);
  reply(out);
}
void Server::hessian_product(Message& m) {
  Curator& asked = curator(m);
  read(m, point_);
  wire::read(m, v_);
  const Batch& of = batch(m);
  const auto query = get<HessianProductQuery>(m);
  m.end();
  asked.hessian_product(point_.point(), v_, of, query, answer_of(asked, Block::x));
  reply(out_);
}
void Server::child(Message& m) {
  Curator& parent = curator(m);
  const auto spec = get<ChildSpec>(m);
  m.end();
  const std::int64_t id = curators_.add(parent.child(spec));
  reply(id, curators_.at(id).facts());
}

void Server::tree(Message& m) {
  Curator& asked = curator(m);
  const double sigma = m.number();
  const std::int64_t leaves = m.integer();
  m.end();
  reply(trees_.add(asked, sigma, leaves));
}
void Server::tree_restart(Message& m) {
  Opened<TreeStream>& asked = trees_.at(m.integer());
  m.end();
  asked.session.restart();
  reply();
}
void Server::tree_gradient(Message& m) {
  Opened<TreeStream>& asked = trees_.at(m.integer());
  read(m, point_);
  const Batch& of = batch(m);
  const auto query = get<GradientQuery>(m);
  m.end();
  asked.session.push_gradient(point_.point(), of, query, answer_of(asked.curator, query.block));
  reply(out_);
}
void Server::tree_difference(Message& m) {
  Opened<TreeStream>& asked = trees_.at(m.integer());
  read(m, point_);
  read(m, previous_);
  const Batch& of = batch(m);
  const auto query = get<GradientQuery>(m);
  m.end();
  asked.session.push_difference(point_.point(), previous_.point(), of, query,
                                answer_of(asked.curator, query.block));
  reply(out_);
}
void Server::tree_leaves(Message& m) {
  const Opened<TreeStream>& asked = trees_.at(m.integer());
  m.end();
  reply(asked.session.leaves());
}
void Server::drop_tree(Message& m) { drop(trees_, m); }

void Server::hessian_stream(Message& m) {
  Curator& asked = curator(m);
  const auto mode = get<HessianMode>(m);
  m.end();
  reply(hessian_streams_.add(asked, mode));
}
void Server::hessian_stream_copy(Message& m) {
  const HessianStream& asked = hessian_streams_.at(m.integer());
  m.end();
  reply(hessian_streams_.add(asked));
}
void Server::hessian_stream_refresh(Message& m) {
  HessianStream& asked = hessian_streams_.at(m.integer());
  read(m, point_);
  const Batch& of = batch(m);
  const double limit = m.number();
  m.end();
  asked.refresh(point_.point(), of, limit);
  reply();
}
void Server::hessian_stream_add(Message& m) {
  HessianStream& asked = hessian_streams_.at(m.integer());
  read(m, point_);
  read(m, previous_);
  const Batch& of = batch(m);
  const double limit = m.number();
  m.end();
  asked.add(point_.point(), previous_.point(), of, limit);
  reply();
}
void Server::hessian_stream_groups(Message& m) {
  const HessianStream& asked = hessian_streams_.at(m.integer());
  m.end();
  reply(static_cast<std::int64_t>(asked.groups()));
}
void Server::hessian_stream_product(Message& m) {
  HessianStream& asked = hessian_streams_.at(m.integer());
  wire::read(m, v_);
  const double standard_deviation = m.number();
  m.end();
  out_.setZero(v_.size());
  asked.product(v_, standard_deviation, out_);
  reply(out_);
}
void Server::drop_hessian_stream(Message& m) { drop(hessian_streams_, m); }

void Server::stationarity_test(Message& m) {
  Curator& asked = curator(m);
  const Batch& of = batch(m);
  const auto spec = get<StationaritySpec>(m);
  m.end();
  reply(stationarity_tests_.add(asked, of, spec));
}
void Server::stationarity_accepts(Message& m) {
  StationarityTest& asked = stationarity_tests_.at(m.integer());
  wire::read(m, v_);
  m.end();
  reply(asked.accepts(v_));
}
void Server::stationarity_sensitivity(Message& m) {
  const StationarityTest& asked = stationarity_tests_.at(m.integer());
  m.end();
  reply(asked.sensitivity());
}
void Server::stationarity_questions(Message& m) {
  const StationarityTest& asked = stationarity_tests_.at(m.integer());
  m.end();
  reply(asked.questions());
}
void Server::drop_stationarity_test(Message& m) { drop(stationarity_tests_, m); }

void Server::line_search(Message& m) {
  Curator& asked = curator(m);
  const Batch& of = batch(m);
  wire::read(m, v_);
  const auto spec = get<LineSearchSpec>(m);
  m.end();
  reply(line_searches_.add(asked, of, v_, spec));
}
void Server::line_search_decreases(Message& m) {
  LineSearch& asked = line_searches_.at(m.integer());
  wire::read(m, v_);
  const double decrease = m.number();
  m.end();
  reply(asked.decreases(v_, decrease));
}
void Server::line_search_sensitivity(Message& m) {
  const LineSearch& asked = line_searches_.at(m.integer());
  m.end();
  reply(asked.sensitivity());
}
void Server::line_search_questions(Message& m) {
  const LineSearch& asked = line_searches_.at(m.integer());
  m.end();
  reply(asked.questions());
}
void Server::drop_line_search(Message& m) { drop(line_searches_, m); }

void Server::exponential(Message& m) {
  Curator& asked = curator(m);
  const Batch& of = batch(m);
  m.end();
  reply(exponentials_.add(asked, of));
}
void Server::exponential_range(Message& m) {
  const ExponentialMechanism& asked = exponentials_.at(m.integer());
  const double lipschitz = m.number(), reach = m.number();
  m.end();
  reply(asked.range(lipschitz, reach));
}
void Server::exponential_grid_range(Message& m) {
  const ExponentialMechanism& asked = exponentials_.at(m.integer());
  const auto grid = get<ProductGrid>(m);
  const double lipschitz = m.number();
  m.end();
  reply(asked.range(grid, lipschitz));
}
void Server::exponential_vertex_range(Message& m) {
  const ExponentialMechanism& asked = exponentials_.at(m.integer());
  const double limit = m.number(), diameter = m.number();
  m.end();
  reply(asked.vertex_range(limit, diameter));
}
void Server::exponential_choose(Message& m) {
  ExponentialMechanism& asked = exponentials_.at(m.integer());
  const auto points = get<Matrix>(m);
  wire::read(m, v_);
  const double lipschitz = m.number(), epsilon = m.number();
  m.end();
  reply(asked.choose(points, v_, lipschitz, epsilon));
}
void Server::exponential_choose_net(Message& m) {
  ExponentialMechanism& asked = exponentials_.at(m.integer());
  const auto net = get<Net>(m);
  const double lipschitz = m.number(), epsilon = m.number();
  m.end();
  out_.setZero(net.dimension());
  const Index chosen = asked.choose(net, lipschitz, epsilon, out_);
  reply(chosen, out_);
}
void Server::exponential_choose_grid(Message& m) {
  ExponentialMechanism& asked = exponentials_.at(m.integer());
  const auto grid = get<ProductGrid>(m);
  const double lipschitz = m.number(), epsilon = m.number();
  m.end();
  out_.setZero(grid.centre.size());
  asked.choose(grid, lipschitz, epsilon, out_);
  reply(out_);
}
void Server::exponential_choose_vertex(Message& m) {
  ExponentialMechanism& asked = exponentials_.at(m.integer());
  const auto vertices = get<Matrix>(m);
  wire::read(m, v_);
  const double limit = m.number(), epsilon = m.number();
  m.end();
  reply(asked.choose_vertex(vertices, v_, limit, epsilon));
}
void Server::exponential_choose_l1_vertex(Message& m) {
  ExponentialMechanism& asked = exponentials_.at(m.integer());
  const double radius = m.number();
  wire::read(m, v_);
  const double limit = m.number(), epsilon = m.number();
  m.end();
  reply(asked.choose_l1_vertex(radius, v_, limit, epsilon));
}
void Server::drop_exponential(Message& m) { drop(exponentials_, m); }

void Server::gibbs(Message& m) {
  Curator& asked = curator(m);
  const Batch& of = batch(m);
  const auto spec = get<GibbsSpec>(m);
  m.end();
  reply(gibbs_.add(asked, of, spec));
}
void Server::gibbs_epsilon(Message& m) {
  const Opened<GibbsSampler>& asked = gibbs_.at(m.integer());
  m.end();
  reply(asked.session.epsilon());
}
void Server::gibbs_sample(Message& m) {
  Opened<GibbsSampler>& asked = gibbs_.at(m.integer());
  m.end();
  asked.session.sample(answer_of(asked.curator, Block::x));
  reply(out_);
}
void Server::drop_gibbs(Message& m) { drop(gibbs_, m); }

}  // namespace dpsosp
