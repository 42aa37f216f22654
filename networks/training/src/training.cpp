// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/networks/families.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/reproductions/training.hpp"

namespace dpsosp::networks {
namespace {

using avdiukhin_2024_figures::TrainedEpoch;
using avdiukhin_2024_figures::Training;
using avdiukhin_2024_figures::TrainingResult;
using avdiukhin_2024_figures::TrainingSummary;

constexpr Index audited_records = 256;     // whose norms are looked at after each epoch
constexpr Index statistics_records = 512;  // of batch normalisation, where accuracy is measured
constexpr Index scored_records = 10000;    // of the training set, at most
constexpr Index curvature_products = 60;   // for an estimate of λ_min
constexpr double curvature_tolerance = 1e-2;

/// The algorithms of which an iterate is the whole state: their epochs are runs of their own, one
/// after the other, and a run can go on from the end of any of them.
constexpr std::array<std::string_view, 3> memoryless{"abadi-2016/dp-sgd", "avdiukhin-2024/dp-sgd",
                                                     "avdiukhin-2024/noisy-sgd"};

/// A run, with what follows from its parameters.
struct Recipe : Training {
  /// \throws InputError for parameters that make no run
  explicit Recipe(Training training) : Training(std::move(training)) {
    if (records < 1) reject("training", "records", static_cast<double>(records), ">= 1");
    if (batch < 1 || (epochs > 0 && batch > records))
      reject("training", "batch", static_cast<double>(batch),
             fmt::format("1 to the {} records", records));
    if (sampling != "fixed" && sampling != "poisson")
      reject("training", "sampling", sampling, "fixed or poisson");
    if (adjacency != "add_remove" && adjacency != "replace_one")
      reject("training", "adjacency", adjacency, "add_remove or replace_one");
  }

  bool poisson() const { return sampling == "poisson"; }
  /// Whole batches of an epoch; what is left over is dropped.
  Index steps_an_epoch() const { return std::max<Index>(1, records / batch); }
  Index steps() const { return epochs * steps_an_epoch(); }
  double rate() const { return static_cast<double>(batch) / static_cast<double>(records); }

  /// The releases of the run with noise of z clipping norms on the sum.
  std::vector<CountedEvent> events(double z, Adjacency under) const {
    if (poisson() || under == Adjacency::add_remove)
      return {{PoissonGaussianEvent{rate(), z}, steps()}};
    return {{FixedSizeGaussianEvent{rate(), z / 2.0}, steps()}};
  }
  /// Batches of fixed size have no add/remove neighbour; they are accounted as Poisson ones there,
  /// as the paper does.
  double epsilon_of_noise(double z, Adjacency under, double at_delta) const {
    return epsilon_of(events(z, under), under, at_delta, {.accountant = Accountant::tightest})
        .epsilon;
  }
  Adjacency neighbours() const {
    return adjacency == "add_remove" ? Adjacency::add_remove : Adjacency::replace_one;
  }
  std::unique_ptr<NetworkFamily> family() const;
};

/// $DPSOSP_DEVICE, where networks are computed: cpu or cuda.
std::string device_of_program() {
  const char* device = std::getenv("DPSOSP_DEVICE");  // NOLINT(concurrency-mt-unsafe)
  const std::string name = device == nullptr || *device == '\0' ? "cpu" : device;
  if (name != "cpu" && name != "cuda") reject("training", "DPSOSP_DEVICE", name, "cpu or cuda");
  return name;
}

std::unique_ptr<NetworkFamily> Recipe::family() const {
  const std::string wanted = fmt::format("{}-{}", data, network);
  std::vector<std::string> names;
  for (const ProblemEntry& entry : network_problems()) {
    names.push_back(entry.name);
    if (entry.name != wanted) continue;
    auto family = entry.create();
    Fields fields = family->fields();
    // Families of sentences have no width, and so on.
    const auto set = [&](const std::string& name, const std::string& text) {
      for (const Field& f : fields)
        if (f.name == name) f.set(text);
    };
    set("width", std::to_string(width));
    set("normalisation", normalisation);
    set("smooth", smooth ? "true" : "false");
    set("augment", augment ? "true" : "false");
    set("test_records", std::to_string(test_records));
    set("weights", initial);
    set("device", device_of_program());
    return std::unique_ptr<NetworkFamily>(dynamic_cast<NetworkFamily*>(family.release()));
  }
  reject_unknown("network problem", wanted, names);
}

std::vector<Index> first_rows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// The first records of a set.
class FirstExamples final : public Examples {
 public:
  FirstExamples(std::shared_ptr<const Examples> all, Index count)
      : all_(std::move(all)), count_(std::min(count, all_->size())) {}
  Index size() const override { return count_; }
  Chunk chunk(std::span<const Index> rows, const torch::TensorOptions& options,
              std::uint64_t point) const override {
    return all_->chunk(rows, options, point);
  }
  int label(Index row) const override { return all_->label(row); }

 private:
  std::shared_ptr<const Examples> all_;
  Index count_;
};

/// Looks at the iterates between epochs. What it sees depends on the records and is not private.
class EpochObserver final : public Observer {
 public:
  EpochObserver(const Recipe& recipe, const NetworkInstance& instance,
                const Computation& computation, ClipLog& log, bool clips)
      : recipe_(recipe),
        instance_(instance),
        computation_(computation),
        log_(log),
        clips_(clips),
        records_(instance.network, instance.train, computation),
        scored_(instance.train, scored_records),
        objective_(instance.network, instance.train,
                   first_rows(std::max<Index>(1, std::min(recipe.curvature, recipe.records))),
                   computation),
        whole_(instance.network, instance.train, first_rows(recipe.records), computation) {}

  /// Called in a run of all epochs at once.
  void iterate(Index t, ConstVectorRef x) override {
    if (whole_run_ && t % recipe_.steps_an_epoch() == 0) look(t / recipe_.steps_an_epoch(), x);
  }
  void watch_whole_run() { whole_run_ = true; }

  void look(Index epoch, ConstVectorRef x) {
    const Network& network = *instance_.network;
    const BatchStatistics statistics =
        statistics_at(network, x, *instance_.train,
                      first_rows(std::min(statistics_records, recipe_.records)), computation_);
    const Scores train = scores_at(network, x, scored_, statistics, computation_);
    const Scores test = scores_at(network, x, *instance_.test, statistics, computation_);
    const Index audited = std::min(audited_records, recipe_.records);
    Vector sum = Vector::Zero(x.size());
    const ClipReport all = records_.add_gradients(Point(x), Block::x, BatchView(0, audited),
                                                  std::numeric_limits<double>::infinity(), sum);
    const double largest = recipe_.clip * (clips_ ? log_.largest_norm : log_.largest_over_nominal);
    TrainedEpoch row{.epoch = epoch,
                     .train_loss = train.loss,
                     .train_accuracy = train.accuracy,
                     .test_accuracy = test.accuracy,
                     .audit_norm = all.largest_norm,
                     .mean_gradient_norm = sum.norm() / static_cast<double>(audited),
                     .violations = clips_ ? log_.clipped : log_.violations};
    if (epoch > 0) row.largest_norm = largest;
    if (recipe_.data == "cola") row.matthews = test.matthews;
    if (recipe_.curvature > 0) {
      const CurvatureEstimate estimate = estimate_lambda_min(
          objective_, x, {.tolerance = curvature_tolerance, .max_products = curvature_products},
          direction_);
      direction_ = estimate.direction;
      Vector gradient(x.size());
      whole_.gradient(x, gradient);
      row.lambda_min = estimate.lambda_min;
      row.smooth_gradient_norm = gradient.norm();
    }
    rows_.push_back(row);
    log_.largest_norm = log_.largest_over_nominal = 0;
    log_.clipped = log_.violations = 0;
    violated_ = violated_ || row.violations > 0;
  }

  /// As a run was left.
  void go_on(std::vector<TrainedEpoch> rows, Vector direction) {
    rows_ = std::move(rows);
    direction_ = std::move(direction);
    for (const TrainedEpoch& row : rows_) violated_ = violated_ || row.violations > 0;
  }
  const std::vector<TrainedEpoch>& rows() const { return rows_; }
  const Vector& direction() const { return direction_; }
  /// Whether a gradient that was summed was longer than C.
  bool violated() const { return violated_; }

 private:
  const Recipe& recipe_;
  const NetworkInstance& instance_;
  Computation computation_;
  ClipLog& log_;
  bool clips_;
  NetworkRecords records_;
  FirstExamples scored_;
  NetworkObjective objective_, whole_;
  Vector direction_;
  std::vector<TrainedEpoch> rows_;
  bool violated_ = false;
  bool whole_run_ = false;
};

/// Where a run that is cut off goes on: a file in $DPSOSP_CHECKPOINTS, written after each epoch and
/// removed at the end. Nothing without that variable.
class Checkpoint {
 public:
  Checkpoint(const nlohmann::json& parameters, std::uint64_t seed)
      : description_{{"parameters", parameters}, {"seed", seed}, {"format", 2}} {
    const char* folder = std::getenv("DPSOSP_CHECKPOINTS");  // NOLINT(concurrency-mt-unsafe)
    if (folder == nullptr || *folder == '\0') return;
    std::filesystem::create_directories(folder);
    file_ = std::filesystem::path(folder) / (RunKey(description_).hash() + ".cbor");
  }

  void save(const Vector& x, const EpochObserver& observer) const {
    if (file_.empty()) return;
    const std::vector<std::uint8_t> bytes =
        nlohmann::json::to_cbor({{"description", description_},
                                 {"point", bytes_of(x)},
                                 {"direction", bytes_of(observer.direction())},
                                 {"rows", TrainingResult{{}, observer.rows()}}});
    write_file(file_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});  // NOLINT
  }
  /// \throws InputError where the file is no checkpoint of this run
  bool load(Vector& x, EpochObserver& observer) const {
    if (file_.empty() || !std::filesystem::exists(file_)) return false;
    try {
      const nlohmann::json saved = nlohmann::json::from_cbor(read_file(file_));
      if (saved.at("description") == description_ &&
          saved.at("point").get_binary().size() ==
              static_cast<std::size_t>(x.size()) * sizeof(double)) {
        x = vector_of(saved.at("point").get_binary());
        observer.go_on(saved.at("rows").get<TrainingResult>().epochs,
                       vector_of(saved.at("direction").get_binary()));
        return true;
      }
    } catch (const nlohmann::json::exception&) {  // said below
    }
    throw InputError(
        fmt::format("{}: no checkpoint of this run; remove it to begin anew", file_.string()));
  }
  void remove() const {
    if (!file_.empty()) std::filesystem::remove(file_);
  }

 private:
  static nlohmann::json bytes_of(const Vector& v) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(v.size()) * sizeof(double));
    if (!bytes.empty()) std::memcpy(bytes.data(), v.data(), bytes.size());
    return nlohmann::json::binary(std::move(bytes));
  }
  static Vector vector_of(const std::vector<std::uint8_t>& bytes) {
    Vector v(static_cast<Index>(bytes.size() / sizeof(double)));
    if (!bytes.empty()) std::memcpy(v.data(), bytes.data(), bytes.size());
    return v;
  }

  nlohmann::json description_;
  std::filesystem::path file_;
};

/// One run of the algorithm. \throws RunFailed where it does not end well
Vector run_steps(const Algorithm& algorithm, Curator& curator, const StreamKey& key, Index steps,
                 Observer& observer) {
  const Outcome outcome = algorithm.run(curator, Stream::sealed(key), observer);
  if (outcome.status == Status::not_finite)
    throw RunFailed(
        fmt::format("not_finite: an iterate is not finite after {} steps", outcome.steps));
  if (outcome.steps != steps)
    throw RunFailed(
        fmt::format("{} of {} steps: {}", outcome.steps, steps, to_string(outcome.status)));
  return outcome.point;
}

StreamKey key_of_run(const nlohmann::json& parameters, std::uint64_t seed) {
  const std::string hash = RunKey(parameters).hash();
  return {.seed = seed,
          .run = static_cast<std::uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16)),
          .path = std::stoull(hash.substr(8, 16), nullptr, 16)};
}

struct Label {
  PrivacyLabel label;
  std::string reason;
};

Label label_of_run(const Recipe& recipe, const Network& network, const Curator& curator, bool clips,
                   bool violated) {
  if (!recipe.epsilon || recipe.epochs == 0) return {PrivacyLabel::none, "no noise"};
  if (network.mixes_records())
    return {PrivacyLabel::none,
            "batch normalisation mixes the records of a batch, so that no bound of one record's "
            "effect is known"};
  if (curator.label() != PrivacyLabel::conditional || clips)
    return {curator.label(), "clipping, noise and filter; nothing checks the sums of a network"};
  return violated ? Label{PrivacyLabel::violated, "gradients longer than C were summed"}
                  : Label{PrivacyLabel::conditional, "rests on no gradient being longer than C"};
}

}  // namespace

nlohmann::json train(const nlohmann::json& parameters, std::uint64_t seed) {
  const Recipe recipe(parameters.get<Training>());
  const auto family = recipe.family();
  const NetworkInstance instance = family->instance({.records = recipe.records, .seed = seed});
  const Computation computation = family->computation();
  const NetworkRecords records(instance.network, instance.train, computation);
  PublicFacts facts;
  facts.name = family->name();
  facts.dimension = instance.network->parameters();
  facts.records = recipe.records;
  facts.initial_point = instance.initial;

  const auto algorithm = find_algorithm(recipe.algorithm);
  const bool clips = algorithm->card().privacy == PrivacyLabel::enforced;
  // Without an epoch nothing is asked, and there is nothing to add noise to.
  const bool noisy = recipe.epsilon && recipe.epochs > 0;
  const bool sound = noisy && clips && recipe.neighbours() == Adjacency::replace_one;
  const BatchPolicy policy =
      recipe.poisson() ? BatchPolicy::poisson(recipe.rate()) : BatchPolicy::sample(recipe.batch);
  double z = 0.0;  // noise on the sum over C
  FilterRule rule;
  if (sound) {
    const CalibratedNoise noise =
        calibrate_common_noise(std::vector<PlannedQuery>{{policy, recipe.steps()}}, recipe.records,
                               {*recipe.epsilon, recipe.delta}, Calibrator::rdp);
    // A little more, so that rounding of an epoch's share of the budget refuses no step.
    z = 2.0 * noise.sensitivity_ratio * (1.0 + 1e-9);
    rule = noise.rule;
  } else if (noisy) {
    z = smallest_noise_multiplier(
        [&](double multiplier) { return recipe.events(multiplier, recipe.neighbours()); },
        recipe.neighbours(), *recipe.epsilon, recipe.delta);
  }
  const bool by_epochs = std::ranges::find(memoryless, recipe.algorithm) != memoryless.end();
  const Index steps_a_run = by_epochs ? recipe.steps_an_epoch() : recipe.steps();
  if (recipe.epochs > 0) {
    apply_settings(*algorithm, {{"steps", std::to_string(steps_a_run)},
                                {"step_size", fmt::format("{}", recipe.step_size)},
                                {"clip", fmt::format("{}", recipe.clip)},
                                {"sampling", recipe.poisson() ? "poisson" : "sample"},
                                {"batch", std::to_string(recipe.batch)},
                                {"noise", fmt::format("{}", z / 2.0)}});
    algorithm->check(facts);
  }

  ClipLog log;
  const StreamKey key = key_of_run(parameters, seed);
  Curator curator = sound ? Curator(facts, records, rule, key, &log)
                          : UnsoundCurator(facts, records, key, {.no_clipping = !clips}, &log);
  EpochObserver observer(recipe, instance, computation, log, clips);
  StreamKey steps_key = key;
  steps_key.purpose = Purpose::algorithm;
  Vector x = facts.initial_point;
  if (!by_epochs && recipe.epochs > 0) {
    observer.watch_whole_run();
    x = run_steps(*algorithm, curator, steps_key, steps_a_run, observer);
    observer.look(recipe.epochs, x);
  } else {
    // An epoch has a part of the budget and streams of its own, so that it is the same whether or
    // not the epochs before it were made in this process.
    const Checkpoint checkpoint(parameters, seed);
    if (!checkpoint.load(x, observer)) observer.look(0, x);
    const auto done = static_cast<Index>(observer.rows().size()) - 1;
    for (Index epoch = 0; epoch < recipe.epochs; ++epoch) {
      Curator part = curator.child({.name = fmt::format("epoch {}", epoch + 1),
                                    .share = 1.0 / static_cast<double>(recipe.epochs),
                                    .initial_point = x});
      if (epoch < done) continue;
      x = run_steps(*algorithm, part, steps_key.child(static_cast<std::uint64_t>(epoch)),
                    steps_a_run, observer);
      observer.look(epoch + 1, x);
      checkpoint.save(x, observer);
    }
    checkpoint.remove();
  }

  const Label label = label_of_run(recipe, *instance.network, curator, clips, observer.violated());
  const auto epsilon = [&](Adjacency under, double delta) {
    return noisy ? std::optional(recipe.epsilon_of_noise(z, under, delta)) : std::nullopt;
  };
  const double small_delta = 0.5 / static_cast<double>(recipe.records);
  const TrainingSummary summary{
      .label = std::string(word_of(label.label)),
      .reason = label.reason,
      .noise = z * recipe.clip / static_cast<double>(recipe.batch),
      .multiplier = z,
      .steps = recipe.steps(),
      .parameters = facts.dimension,
      .epsilon_add_remove = epsilon(Adjacency::add_remove, recipe.delta),
      .epsilon_replace_one = epsilon(Adjacency::replace_one, recipe.delta),
      .epsilon_small_delta = epsilon(Adjacency::replace_one, small_delta),
      .device = device_of_program()};
  return TrainingResult{summary, observer.rows()};
}

}  // namespace dpsosp::networks
