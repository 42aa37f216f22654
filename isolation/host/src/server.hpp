// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "dpsosp/wire/parts.hpp"

namespace dpsosp {

/// What a guest holds handles of, by the numbers that it is given.
template <class T>
class Table {
 public:
  static constexpr std::size_t most = 1U << 16;

  template <class... Arguments>
  std::int64_t add(Arguments&&... arguments) {
    if (held_.size() >= most) throw wire::Broken("it holds more than 65536 handles of a kind");
    held_.try_emplace(next_, std::forward<Arguments>(arguments)...);
    return next_++;
  }
  T& at(std::int64_t id) {
    const auto found = held_.find(id);
    if (found == held_.end()) throw wire::Broken("it asks with a handle that it does not hold");
    return found->second;
  }
  void drop(std::int64_t id) { held_.erase(id); }

 private:
  std::map<std::int64_t, T> held_;
  std::int64_t next_ = 1;
};

/// A session of a curator, which says how long its answers are.
template <class Session>
struct Opened {
  template <class... Arguments>
  explicit Opened(Curator& curator_, const Arguments&... arguments)
      : curator(curator_), session(curator_, arguments...) {}
  Curator& curator;
  Session session;
};

/// Answers a guest's questions by a curator's public functions: it can ask nothing that an
/// algorithm in this process could not.
class Server {
 public:
  Server(wire::Channel& guest, Curator& curator, const Stream& coins, Observer& observer)
      : guest_(guest), root_(curator), coins_(coins), observer_(observer) {}

  /// \throws wire::Broken, InputError of the algorithm, GuestFailed
  Outcome serve();

 private:
  friend std::vector<std::string_view> answered_questions();
  using Answer = void (Server::*)(wire::Message&);
  static const std::map<std::string_view, Answer>& answers();

  template <class... Parts>
  void reply(const Parts&... parts) {
    guest_.post("ok", parts...);
  }
  Curator& curator(wire::Message& m);
  const Batch& batch(wire::Message& m);
  /// The vector that a query of this block answers with.
  Vector& answer_of(const Curator& asked, Block block);
  /// The algorithm's stream at a place of its tree, at word number `first`.
  Stream& coins_at(const std::vector<std::uint64_t>& path, std::uint64_t first, std::int64_t count);
  template <class T>
  void drop(Table<T>& table, wire::Message& m);

  void words(wire::Message& m);
  void normals(wire::Message& m);
  void ball(wire::Message& m);
  void iterate(wire::Message& m);
  void estimate(wire::Message& m);

  void remaining(wire::Message& m);
  void fresh_records(wire::Message& m);
  void label(wire::Message& m);
  void answers_second_order(wire::Message& m);
  void draw(wire::Message& m);
  void drop_batch(wire::Message& m);
  void gradient(wire::Message& m);
  void gradient_difference(wire::Message& m);
  void gradient_combination(wire::Message& m);
  void hessian(wire::Message& m);
  void hessian_product(wire::Message& m);
  void child(wire::Message& m);

  void tree(wire::Message& m);
  void tree_restart(wire::Message& m);
  void tree_gradient(wire::Message& m);
  void tree_difference(wire::Message& m);
  void tree_leaves(wire::Message& m);
  void drop_tree(wire::Message& m);

  void hessian_stream(wire::Message& m);
  void hessian_stream_copy(wire::Message& m);
  void hessian_stream_refresh(wire::Message& m);
  void hessian_stream_add(wire::Message& m);
  void hessian_stream_groups(wire::Message& m);
  void hessian_stream_product(wire::Message& m);
  void drop_hessian_stream(wire::Message& m);

  void stationarity_test(wire::Message& m);
  void stationarity_accepts(wire::Message& m);
  void stationarity_sensitivity(wire::Message& m);
  void stationarity_questions(wire::Message& m);
  void drop_stationarity_test(wire::Message& m);

  void line_search(wire::Message& m);
  void line_search_decreases(wire::Message& m);
  void line_search_sensitivity(wire::Message& m);
  void line_search_questions(wire::Message& m);
  void drop_line_search(wire::Message& m);

  void exponential(wire::Message& m);
  void exponential_range(wire::Message& m);
  void exponential_grid_range(wire::Message& m);
  void exponential_vertex_range(wire::Message& m);
  void exponential_choose(wire::Message& m);
  void exponential_choose_net(wire::Message& m);
  void exponential_choose_grid(wire::Message& m);
  void exponential_choose_vertex(wire::Message& m);
  void exponential_choose_l1_vertex(wire::Message& m);
  void drop_exponential(wire::Message& m);

  void gibbs(wire::Message& m);
  void gibbs_epsilon(wire::Message& m);
  void gibbs_sample(wire::Message& m);
  void drop_gibbs(wire::Message& m);

  wire::Channel& guest_;
  Curator& root_;
  Stream coins_;
  Observer& observer_;

  // Sessions hold on to their curators, so curators stay until the end and come first.
  Table<Curator> curators_;
  Table<Batch> batches_;
  Table<Opened<TreeStream>> trees_;
  Table<HessianStream> hessian_streams_;
  Table<StationarityTest> stationarity_tests_;
  Table<LineSearch> line_searches_;
  Table<ExponentialMechanism> exponentials_;
  Table<Opened<GibbsSampler>> gibbs_;

  wire::OwnPoint point_, previous_;
  Vector v_, out_;
  std::optional<std::pair<std::vector<std::uint64_t>, Stream>> words_of_;
};

}  // namespace dpsosp
