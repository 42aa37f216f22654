// SPDX-License-Identifier: Apache-2.0
#include "host_link.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::guest {
namespace {

std::optional<wire::Channel>& only_channel() {
  static std::optional<wire::Channel> one;
  return one;
}

/// Asks for more words than are due, and keeps the rest.
class Coins final : public WordFeed {
 public:
  explicit Coins(std::vector<std::uint64_t> path) : path_(std::move(path)) {}

  void words(std::uint64_t first, std::span<std::uint64_t> out) const override {
    if (first < first_ || first + out.size() > first_ + kept_.size()) {
      kept_.resize(std::max<std::size_t>(at_once, out.size()));
      first_ = first;
      wire::Channel& host = channel();
      host.post(wire::question::words.name, path_, static_cast<std::int64_t>(first),
                static_cast<std::int64_t>(kept_.size()));
      const std::size_t due = kept_.size();
      kept_ = wire::get<std::vector<std::uint64_t>>(answer_to_last());
      if (kept_.size() != due) throw wire::Broken("the host sent another number of words");
    }
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(first - first_), out.size(),
                out.begin());
  }
  std::shared_ptr<const WordFeed> child(std::uint64_t index) const override {
    auto path = path_;
    path.push_back(index);
    return std::make_shared<Coins>(std::move(path));
  }

 private:
  static constexpr std::size_t at_once = 512;

  std::vector<std::uint64_t> path_;
  mutable std::uint64_t first_ = 0;
  mutable std::vector<std::uint64_t> kept_;
};

}  // namespace

wire::Channel& channel() { return only_channel().value(); }
void connect(int socket) { only_channel().emplace(socket); }

wire::Message& answer_to_last() {
  wire::Message& message = channel().receive();
  const std::string name(message.text());
  if (name == "ok") return message;
  const std::string text(message.text());
  if (name == "budget") throw BudgetExhausted(text);
  if (name == "data") throw DataExhausted(text);
  if (name == "unsupported") throw UnsupportedError(text);
  if (name == "input") throw InputError(text);
  throw wire::Broken("the host answers '" + name + "'");
}

std::shared_ptr<const WordFeed> coins() {
  return std::make_shared<Coins>(std::vector<std::uint64_t>{});
}

}  // namespace dpsosp::guest
