// SPDX-License-Identifier: Apache-2.0
#include "subjects/wrong_words.hpp"

#include <limits>

namespace dpsosp::audit {

using Kind = AuditedAnswer::Kind;

WrongWords::WrongWords(Plant bug, Auditor& inner, StreamKey key, Batches& batches)
    : bug_(bug), inner_(inner), key_(key), batches_(batches), before_choice_(key) {}

Stream& WrongWords::words(std::uint64_t path, Purpose purpose) {
  StreamKey key = key_;
  key.path = bug_ == Plant::child_of_parent ? key_.path : path;
  key.purpose = purpose;
  const bool choice = purpose == Purpose::choice, batch = purpose == Purpose::sampling;
  if ((choice && bug_ == Plant::choice_of_noise) || (batch && bug_ == Plant::batch_of_noise))
    key.purpose = Purpose::noise;
  if ((choice && bug_ == Plant::choice_of_algorithm) ||
      (batch && bug_ == Plant::batch_of_algorithm))
    key.purpose = Purpose::algorithm;
  if (choice && bug_ == Plant::choice_of_16_bits) key.seed &= 0xffffU;
  return streams_.try_emplace({path, purpose}, key).first->second;
}

void WrongWords::answer(const AuditedAnswer& what, VectorRef value) {
  what_ = what;
  if (bug_ == Plant::child_of_parent) what_.path = key_.path;
  inner_.answer(what_, value);
  what_.path = what.path;
  answer_ = value;
  if (what.kind == Kind::score) scores_.emplace_back(what.index, value[0]);
}

void WrongWords::noisy(VectorRef value) {
  if (what_.kind == Kind::vector &&
      (bug_ == Plant::child_of_parent || bug_ == Plant::gibbs_on_copy)) {
    value = answer_;
    words(what_.path, Purpose::noise).add_normal(what_.deviation, value);
  }
  if (what_.kind == Kind::score) {
    value[0] = choice();
    scores_.clear();
  }
  inner_.noisy(value);
}

double WrongWords::choice() {
  Stream& words = this->words(what_.path, Purpose::choice);
  if (bug_ == Plant::choice_again && choices_++ % 2 == 1) words = before_choice_;
  before_choice_ = words;
  double best = -std::numeric_limits<double>::infinity();
  std::int64_t winner = 0, next = 0;
  for (const auto& [candidate, score] : scores_) {
    words.skip(2 * static_cast<std::uint64_t>(candidate - next));
    next = candidate + 1;
    const double key = words.gumbel() - score / what_.deviation;
    if (key > best) {
      best = key;
      winner = candidate;
    }
  }
  words.skip(2 * static_cast<std::uint64_t>(what_.count - next));
  return static_cast<double>(winner);
}

void WrongWords::drawn(const DrawnBatch& batch) {
  DrawnBatch wrong = batch;
  const Index n = batch.range.end - batch.range.begin;
  Stream& words = this->words(batch.path, Purpose::sampling);
  if (batch.policy.kind == BatchPolicy::Kind::sample)
    words.subset(n, batch.policy.size, wrong.members);
  else
    words.bernoulli_subset(n, batch.policy.rate, wrong.members);
  for (Index& i : wrong.members) i += batch.range.begin;
  if (bug_ == Plant::batch_again) {
    if (last_batch_.empty()) {
      last_batch_ = wrong.members;
    } else {
      wrong.members = std::exchange(last_batch_, {});
    }
  }
  if (bug_ == Plant::child_of_parent) wrong.path = key_.path;
  batches_[batch.members] = wrong.members;
  inner_.drawn(wrong);
}

}  // namespace dpsosp::audit
