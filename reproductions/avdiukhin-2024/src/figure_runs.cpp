// SPDX-License-Identifier: Apache-2.0
#include "figure_runs.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::avdiukhin_2024_figures {
namespace {

using Epsilons = std::vector<std::optional<double>>;

constexpr std::nullopt_t no_noise = std::nullopt;

Epsilons every_epsilon() {
  Epsilons all(std::begin(published_epsilons), std::end(published_epsilons));
  all.emplace_back(no_noise);
  return all;
}

/// How large the runs of a figure are at one scale. Everything that a scale decides is here.
struct Sizes {
  Index width;    ///< divisor of the published widths
  Index records;  ///< n
  Index test_records;
  Index batch;  ///< B
  Index epochs;
  std::uint64_t seeds;
  bool augment;       ///< of variants as published
  Epsilons epsilons;  ///< of the variant `published`
  Epsilons sound;     ///< of the others, likewise
  Epsilons adam{};
  Epsilons own_gradients{};
  Epsilons smooth{};
  std::uint64_t smooth_seeds = 1;
  Index curvature = 0;  ///< records of λ_min, in the variant `smooth`
};

/// Figures 1 and 3: CIFAR-10, 50000 and 10000 images; the published B and epochs are those of the
/// notes, 5.1. At quick an epoch takes 7 s of a processor, clipped or not, so that all figures
/// together take some 80 minutes of one.
Sizes cifar10_sizes(Scale scale) {
  switch (scale) {
    case Scale::smoke:
      return {.width = 8,
              .records = 256,
              .test_records = 256,
              .batch = 64,
              .epochs = 1,
              .seeds = 1,
              .augment = false,
              .epsilons = {0.125, 8.0, no_noise},
              .sound = {8.0},
              .adam = {8.0},
              .own_gradients = {8.0},
              .smooth = {8.0},
              .curvature = 16};
    case Scale::quick:
      return {.width = 8,
              .records = 5000,
              .test_records = 2000,
              .batch = 128,
              .epochs = 6,
              .seeds = 3,
              .augment = false,
              .epsilons = every_epsilon(),
              .sound = {0.125, 0.5, 2.0, 8.0, no_noise},
              .adam = {0.5, 8.0},
              .own_gradients = {8.0, no_noise},
              .smooth = {1.0, no_noise},
              .curvature = 128};
    case Scale::full:
      break;
  }
  return {.width = 1,
          .records = 50000,
          .test_records = 10000,
          .batch = 512,
          .epochs = 24,
          .seeds = 10,
          .augment = true,
          .epsilons = every_epsilon(),
          .sound = every_epsilon(),
          .adam = every_epsilon(),
          .own_gradients = every_epsilon(),
          .smooth = {0.125, 1.0, 8.0, no_noise},
          .smooth_seeds = 3,
          .curvature = 512};
}

/// Figure 1b, a ResNet-18, costs three times Figure 1a an image.
Sizes resnet_sizes(Scale scale) {
  Sizes sizes = cifar10_sizes(scale);
  if (scale != Scale::quick) return sizes;
  sizes.records = 2500;
  sizes.epochs = 5;
  sizes.sound = {8.0};
  return sizes;
}

/// Figure 2a: CIFAR-100. Pretrained weights have their own widths.
Sizes cifar100_sizes(Scale scale) {
  Sizes sizes = cifar10_sizes(scale);
  sizes.width = 1;
  if (scale != Scale::quick) return sizes;
  sizes.epochs = 2;
  sizes.seeds = 1;
  sizes.sound = {8.0};
  return sizes;
}

/// Figure 2b: CoLA has 8551 sentences to train with and 527 + 516 to test with.
Sizes cola_sizes(Scale scale) {
  Sizes sizes = cifar10_sizes(scale);
  sizes.width = 1;
  sizes.batch = 32;
  sizes.test_records = 1043;
  switch (scale) {
    case Scale::smoke:
      sizes.records = 64;
      sizes.test_records = 64;
      break;
    case Scale::quick:
      sizes.records = 512;
      sizes.test_records = 527;
      sizes.epochs = 1;
      sizes.seeds = 1;
      sizes.sound = {8.0};
      break;
    case Scale::full:
      sizes.records = 8551;
      sizes.epochs = 3;
      break;
  }
  sizes.augment = false;
  return sizes;
}

Training training_of(const Sizes& sizes, std::string network, std::string data) {
  return {.network = std::move(network),
          .data = std::move(data),
          .width = sizes.width,
          .normalisation = "batch",
          .algorithm = "avdiukhin-2024/noisy-sgd",
          .clip = published_bound,
          .delta = 0.01,
          .adjacency = "add_remove",
          .sampling = "fixed",
          .batch = sizes.batch,
          .epochs = sizes.epochs,
          .step_size = 0.1,
          .records = sizes.records,
          .test_records = sizes.test_records,
          .augment = sizes.augment};
}

/// The same task, clipped. Clipping at 1 takes a longer step. \source avdiukhin-2024
/// notes, 5.6
Training made_sound(Training training) {
  training.normalisation = "group";
  training.algorithm = "avdiukhin-2024/dp-sgd";
  training.clip = 1;
  training.step_size = 2;
  training.adjacency = "replace_one";
  training.sampling = "poisson";
  training.augment = false;
  return training;
}

Training with_adam(Training training) {
  training = made_sound(std::move(training));
  training.algorithm = "abadi-2016/dp-adam";
  training.step_size = 0.002;
  return training;
}

VariantRuns published_1a(Scale scale) {
  const Sizes sizes = cifar10_sizes(scale);
  return {"1a", std::string(published), training_of(sizes, "cnn", "cifar10"), sizes.epsilons,
          sizes.seeds};
}

std::vector<VariantRuns> figure_1a(Scale scale) {
  const Sizes sizes = cifar10_sizes(scale);
  const VariantRuns as_published = published_1a(scale);
  Training with_hessian = as_published.training;
  with_hessian.normalisation = "group";
  with_hessian.smooth = true;
  with_hessian.curvature = sizes.curvature;
  return {as_published,
          {"1a", std::string(sound), made_sound(as_published.training), sizes.sound, sizes.seeds},
          {"1a", std::string(adam), with_adam(as_published.training), sizes.adam, sizes.seeds},
          {"1a", std::string(smooth), with_hessian, sizes.smooth, sizes.smooth_seeds}};
}

std::vector<VariantRuns> two_variants(std::string figure, const Training& training,
                                      const Sizes& sizes) {
  return {{figure, std::string(published), training, sizes.epsilons, sizes.seeds},
          {figure, std::string(sound), made_sound(training), sizes.sound, sizes.seeds}};
}

std::vector<VariantRuns> figure_2a(Scale scale) {
  const Sizes sizes = cifar100_sizes(scale);
  Training training = training_of(sizes, "resnet18", "cifar100");
  training.initial = "resnet18.safetensors";
  return two_variants("2a", training, sizes);
}

/// BERT has layer normalisation, so that each record has a gradient of its own.
std::vector<VariantRuns> figure_2b(Scale scale) {
  const Sizes sizes = cola_sizes(scale);
  Training training = training_of(sizes, "bert", "cola");
  training.normalisation = "group";
  training.initial = "bert-base-uncased/model.safetensors";
  return two_variants("2b", training, sizes);
}

/// The runs of Figure 1a, the same with a gradient for each record, and the published network as it
/// is before any step: at quick, too, of its full width.
std::vector<VariantRuns> figure_3a(Scale scale) {
  const Sizes sizes = cifar10_sizes(scale);
  const VariantRuns as_published = published_1a(scale);
  Training of_records = as_published.training;
  of_records.normalisation = "group";
  Training before = as_published.training;
  if (scale != Scale::smoke) before.width = 1;
  before.epochs = 0;
  before.records = before.test_records = 256;
  return {as_published,
          {"3a", std::string(own_gradients), of_records, sizes.own_gradients, sizes.seeds},
          {"3a", std::string(start), before, {no_noise}, sizes.seeds}};
}

std::vector<VariantRuns> figure_3b(Scale scale) {
  VariantRuns as_published = published_1a(scale);
  VariantRuns pessimistic = as_published;
  pessimistic.figure = "3b";
  pessimistic.training.clip = theorem_bound;
  std::erase(pessimistic.epsilons, no_noise);
  return {std::move(pessimistic), std::move(as_published)};
}

struct NeededFiles {
  std::vector<std::string> files;  ///< below the data folder
  std::string what;
};
NeededFiles needed_files(std::string_view figure) {
  if (figure == "2a")
    return {{"cifar-100-binary/train.bin", "cifar-100-binary/test.bin", "resnet18.safetensors"},
            "the binary version of CIFAR-100, and weights of ResNet-18 pretrained on ImageNet"};
  if (figure == "2b")
    return {{"cola_public/raw/in_domain_train.tsv", "cola_public/raw/in_domain_dev.tsv",
             "cola_public/raw/out_of_domain_dev.tsv", "bert-base-uncased/model.safetensors",
             "bert-base-uncased/vocab.txt"},
            "the corpus CoLA 1.1, and weights and vocabulary of the uncased BERT-base"};
  return {};
}

CurveRun curve_run(const VariantRuns& variant, const Job& job, const StoredRun& stored) {
  CurveRun run{.figure = variant.figure,
               .variant = variant.variant,
               .seed = job.seed(),
               .training = job.probe()->parameters.get<Training>()};
  if (stored.status == RunStatus::failed) {
    run.failure = stored.reason;
    return run;
  }
  try {
    run.result = stored.result.get<TrainingResult>();
  } catch (const InputError& e) {
    throw InputError(fmt::format("run {}: what is stored is no result of this program: {}",
                                 stored.key.hash(), e.what()));
  }
  return run;
}

/// Where the store's runs were computed.
std::vector<ComputedBy> origins_of(const std::vector<Job>& jobs, const Study& study) {
  std::vector<ComputedBy> origins;
  if (study.store == nullptr) return origins;
  for (const Job& job : jobs) {
    const auto provenance = study.store->provenance_of(job.key());
    if (!provenance) continue;
    const std::string build = to_string(provenance->build), day = provenance->started.substr(0, 10);
    auto origin = std::ranges::find(origins, build, &ComputedBy::build);
    if (origin == origins.end())
      origin = origins.insert(origin, {std::string(to_string(study.scale)), day, day, build, 0});
    origin->first = std::min(origin->first, day);
    origin->last = std::max(origin->last, day);
    ++origin->runs;
  }
  return origins;
}

bool is_shown(const std::vector<VariantRuns>& variants, const CurveRun& run) {
  return std::ranges::any_of(variants, [&](const VariantRuns& v) {
    return v.figure == run.figure && v.variant == run.variant;
  });
}

}  // namespace

std::vector<VariantRuns> runs_of_figure(std::string_view figure, Scale scale) {
  if (figure == "1a") return figure_1a(scale);
  if (figure == "1b") {
    const Sizes sizes = resnet_sizes(scale);
    return two_variants("1b", training_of(sizes, "resnet18", "cifar10"), sizes);
  }
  if (figure == "2a") return figure_2a(scale);
  if (figure == "2b") return figure_2b(scale);
  if (figure == "3a") return figure_3a(scale);
  if (figure == "3b") return figure_3b(scale);
  reject("runs_of_figure", "figure", std::string(figure), "1a, 1b, 2a, 2b, 3a or 3b");
}

std::vector<Job> training_jobs(const std::vector<VariantRuns>& variants, const Study& study) {
  std::vector<Job> jobs;
  for (const VariantRuns& variant : variants) {
    Training training = variant.training;
    for (const auto& epsilon : variant.epsilons) {
      training.epsilon = epsilon;
      for (std::uint64_t seed = 0; seed < variant.seeds; ++seed)
        jobs.push_back(study.probe(training_probe, training, seed));
    }
  }
  return jobs;
}

std::vector<Job> figure_jobs(std::string_view figure, const Study& study) {
  if (!missing_files(figure).empty()) return {};
  return training_jobs(runs_of_figure(figure, study.scale), study);
}

std::string missing_files(std::string_view figure) {
  const NeededFiles needed = needed_files(figure);
  std::vector<std::string> missing;
  for (const std::string& file : needed.files)
    if (!std::filesystem::exists(data_folder() / file)) missing.push_back(file);
  if (missing.empty()) return "";
  return fmt::format("needs data: {} ({}), to be put into $DPSOSP_DATA or data/; then {}",
                     fmt::join(missing, ", "), needed.what, command_of(figure));
}

FigureData figure_data(std::string_view figure, const Runs& runs, const Study& study,
                       const std::vector<CommittedCurves>& committed) {
  const std::vector<VariantRuns> variants = runs_of_figure(figure, study.scale);
  FigureData data;
  if (std::ranges::all_of(training_jobs(variants, study),
                          [&](const Job& job) { return runs.contains(job); })) {
    std::vector<Job> own;
    for (const VariantRuns& variant : variants)
      for (const Job& job : training_jobs({variant}, study)) {
        data.runs.push_back(curve_run(variant, job, runs.at(job)));
        if (variant.figure == figure) own.push_back(job);
      }
    data.origins = origins_of(own, study);
    return data;
  }
  for (const CommittedCurves& c : committed) {
    const std::string where = fmt::format("results/{}", c.folder);
    for (CurveRun& run : read_curves(where + "/curves.csv", c.curves))
      if (is_shown(variants, run)) data.runs.push_back(std::move(run));
    if (c.folder == fmt::format("avdiukhin-2024-figure-{}", figure))
      data.origins = read_provenance(where + "/provenance.csv", c.provenance);
  }
  data.before = !data.runs.empty();
  return data;
}

std::string command_of(std::string_view figure) {
  return fmt::format("./run reproduce avdiukhin-2024/figure-{}", figure);
}

std::string nothing_to_show(std::string_view figure) {
  const std::string missing = missing_files(figure);
  return missing.empty() ? fmt::format("not computed here: {}", command_of(figure)) : missing;
}

}  // namespace dpsosp::avdiukhin_2024_figures
