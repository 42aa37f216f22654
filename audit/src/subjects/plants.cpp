// SPDX-License-Identifier: Apache-2.0
#include "subjects/plants.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "subjects/wrong_words.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

bool is_gaussian(Kind kind) {
  return kind == Kind::vector || kind == Kind::matrix || kind == Kind::prefix;
}

}  // namespace

/// State shared by the records and the auditor of a planted run.
struct Planted::Shared {
  Plant bug = Plant::none;
  BatchPolicy policy;      // of the last charge
  RecordRange drawn_from;  // likewise
  double gradient_limit = 0.0;
  double hessian_limit = 0.0;
  Index secret_size = 0;
  WrongWords::Batches batches;  // what is read instead of what was drawn
};

/// Hands questions on, some of them wrong.
class Planted::Data final : public UncheckedRecords {
 public:
  Data(Plant bug, const Neighbour& records) : records_(records) { shared.bug = bug; }

  Index size() const override { return records_.size(); }
  bool separable() const override { return records_.separable(); }
  bool has_second_order() const override { return records_.has_second_order(); }
  Index hessian_rank() const override { return records_.hessian_rank(); }
  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    const Plant bug = shared.bug;
    if (s.kind == Summand::Kind::hessian_product && !s.previous) {
      shared.hessian_limit = limit;
      if (bug == Plant::hessian_mean_clip) limit = unlimited;
    }
    if (s.kind != Summand::Kind::gradient) return records_.add(s, batch, limit, out);
    if (s.previous) {
      if (bug == Plant::difference_clip) limit = std::max(limit, 2.0 * shared.gradient_limit);
    } else {
      shared.gradient_limit = limit;
      if (bug == Plant::batch_mean_clip) limit = unlimited;
    }
    return on(batch,
              [&](const BatchView& members) { return records_.add(s, members, limit, out); });
  }
  std::unique_ptr<const AnyRecords> projected(const Matrix& map, double cap) const override {
    return records_.projected(map, cap);
  }

  mutable Shared shared;

 private:
  template <class Add>
  ClipReport on(const BatchView& batch, const Add& add) const {
    if (batch.is_list()) {
      shared.secret_size = batch.size();
      if (!shared.batches.empty()) return add(BatchView(read_instead(batch)));
      if (shared.bug == Plant::samples_cut_up && shared.policy.kind == BatchPolicy::Kind::sample &&
          batch.size() == shared.policy.size)
        return add(BatchView(next_piece(batch)));
      if (shared.bug == Plant::antithetic_coins && shared.policy.kind == BatchPolicy::Kind::poisson)
        return add(BatchView(next_antithetic(batch)));
      const bool fixed = shared.bug == Plant::poisson_fixed_size &&
                         shared.policy.kind == BatchPolicy::Kind::poisson;
      if (!fixed) return add(batch);
      const Index n = shared.drawn_from.end - shared.drawn_from.begin;
      const auto size = static_cast<Index>(
          std::clamp(std::round(shared.policy.rate * static_cast<double>(n)), 1.0, double(n)));
      Stream coins({.seed = fingerprint_of(batch), .purpose = Purpose::test});
      std::vector<Index> members = coins.subset(n, size);
      for (Index& i : members) i += shared.drawn_from.begin;
      return add(BatchView(members));
    }
    if (shared.bug == Plant::fresh_reused && shared.policy.kind == BatchPolicy::Kind::fresh)
      return add(BatchView(0, batch.size()));
    return add(batch);
  }
  const std::vector<Index>& read_instead(const BatchView& batch) const {
    std::vector<Index> members;
    for (Index k = 0; k < batch.size(); ++k) members.push_back(batch[k]);
    return shared.batches.at(members);
  }
  /// The same piece for the same batch.
  const std::vector<Index>& next_piece(const BatchView& batch) const {
    const auto [piece, is_new] = pieces_.try_emplace(fingerprint_of(batch));
    if (!is_new) return piece->second;
    const Index n = shared.drawn_from.end - shared.drawn_from.begin;
    if (std::ssize(list_) < batch.size()) {
      list_.resize(static_cast<std::size_t>(n));
      std::iota(list_.begin(), list_.end(), shared.drawn_from.begin);
      Stream shuffle({.seed = fingerprint_of(batch), .purpose = Purpose::test});
      for (Index k = n - 1; k > 0; --k)
        std::swap(list_[static_cast<std::size_t>(k)],
                  list_[static_cast<std::size_t>(shuffle.below(k + 1))]);
    }
    piece->second.assign(list_.end() - batch.size(), list_.end());
    list_.resize(list_.size() - static_cast<std::size_t>(batch.size()));
    std::ranges::sort(piece->second);
    return piece->second;
  }
  /// The same members for the same batch; for every other batch, those whose coins are
  /// complements of the last ones.
  const std::vector<Index>& next_antithetic(const BatchView& batch) const {
    const auto [members, is_new] = pieces_.try_emplace(fingerprint_of(batch));
    if (!is_new) return members->second;
    const bool complement = !coins_.empty();
    if (!complement) {
      Stream stream({.seed = fingerprint_of(batch), .purpose = Purpose::test});
      coins_.resize(static_cast<std::size_t>(shared.drawn_from.end - shared.drawn_from.begin));
      for (double& u : coins_) u = stream.uniform();
    }
    for (std::size_t i = 0; i < coins_.size(); ++i)
      if ((complement ? 1 - coins_[i] : coins_[i]) < shared.policy.rate)
        members->second.push_back(shared.drawn_from.begin + static_cast<Index>(i));
    if (complement) coins_.clear();
    return members->second;
  }
  static std::uint64_t fingerprint_of(const BatchView& batch) {
    auto value = static_cast<std::uint64_t>(batch.size());
    for (Index k = 0; k < batch.size(); ++k)
      value = value * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(batch[k]);
    return value;
  }

  const Neighbour& records_;
  mutable std::vector<Index> list_;    // what is left of the shuffled list
  mutable std::vector<double> coins_;  // of the last batch, where the next has their complements
  mutable std::map<std::uint64_t, std::vector<Index>> pieces_;
};

/// Hands answers on, some of them wrong.
class Planted::Door final : public Auditor {
 public:
  Door(Data& data, Auditor& inner, std::uint64_t seed, Stream algorithm)
      : shared_(data.shared),
        inner_(inner),
        coins_({.seed = shared_.bug == Plant::noise_of_seed ? 1 : seed, .purpose = Purpose::test}),
        algorithm_(algorithm) {}

  void charged(const LedgerEntry& entry) override {
    shared_.policy = entry.policy;
    shared_.drawn_from = entry.charged;
    query_ = entry.query;
    LedgerEntry listed = entry;
    if (shared_.bug == Plant::combination_by_larger && query_ == "gradient_combination")
      if (auto* event = std::get_if<GaussianEvent>(&*listed.event)) event->noise_multiplier *= 1.25;
    if (shared_.bug == Plant::line_search_half_charge && query_ == "line_search")
      if (auto* event = std::get_if<PureEvent>(&*listed.event)) event->epsilon /= 2;
    inner_.charged(listed);
  }

  void answer(const AuditedAnswer& what, VectorRef value) override {
    what_ = what;
    spoil_answer(value);
    inner_.answer(what, value);
    answer_ = value;
    if (what.kind == Kind::score) scores_[what.index] = value[0];
  }

  void noisy(VectorRef value) override {
    if (shared_.bug != Plant::none && what_.kind != Kind::score && what_.kind != Kind::loss) {
      Vector noise = value - answer_;
      spoil_noise(noise);
      value = answer_ + noise;
    }
    if (what_.kind == Kind::score) {
      if (shared_.bug == Plant::choice_bare || shared_.bug == Plant::choice_half_noise)
        value[0] = spoiled_choice(shared_.bug == Plant::choice_bare);
      scores_.clear();
    }
    inner_.noisy(value);
  }
  void drawn(const DrawnBatch& batch) override { inner_.drawn(batch); }

 private:
  void spoil_answer(VectorRef value) {
    const bool of_choice = what_.kind == Kind::score || what_.kind == Kind::loss;
    switch (shared_.bug) {
      case Plant::noise_over_1_25:
        if (of_choice) value *= 1.25;
        break;
      case Plant::half_range:
        if (what_.kind == Kind::score) value *= 2.0;
        break;
      case Plant::batch_mean_clip:
        if (const double norm = value.norm();
            what_.kind == Kind::vector && norm > shared_.gradient_limit)
          value *= shared_.gradient_limit / norm;
        break;
      case Plant::hessian_mean_clip:
        if (what_.kind == Kind::matrix) {
          const auto d = static_cast<Index>(std::sqrt(static_cast<double>(value.size())) + 0.5);
          const double norm = symmetric_eigenvalues(Eigen::Map<const Matrix>(value.data(), d, d))
                                  .lpNorm<Eigen::Infinity>();
          if (norm > shared_.hessian_limit) value *= shared_.hessian_limit / norm;
        }
        break;
      case Plant::realised_divisor:
        if (what_.kind == Kind::vector && shared_.policy.kind == BatchPolicy::Kind::poisson)
          value *= shared_.policy.divisor(shared_.drawn_from.end - shared_.drawn_from.begin) /
                   std::max(1.0, static_cast<double>(shared_.secret_size));
        break;
      case Plant::unreleased_stop:
        if (what_.kind == Kind::vector) {
          const double norm = value.norm();
          if (norm_ > 0 && norm > norm_)
            throw BudgetExhausted("planted: the norm of the gradient grows");
          norm_ = norm;
        }
        break;
      default:
        break;
    }
  }

  void spoil_noise(Vector& noise) {
    switch (shared_.bug) {
      case Plant::noise_over_1_25:
        noise /= 1.25;
        break;
      case Plant::noise_over_sqrt2:
        if (is_gaussian(what_.kind)) noise /= std::numbers::sqrt2;
        break;
      case Plant::add_remove_sensitivity:
        if (is_gaussian(what_.kind)) noise /= 2.0;
        break;
      case Plant::tree_noise_reused:
      case Plant::last_leaf_bare:
      case Plant::tree_noise_again:
        if (what_.kind == Kind::prefix) spoil_tree(noise);
        break;
      case Plant::hessian_product_bare:
        if (query_ == "hessian_product") noise.setZero();
        break;
      case Plant::noise_averaged:
        if (what_.kind == Kind::vector) {
          const Vector own = noise;
          if (last_noise_.size() == own.size()) noise = (own + last_noise_) / std::numbers::sqrt2;
          last_noise_ = own;
        }
        break;
      case Plant::question_half_noise:
        if (what_.kind == Kind::question) noise /= 2.0;
        break;
      case Plant::question_uniform_noise:
        if (what_.kind == Kind::question) draw_uniform(std::numbers::sqrt2, noise);
        break;
      case Plant::uniform_noise:
        if (is_gaussian(what_.kind)) draw_uniform(1.0, noise);
        break;
      case Plant::noise_clamped_4:
        if (is_gaussian(what_.kind)) clamp(4.0, noise);
        break;
      case Plant::noise_clamped_2_6:
        if (is_gaussian(what_.kind)) clamp(2.6, noise);
        break;
      case Plant::noise_cut_4:
        if (is_gaussian(what_.kind))
          for (double& z : noise)
            while (std::abs(z) > 4 * what_.deviation) z = what_.deviation * coins_.normal();
        break;
      case Plant::student_noise:
        if (is_gaussian(what_.kind))
          for (double& z : noise) {
            Vector five(5);
            coins_.fill_normal(1.0, five);
            z *= std::sqrt(3.0 / five.squaredNorm());
          }
        break;
      case Plant::one_percent_zeros:
        if (is_gaussian(what_.kind))
          for (double& z : noise)
            if (coins_.bernoulli(0.01)) z = 0;
        break;
      case Plant::noise_on_sphere:
        if (is_gaussian(what_.kind))
          noise *= what_.deviation * std::sqrt(static_cast<double>(noise.size())) / noise.norm();
        break;
      case Plant::noise_of_algorithm:
        if (is_gaussian(what_.kind)) algorithm_.fill_normal(what_.deviation, noise);
        break;
      case Plant::noise_of_seed:
        if (is_gaussian(what_.kind)) coins_.fill_normal(what_.deviation, noise);
        break;
      case Plant::one_question_noise:
        if (what_.kind == Kind::threshold) question_noise_[what_.index].resize(0);
        if (what_.kind == Kind::question) {
          Vector& kept = question_noise_[what_.index];
          if (kept.size() == 0) kept = noise;
          noise = kept;
        }
        break;
      default:
        break;
    }
  }

  /// Draws uniform noise whose deviation is this multiple of the answer's.
  void draw_uniform(double multiple, Vector& noise) {
    const double half_width = std::numbers::sqrt3 * multiple * what_.deviation;
    for (double& z : noise) z = half_width * (2 * coins_.uniform() - 1);
  }
  void clamp(double deviations, Vector& noise) const {
    const double most = deviations * what_.deviation;
    noise = noise.cwiseMax(-most).cwiseMin(most);
  }

  /// The best candidate, or one drawn at half the temperature.
  double spoiled_choice(bool best) {
    const auto least =
        std::ranges::min_element(scores_, {}, &std::pair<const Index, double>::second);
    if (best) return static_cast<double>(least->first);
    double total = 0;
    const auto weight = [&](double score) {
      return std::exp(2.0 * (least->second - score) / what_.deviation);
    };
    for (const auto& [candidate, score] : scores_) total += weight(score);
    double at = total * coins_.uniform();
    for (const auto& [candidate, score] : scores_)
      if ((at -= weight(score)) < 0) return static_cast<double>(candidate);
    return static_cast<double>(scores_.rbegin()->first);
  }

  /// The noise of leaf t is that of leaf t − lowbit(t) and that of the node which t completes.
  void spoil_tree(Vector& noise) {
    Tree& tree = trees_[what_.session];
    const std::int64_t t = what_.index;
    if (t == 1) tree = {};
    const Vector zero = Vector::Zero(noise.size());
    tree.drawn.resize(static_cast<std::size_t>(t) + 1, zero);
    tree.released.resize(static_cast<std::size_t>(t) + 1, zero);
    const std::int64_t low = t & -t;
    const auto rest = static_cast<std::size_t>(t - low);
    Vector node = noise - tree.drawn[rest];
    tree.drawn.back() = noise;
    if (shared_.bug == Plant::last_leaf_bare) {
      if (low == 1 && t > 1) node.setZero();
    } else if (shared_.bug == Plant::tree_noise_again) {
      node = of_any_tree_.try_emplace(t, node).first->second;
    } else {
      node = tree.of_level.try_emplace(low, node).first->second;
    }
    noise = tree.released[rest] + node;
    tree.released.back() = noise;
  }

  struct Tree {
    std::vector<Vector> drawn, released;  // by leaf
    std::map<std::int64_t, Vector> of_level;
  };
  Shared& shared_;
  Auditor& inner_;
  AuditedAnswer what_;
  Vector answer_;
  std::string query_;
  double norm_ = 0.0;
  std::map<std::int64_t, double> scores_;  // of the candidates of this choice
  Stream coins_;
  Vector last_noise_;
  std::map<std::int64_t, Vector> question_noise_;
  std::map<const void*, Tree> trees_;
  std::map<std::int64_t, Vector> of_any_tree_;  // by leaf
  Stream algorithm_;
};

Planted::Planted(Plant bug, Auditor& auditor, const Neighbour& records, std::uint64_t seed,
                 Stream algorithm)
    : bug_(bug), auditor_(auditor), records_(records) {
  if (bug == Plant::none) return;
  data_ = std::make_unique<Data>(bug, records);
  door_ = std::make_unique<Door>(*data_, auditor, seed, algorithm);
}

Planted::~Planted() = default;

const AnyRecords& Planted::records() const {
  return data_ ? static_cast<const AnyRecords&>(*data_) : records_;
}

FilterRule Planted::rule(FilterRule rule) const {
  if (bug_ == Plant::filter_by_add_remove) rule.capacity *= 4;
  if (bug_ == Plant::last_charge_cut) rule.capacity *= 1.05;
  return rule;
}

Auditor& Planted::before(Auditor& redraw, StreamKey key) {
  if (!of_words()) return redraw;
  wrong_words_ = std::make_unique<WrongWords>(bug_, redraw, key, data_->shared.batches);
  return *wrong_words_;
}

Auditor& Planted::auditor() {
  return door_ && !of_words() ? static_cast<Auditor&>(*door_) : auditor_;
}

}  // namespace dpsosp::audit
