// SPDX-License-Identifier: Apache-2.0
#include "replay/transcript.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

bool same(const LedgerEntry& a, const LedgerEntry& b) {
  const auto key = [](const LedgerEntry& e) {
    return std::tie(e.scope, e.query, e.policy, e.event, e.charged, e.sensitivity_low,
                    e.deviation_low, e.count, e.pure, e.delta_extra);
  };
  return key(a) == key(b);
}

/// Whether what is released is the answer and noise; else it is what the noise made of it.
bool adds_noise(Kind kind) {
  return kind == Kind::vector || kind == Kind::matrix || kind == Kind::prefix ||
         kind == Kind::scalar;
}

}  // namespace

std::optional<double> amplifying_rate(const Event& event) {
  if (const auto* poisson = std::get_if<PoissonGaussianEvent>(&event)) return poisson->rate;
  if (const auto* fixed = std::get_if<FixedSizeGaussianEvent>(&event)) return fixed->rate;
  return {};
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::vector:
      return "vector";
    case Kind::matrix:
      return "matrix";
    case Kind::prefix:
      return "prefix sum";
    case Kind::scalar:
      return "scalar";
    case Kind::threshold:
      return "threshold";
    case Kind::question:
      return "question";
    case Kind::score:
      return "score";
    case Kind::loss:
      break;
  }
  return "loss";
}

bool same_bits(ConstVectorRef a, ConstVectorRef b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>,
                            std::bit_cast<std::uint64_t, double>);
}

std::string place_of(const Transcript& transcript, std::size_t index) {
  const Exchange& e = transcript[index];
  if (e.charges.empty()) return fmt::format("{}, answer {}", name_of(e.what.kind), index + 1);
  const LedgerEntry& entry = e.charges.back();
  return fmt::format("{} of {}, answer {}", entry.query, entry.scope, index + 1);
}

std::vector<std::string> queries_of(const Transcript& transcript) {
  std::vector<std::string> names;
  std::map<const void*, std::string> sessions;
  std::string last;
  for (const Exchange& e : transcript) {
    if (!e.charges.empty()) last = e.charges.back().query;
    if (e.what.kind == AuditedAnswer::Kind::threshold) sessions[e.what.session] = last;
    const bool question = e.what.kind == AuditedAnswer::Kind::question;
    names.push_back(question ? sessions[e.what.session] : last);
  }
  return names;
}

void Recorder::charged(const LedgerEntry& entry) {
  records_.expect(entry.policy, entry.charged);
  pending_.push_back(entry);
}

void Recorder::answer(const AuditedAnswer& what, VectorRef value) {
  transcript.push_back({what, std::exchange(pending_, {}), records_.take_asked(),
                        std::exchange(drawn_, {}), Vector(value), Vector()});
}

void Recorder::noisy(VectorRef value) { transcript.back().noisy = value; }

void Recorder::drawn(const DrawnBatch& batch) { drawn_.push_back(batch); }

void Replayer::charged(const LedgerEntry& entry) {
  records_.expect(entry.policy, entry.charged);
  pending_.push_back(entry);
}

void Replayer::answer(const AuditedAnswer& what, VectorRef value) {
  const auto charges = std::exchange(pending_, {});
  const Asked asked = records_.take_asked();
  const std::size_t k = answers.size();
  if (!difference_.empty()) return;
  if (k == recorded_.size()) {
    difference_ = fmt::format("answer {} is one too many", k + 1);
    return;
  }
  const Exchange& e = recorded_[k];
  const bool same_question = e.what.kind == what.kind && e.what.deviation == what.deviation &&
                             e.what.index == what.index &&
                             e.asked.fingerprint == asked.fingerprint &&
                             e.answer.size() == value.size();
  if (!same_question) {
    difference_ = fmt::format("{}: another question", place_of(recorded_, k));
    return;
  }
  if (charge_difference_.empty() && !std::ranges::equal(e.charges, charges, same))
    charge_difference_ = fmt::format("{}: another charge", place_of(recorded_, k));
  answers.emplace_back(value);
  if (!adds_noise(what.kind)) value = e.answer;
}

void Replayer::noisy(VectorRef value) {
  if (!difference_.empty() || answers.empty()) return;
  const std::size_t k = answers.size() - 1;
  const Exchange& e = recorded_[k];
  if (adds_noise(e.what.kind)) {
    // The same words draw the same noise, whatever the records answer.
    const Vector off = (value - answers[k]) - (e.noisy - e.answer);
    const double rounding = 1e-13 * (1.0 + answers[k].norm() + e.answer.norm());
    if (!(off.lpNorm<Eigen::Infinity>() <= 1e-9 * e.what.deviation + rounding))
      difference_ = fmt::format("{}: other noise is drawn", place_of(recorded_, k));
    value = e.noisy;
    return;
  }
  if (!same_bits(e.noisy, value))
    difference_ = fmt::format("{}: another value is released", place_of(recorded_, k));
}

}  // namespace dpsosp::audit
