// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/study.hpp"

/// The comparisons of all private algorithms on the same problems at the same ε.
namespace dpsosp::league {

using Settings = std::map<std::string, std::string>;

/// A problem, and how its records are met.
struct Ground {
  std::string problem;
  Settings settings;       ///< for methods that read all records in every query
  Settings fresh;          ///< for methods that read each record once
  bool simulated = false;  ///< a query costs the same at any number of records
  std::optional<Index> dimension;
  std::map<std::string, std::string> unfit;  ///< who could run here but must not, and why
};

struct Place {
  Index records = 0;
  double epsilon = 0;
  bool operator==(const Place&) const = default;
};
std::string to_text(const Place& place);

/// What is measured at one scale.
struct Extent {
  std::vector<Place> places;
  std::uint64_t seeds = 1;
  std::vector<Place> tuned;  ///< some of the places
  std::uint64_t tuning_seeds = 1;
};

struct Board {
  std::string id;  ///< of its exhibit, league/ID
  Ground ground;
  Ground tuning;             ///< public synthetic instances, none of them on the board
  std::string about_tuning;  ///< which, in words
  Extent smoke, quick, full;
  std::string limits;  ///< why the grid ends where it ends

  const Extent& extent(const Study& study) const;
};
const Board& benign();
const Board& descent();
const Board& escape();
const Board& real_data();

/// Keys of every algorithm whose guarantee the curator enforces and that minimises; and of those
/// that are private and do not enter, with why.
const std::vector<std::string>& entrants();
const std::vector<std::pair<std::string, std::string>>& left_out();

/// What a schedule is told of B when it is tuned: the same few factors for every algorithm. The
/// first is 1, the schedule as it is.
struct Candidate {
  std::string label;
  double suboptimality = 1.0;
};
const std::vector<Candidate>& candidates();

/// The runs of one algorithm at one place, one a seed; or why there are none.
struct Trial {
  std::vector<Job> runs;
  std::string refusal;
};
Trial trial(const Ground& ground,
            const std::string& algorithm,
            const Place& place,
            std::uint64_t seeds,
            const Study& study,
            const Candidate& candidate = candidates().front(),
            Door door = Door::enforced);

/// The algorithms that are also run without noise and without data, and where.
const std::vector<std::string>& controlled();
Place place_of_controls(const Board& board, const Study& study);

/// Every run of a board; none where its data are not here.
std::vector<Job> jobs_of(const Board& board, const Study& study);
/// One line if the board's data are not here, else empty.
std::string missing_data(const Board& board);

}  // namespace dpsosp::league
