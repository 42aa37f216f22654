// SPDX-License-Identifier: Apache-2.0
#include "subjects/neighbour.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace dpsosp::audit {
namespace {

const BatchView stand_in_alone(0, 1);

/// FNV-1a over 64-bit words.
class Fingerprint {
 public:
  Fingerprint& add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3ULL;
    return *this;
  }
  Fingerprint& add(ConstVectorRef v) {
    add(static_cast<std::uint64_t>(v.size()));
    for (const double entry : v) add(std::bit_cast<std::uint64_t>(entry));
    return *this;
  }
  Fingerprint& add(const Point& p) { return add(p.x).add(p.y); }
  Fingerprint& add(const Summand& s) {
    add(static_cast<std::uint64_t>(s.kind)).add(static_cast<std::uint64_t>(s.block)).add(s.point);
    if (s.previous) add(1U).add(*s.previous);
    return add(s.v)
        .add(static_cast<std::uint64_t>(s.coordinate))
        .add(std::bit_cast<std::uint64_t>(s.centre));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

std::uint64_t fingerprint(const BatchView& batch) {
  Fingerprint f;
  f.add(static_cast<std::uint64_t>(batch.size()));
  if (!batch.is_list()) return f.add(static_cast<std::uint64_t>(batch.begin())).value();
  for (Index k = 0; k < batch.size(); ++k) f.add(static_cast<std::uint64_t>(batch[k]));
  return f.value();
}

bool is_secret(const BatchPolicy& policy) {
  return policy.kind == BatchPolicy::Kind::sample || policy.kind == BatchPolicy::Kind::poisson;
}

}  // namespace

Neighbour::Neighbour(const AnyRecords& rest, Index place,
                     std::shared_ptr<const AnyRecords> stand_in, Membership membership)
    : rest_(&rest), place_(place), stand_in_(std::move(stand_in)), membership_(membership) {}

Asked Neighbour::take_asked() const {
  Asked asked = std::exchange(log_->first, std::nullopt).value_or(Asked{});
  asked.read = std::exchange(log_->read, std::nullopt);
  log_->charged = false;
  return asked;
}

void Neighbour::note_read(const BatchView& batch) const {
  if (batch.size() == 0) return;
  const Index begin = batch[0], end = batch[batch.size() - 1] + 1;  // members ascend
  std::optional<RecordRange>& read = log_->read;
  read = read ? RecordRange{std::min(read->begin, begin), std::max(read->end, end)}
              : RecordRange{begin, end};
}

void Neighbour::expect(const BatchPolicy& policy, RecordRange drawn_from) const {
  log_->charged = true;
  log_->policy = policy;
  log_->drawn_from = drawn_from;
}

bool Neighbour::choose(const BatchView& batch, std::vector<Index>& others) const {
  bool member = false;
  for (Index k = 0; k < batch.size(); ++k) {
    if (batch[k] == place_)
      member = true;
    else
      others.push_back(batch[k]);
  }
  const bool wanted = membership_ == Membership::in;
  if (membership_ == Membership::as_drawn || member == wanted) return member;
  if (log_->policy.kind != BatchPolicy::Kind::sample) return wanted;
  // Which other record makes room, or fills it, is a function of the batch alone.
  const std::uint64_t draw = fingerprint(batch) >> 16U;
  if (wanted) {
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(draw % others.size()));
    return true;
  }
  std::vector<Index> absent;
  for (Index i = log_->drawn_from.begin; i < log_->drawn_from.end; ++i)
    if (i != place_ && !std::ranges::binary_search(others, i)) absent.push_back(i);
  if (absent.empty()) return true;  // everybody is a member
  const Index filler = absent[draw % absent.size()];
  others.insert(std::ranges::lower_bound(others, filler), filler);
  return false;
}

ClipReport Neighbour::add(const Summand& summand, const BatchView& batch, double limit,
                          VectorRef out) const {
  if (summand.kind != Summand::Kind::hessian_product || log_->charged) note_read(batch);
  // An empty list may have no address, by which a view knows it.
  const bool is_list = batch.is_list() || (batch.size() == 0 && is_secret(log_->policy));
  if (!log_->first) {
    log_->first = Asked{Fingerprint().add(summand).add(fingerprint(batch)).value(), {}, {}};
    if (is_list) {
      std::vector<Index>& members = log_->first->secret.emplace();
      for (Index k = 0; k < batch.size(); ++k) members.push_back(batch[k]);
    }
  }
  ClipReport report;
  const auto add_rest = [&](const BatchView& members) {
    if (members.size() > 0) report.merge(rest_->add(summand, members, limit, out));
  };
  const auto add_stand_in = [&] {
    report.merge(stand_in_->add(summand, stand_in_alone, limit, out));
  };
  if (is_list) {
    std::vector<Index> others;
    const bool member = choose(batch, others);
    add_rest(BatchView(others));
    if (member) add_stand_in();
    return report;
  }
  const Index begin = batch.begin(), end = begin + batch.size();
  const bool member = place_ >= begin && place_ < end;
  if (batch.size() < size()) log_->batches.insert(begin);
  add_rest(BatchView(begin, member ? place_ : end));
  if (!member) return report;
  add_stand_in();
  add_rest(BatchView(place_ + 1, end));
  return report;
}

std::unique_ptr<const AnyRecords> Neighbour::projected(const Matrix& map, double cap) const {
  auto rest = rest_->projected(map, cap);
  auto view = std::make_unique<Neighbour>(
      *rest, place_, std::shared_ptr<const AnyRecords>(stand_in_->projected(map, cap)),
      membership_);
  view->owned_ = std::move(rest);
  view->log_ = log_;
  return view;
}

}  // namespace dpsosp::audit
