// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/isolation/program_algorithm.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/settings.hpp"

// A program is an Algorithm and enters the registry, so audit, sweeps, shards and league take it.
// The price is that schedule() and plan() start a process; the one that was prepared waits for its
// run, so a run starts one process. Parameters are stated once, in the card: its ranges refuse
// before anything starts, and the program cannot overrule a setting that it was given.

namespace dpsosp {
namespace {

bool same(const PublicFacts& a, const PublicFacts& b) {
  const auto constants_are_same = [&] {
    return std::ranges::equal(a.constants.all(), b.constants.all(),
                              [](const auto& x, const auto& y) {
                                return x.first == y.first && x.second.value == y.second.value;
                              });
  };
  return a.name == b.name && a.records == b.records && a.dimension == b.dimension &&
         a.dual_dimension == b.dual_dimension && a.initial_point == b.initial_point &&
         constants_are_same();
}

bool same(const GuestProcess::Told& a, const GuestProcess::Told& b) {
  return a.how.settings == b.how.settings && a.defaults == b.defaults &&
         a.how.budget.epsilon == b.how.budget.epsilon && a.how.budget.delta == b.how.budget.delta &&
         a.how.calibrator == b.how.calibrator && a.common_noise == b.common_noise;
}

class ProgramAlgorithm final : public Algorithm {
 public:
  explicit ProgramAlgorithm(std::shared_ptr<const Program> program) : program_(std::move(program)) {
    for (const ProgramSetting& s : program_->settings) values_.push_back(s.standard);
  }

  const AlgorithmCard& card() const override { return program_->card; }

  Fields fields() override {
    Fields all;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      Field f = field_of(program_->settings[k], values_[k]);
      f.read = [this, name = f.name, read = std::move(f.read)](const std::string& text) {
        if (!read(text)) return false;
        given_.insert(name);
        return true;
      };
      all.push_back(std::move(f));
    }
    return all;
  }

  void set_variant(Variant) override {}

  void set_budget(const PrivacyBudget& budget, Calibrator calibrator) override {
    how_.budget = budget;
    how_.calibrator = calibrator;
    common_noise_.reset();
  }

  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override {
    how_.schedule = kind;
    set_budget(budget, calibrator);
    const PreparedGuest guest = prepared(facts);
    dpsosp::check(guest.scheduled.rule, budget);
    take_over(guest.parameters);
    const std::lock_guard lock(mutex_);
    if (kept_) kept_->told = told();  // what it decided it need not be told, in a new process
    return {.rule = guest.scheduled.rule, .note = "a program states no theorem"};
  }

  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override {
    return prepared(facts).plan;
  }

  void set_common_noise(double sensitivity_ratio) override { common_noise_ = sensitivity_ratio; }

  void check_settings(const PublicFacts&) const override {}

  Outcome run(Curator& curator, Stream stream, Observer& observer) const override {
    const std::unique_ptr<Process> process = take(curator.facts());
    return process->guest.run(curator, stream, observer);
  }

 private:
  /// A process that is ready to run.
  struct Process {
    Process(const Program& program, GuestProcess::Told told_, PublicFacts facts_)
        : told(std::move(told_)),
          facts(std::move(facts_)),
          guest(program.file.get(), {}, program.surroundings),
          prepared(guest.prepare(told, facts)) {
      ++alive;
    }
    ~Process() { --alive; }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    static inline std::atomic<int> alive = 0;
    GuestProcess::Told told;
    PublicFacts facts;
    GuestProcess guest;
    PreparedGuest prepared;
  };

  /// Where more are alive, one that waits for its run is let go and started again.
  static constexpr int most_kept = 8;

  static Field field_of(const ProgramSetting& setting, ProgramSetting::Value& value) {
    return std::visit(
        [&]<class T>(T& held) {
          if constexpr (std::is_same_v<T, std::string>) {
            if (setting.choices.empty()) return field(setting.name, held, setting.meaning);
            return choice_field(
                setting.name, setting.choices,
                [&held, all = setting.choices] {
                  return static_cast<std::size_t>(std::ranges::find(all, held) - all.begin());
                },
                [&held, all = setting.choices](std::size_t k) { held = all[k]; }, setting.meaning);
          } else if constexpr (std::is_same_v<T, bool>) {
            return field(setting.name, held, setting.meaning);
          } else {
            return field(setting.name, held, setting.range, setting.meaning);
          }
        },
        value);
  }

  GuestProcess::Told told() const {
    GuestProcess::Told all{.algorithm = card().key, .how = how_, .common_noise = common_noise_};
    for (auto& [name, text] : values_of(const_cast<ProgramAlgorithm*>(this)->fields()))
      (given_.contains(name) ? all.how.settings : all.defaults)[name] = text;
    return all;
  }

  /// What the program decides of its parameters, as far as they were left to it.
  void take_over(const std::map<std::string, std::string>& parameters) {
    Fields all = fields();
    const std::set<std::string> given = given_;
    for (const auto& [name, text] : parameters) {
      const auto known = std::ranges::find(all, name, &Field::name);
      const std::string before = known == all.end() ? "" : known->get();
      set_field(all, card().key, name, text);
      if (given.contains(name) && known->get() != before)
        throw InputError(fmt::format("{}: {} = {} is given, the program goes by {}", card().key,
                                     name, before, text));
    }
    given_ = given;
    check_ranges(card().key, all);
  }

  PreparedGuest prepared(const PublicFacts& facts) const {
    std::unique_ptr<Process> process = take(facts);
    PreparedGuest guest = process->prepared;
    const std::lock_guard lock(mutex_);
    if (Process::alive <= most_kept) kept_ = std::move(process);
    return guest;
  }

  /// One that was told the same and has not run, or a new one.
  std::unique_ptr<Process> take(const PublicFacts& facts) const {
    GuestProcess::Told wanted = told();
    {
      const std::lock_guard lock(mutex_);
      if (kept_ && same(kept_->told, wanted) && same(kept_->facts, facts)) return std::move(kept_);
    }
    return std::make_unique<Process>(*program_, std::move(wanted), facts);
  }

  std::shared_ptr<const Program> program_;
  std::vector<ProgramSetting::Value> values_;
  std::set<std::string> given_;
  Preparation how_;
  std::optional<double> common_noise_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Process> kept_;
};

}  // namespace

std::unique_ptr<Algorithm> make_program_algorithm(std::shared_ptr<const Program> program) {
  return std::make_unique<ProgramAlgorithm>(std::move(program));
}

}  // namespace dpsosp
