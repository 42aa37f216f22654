// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/study.hpp"
#include "groups.hpp"

/// Methods that are tuned alike: each tries as many settings as any other, of a published space in
/// a published order, on instances of their own.
namespace dpsosp::league {

/// What a factor of a dial is multiplied by: constants of the instance.
enum class Unit {
  none,                ///< the value as it stands
  lipschitz,           ///< G
  smoothness,          ///< M
  inverse_smoothness,  ///< 1/M
  length,              ///< √(B/M), how far a descent may have to go
  length_over_steps,   ///< √(B/M) over the steps of the trial
  squared_length,      ///< B/M
  joint,               ///< L of f in (x, y)
  inverse_joint,       ///< 1/L
};

/// Settings that move together.
struct Dial {
  struct Moved {
    std::string setting;
    Unit unit = Unit::none;
  };
  std::string name;
  std::vector<Moved> moved;
  std::vector<std::string> values;
  /// More of them where records are in memory: there constants are of the worst record and far from
  /// a typical one, and clips below them are possible.
  std::vector<std::string> in_memory{};
};

struct Method {
  std::string algorithm;
  Settings fixed;  ///< of every trial but the default
  std::vector<Dial> dials;
};
/// Those with a space, tracked descent, and programs; the latter two have their defaults alone.
std::vector<Method> methods(Contest contest = Contest::minimisation);

/// A trial is a place in a method's order: first a point of the space, second the method's
/// defaults, which its schedule sets, then further points. A budget of b tries the first b; without
/// one the defaults are taken untried.
inline constexpr std::array<std::size_t, 4> budgets{0, 1, 4, 16};
inline constexpr std::size_t default_trial = 1;

/// What the factor of a setting is on a trial of these values, by dial.
std::string factor_of(const Dial::Moved& moved, const std::string& value, const Settings& trial);

/// The settings of every trial, with units; empty for the defaults.
const std::vector<Settings>& order_of(const Method& method, bool simulated);
/// Their numbers on an instance. \throws MissingConstant
Settings settings_of(const Method& method, std::size_t trial, const Instance& instance);

inline constexpr double league_epsilon = 1;

/// Where settings are chosen.
struct Place {
  const Group* group = nullptr;
  Index dimension = 0;
  Index records = 0;

  auto operator<=>(const Place&) const = default;
};
/// All places of a contest; at smoke scale a few.
std::vector<Place> places(Scale scale, Contest contest = Contest::minimisation);
/// Instances of a group and dimension at that scale.
std::vector<Instance> instances(const Place& place, Use use, Scale scale);

/// One run; none where the method refuses the trial, or plans more than the league waits for.
std::optional<Job> job_of(const Method& method, std::size_t trial, const Instance& instance,
                          Index records, Scale scale);

/// The trial that each method chose at a place with a budget, as
/// results/league-tuning-settings/settings.csv has it.
class Choices {
 public:
  Choices() = default;
  /// \throws InputError for a line that is none
  explicit Choices(std::string_view csv);
  std::string csv() const;

  void set(const Place& place, const std::string& algorithm, std::size_t budget, std::size_t trial);
  /// The defaults where nothing was chosen.
  std::size_t trial(const Place& place, const std::string& algorithm, std::size_t budget) const;

 private:
  std::map<std::string, std::size_t> trials_;  ///< by the first five columns
};
/// Those that are built in.
const Choices& committed_choices();

/// The runs that choose, all trials of all methods on the instances for tuning, or the first of
/// them.
std::vector<Job> tuning_jobs(Scale scale,
                             std::size_t most = std::numeric_limits<std::size_t>::max());
/// By the geometric mean of counted levels (measures.hpp), the first of equal trials.
Choices choose(const Runs& runs, Scale scale);

}  // namespace dpsosp::league
