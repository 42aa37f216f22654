// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/bert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dpsosp/networks/network_loss.hpp"
#include "dpsosp/networks/safetensors.hpp"
#include "paths.hpp"
#include "some_images.hpp"
#include "some_sentences.hpp"
#include "support.hpp"

namespace dpsosp::bert_test {
namespace {

using namespace networks;

constexpr BertOptions tiny{.vocabulary = 20,
                           .positions = 10,
                           .length = 10,
                           .layers = 2,
                           .features = 8,
                           .heads = 2,
                           .inner = 12,
                           .classes = 3};
const Computation in_double{.type = torch::kDouble, .device = torch::kCPU};
constexpr Index count = 8;

std::filesystem::path vectors_file(const std::string& name) {
  return std::filesystem::path(in_checkout("tests/networks/data")) / name;
}

/// What tiny_bert.py made.
nlohmann::json vectors() {
  std::ifstream in(vectors_file("tiny_bert.json"));
  return nlohmann::json::parse(in);
}

Index offset_of(const Network& network, const std::string& name) {
  for (const Layer::Named& part : network.named())
    if (part.name == name) return part.offset;
  ADD_FAILURE() << "no parameter " << name;
  return 0;
}

/// The parameters of the script's file.
Vector published_parameters(const Network& network) {
  const SafetensorsFile file(vectors_file("tiny_bert.safetensors"));
  Vector x = Vector::Constant(network.parameters(), std::nan(""));
  for (const TensorInfo& tensor : file.tensors()) {
    const std::vector<float> values = file.read(tensor.name);
    const Index from = offset_of(network, tensor.name);
    for (std::size_t k = 0; k < values.size(); ++k)
      x[from + static_cast<Index>(k)] = static_cast<double>(values[k]);
  }
  return x;
}

/// Normal with deviation 0.5, so that no layer is close to linear.
Vector rough_start(const Network& network) {
  Vector x(network.parameters());
  Stream({.seed = 5, .purpose = Purpose::test}).fill_normal(0.5, x);
  return x;
}

torch::Tensor parameters_of(const Vector& x) {
  return torch::from_blob(const_cast<double*>(x.data()), {x.size()}, torch::kDouble).clone();
}

torch::Tensor integers(const std::vector<std::int64_t>& row) {
  return torch::tensor(row, torch::kLong).unsqueeze(0);
}

/// The scores of one sentence; every place a token where the mask is none.
std::vector<double> scores_of(const Network& network, const Vector& x,
                              const std::vector<std::int64_t>& ids,
                              const torch::Tensor& mask = {}) {
  Pass pass{.parameters = network.parts(parameters_of(x)), .mask = mask};
  const torch::Tensor scores = network.scores(pass, integers(ids)).contiguous();
  return {scores.data_ptr<double>(), scores.data_ptr<double>() + scores.numel()};
}

std::vector<std::int64_t> tokens_of(const nlohmann::json& record) {
  auto ids = record.at("ids").get<std::vector<std::int64_t>>();
  ids.resize(record.at("tokens"));
  return ids;
}

std::shared_ptr<const Examples> published_records(const nlohmann::json& records) {
  std::vector<std::vector<std::int64_t>> tokens;
  std::vector<int> labels;
  for (const nlohmann::json& record : records) {
    tokens.push_back(tokens_of(record));
    labels.push_back(record.at("label"));
  }
  return std::make_shared<SentenceExamples>(std::move(tokens), std::move(labels));
}

/// ∇f(x; z_i) by a backward pass of that record alone.
Vector gradient_of(const std::shared_ptr<const Network>& network,
                   const std::shared_ptr<const Examples>& examples, Index record,
                   ConstVectorRef x) {
  Vector gradient(x.size());
  NetworkObjective(network, examples, {record}, in_double).gradient(x, gradient);
  return gradient;
}

TEST(Bert, HasThePublishedNumberOfParameters) {
  const auto network = bert({});
  EXPECT_EQ(network->parameters(), 109'482'240 + 1'538);
  EXPECT_EQ(network->head(), 109'482'240);
  EXPECT_FALSE(network->mixes_records());
}

TEST(Bert, NamesItsParametersAsPublishedFilesDo) {
  const auto network = bert(tiny);
  const SafetensorsFile file(vectors_file("tiny_bert.safetensors"));
  std::map<std::string, std::vector<Index>> published;
  for (const TensorInfo& tensor : file.tensors()) published[tensor.name] = tensor.shape;
  Index next = 0;
  for (const Layer::Named& part : network->named()) {
    ASSERT_TRUE(published.contains(part.name)) << part.name;
    EXPECT_EQ(published[part.name], std::vector<Index>(part.shape.begin(), part.shape.end()))
        << part.name;
    EXPECT_EQ(part.offset, next) << part.name;
    Index entries = 1;
    for (const auto extent : part.shape) entries *= extent;
    next += entries;
    published.erase(part.name);
  }
  EXPECT_TRUE(published.empty()) << published.begin()->first;
  EXPECT_EQ(next, network->parameters());
}

TEST(Bert, HasTheScoresAndLossesOfAnIndependentProgram) {
  const std::shared_ptr<const Network> network = bert(tiny);
  const Vector x = published_parameters(*network);
  const nlohmann::json made = vectors();
  const auto examples = published_records(made.at("records"));
  for (Index i = 0; i < examples->size(); ++i) {
    const nlohmann::json& record = made.at("records").at(static_cast<std::size_t>(i));
    const auto expected = record.at("scores").get<std::vector<double>>();
    const std::vector<double> scores = scores_of(*network, x, tokens_of(record));
    ASSERT_EQ(scores.size(), expected.size());
    for (std::size_t k = 0; k < scores.size(); ++k)
      EXPECT_NEAR(scores[k], expected[k], 1e-10) << i << ", " << k;
    EXPECT_NEAR(NetworkObjective(network, examples, {i}, in_double).value(x),
                record.at("loss").get<double>(), 1e-10);
  }
}

TEST(Bert, HasTheGradientsOfAnIndependentProgram) {
  const std::shared_ptr<const Network> network = bert(tiny);
  const Vector x = published_parameters(*network);
  const nlohmann::json made = vectors();
  const auto examples = published_records(made.at("records"));
  std::vector<Vector> gradients;
  for (Index i = 0; i < examples->size(); ++i)
    gradients.push_back(gradient_of(network, examples, i, x));
  std::set<std::string> tensors;
  for (const nlohmann::json& entry : made.at("gradients")) {
    const std::string name = entry.at("tensor");
    tensors.insert(name);
    const Index at = offset_of(*network, name) + entry.at("at").get<Index>();
    for (std::size_t i = 0; i < gradients.size(); ++i)
      EXPECT_NEAR(gradients[i][at], entry.at("values").at(i).get<double>(), 1e-7) << entry;
  }
  EXPECT_EQ(tensors.size(), network->named().size());
}

TEST(Bert, GivesPaddingNoInfluence) {
  const auto network = bert(tiny);
  const Vector x = rough_start(*network);
  const std::vector<double> alone = scores_of(*network, x, {2, 7, 11, 7, 3});
  const torch::Tensor mask = integers({1, 1, 1, 1, 1, 0, 0, 0, 0});
  for (const std::int64_t padding : {0, 7, 19}) {
    std::vector<std::int64_t> padded{2, 7, 11, 7, 3, 0, 0, 0, 0};
    std::fill(padded.begin() + 5, padded.end(), padding);
    const std::vector<double> scores = scores_of(*network, x, padded, mask);
    for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(scores[k], alone[k], 1e-12);
    EXPECT_GT(std::abs(scores_of(*network, x, padded)[0] - alone[0]), 1e-6) << "without a mask";
  }
}

TEST(Bert, TellsSentencesApartByTheOrderOfTheirTokens) {
  const auto network = bert(tiny);
  const Vector x = rough_start(*network);
  const auto one = scores_of(*network, x, {2, 7, 11, 3}),
             other = scores_of(*network, x, {2, 11, 7, 3});
  EXPECT_GT(std::abs(one[0] - other[0]), 1e-6);
}

TEST(Bert, StartsWithUnitScalesAndZeroBiases) {
  const auto network = bert(tiny);
  const Vector x = network->initial(Stream({.seed = 1, .purpose = Purpose::initial_point}));
  for (const Layer::Named& part : network->named()) {
    if (part.shape.size() != 1) continue;
    const double expected = part.name.ends_with("LayerNorm.weight") ? 1.0 : 0.0;
    EXPECT_EQ(x.segment(part.offset, part.shape[0]), Vector::Constant(part.shape[0], expected))
        << part.name;
  }
}

TEST(Bert, RefusesSizesThatMakeNoNetwork) {
  const auto refused = [](auto change) {
    BertOptions options = tiny;
    change(options);
    return refusal([&] { bert(options); });
  };
  EXPECT_EQ(refused([](BertOptions& o) { o.layers = 0; }), "bert: layers = 0, expected 1 to 1024");
  EXPECT_EQ(refused([](BertOptions& o) { o.inner = 131073; }),
            "bert: inner = 131073, expected 1 to 131072");
  EXPECT_EQ(refused([](BertOptions& o) { o.heads = 3; }),
            "bert: features = 8, expected a multiple of heads = 3");
  EXPECT_EQ(refused([](BertOptions& o) { o.length = 11; }),
            "bert: length = 11, expected at most positions = 10");
}

struct Case {
  RecordForm form;
  torch::Dtype type;
};

std::string name_of(const Case& c) {
  const std::array<std::string, 3> forms{"Direct", "Ghost", "Automatic"};
  return forms[static_cast<std::size_t>(c.form)] + (c.type == torch::kDouble ? "Double" : "Float");
}

class BertRecordGradients : public testing::TestWithParam<Case> {
 protected:
  BertRecordGradients() {
    auto made = bert(tiny);
    made->form = GetParam().form;
    network = std::move(made);
    x = rough_start(*network);
    for (Index i = 0; i < count; ++i) gradients.push_back(gradient_of(network, sentences, i, x));
  }
  NetworkRecords records() const { return {network, sentences, {.type = GetParam().type}}; }

  std::shared_ptr<const Network> network;
  std::shared_ptr<const Examples> sentences = some_sentences(count, 31, 20, 10, 3);
  Vector x;
  std::vector<Vector> gradients;  ///< of one record at a time
};

TEST_P(BertRecordGradients, HaveTheNormsOfOneRecordAtATime) {
  const std::vector<double> norms = records().norms(x, BatchView(0, count));
  const double tolerance = GetParam().type == torch::kDouble ? 1e-10 : 1e-5;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    EXPECT_NEAR(norms[i] / gradients[i].norm(), 1.0, tolerance) << i;
}

TEST_P(BertRecordGradients, AddUpToTheClippedSum) {
  std::vector<double> norms;
  for (const Vector& gradient : gradients) norms.push_back(gradient.norm());
  std::ranges::sort(norms);
  const double limit = 0.5 * (norms[3] + norms[4]);  // clips four of eight
  Vector expected = Vector::Zero(x.size()), sum = expected;
  for (const Vector& gradient : gradients)
    expected += std::min(1.0, limit / gradient.norm()) * gradient;
  EXPECT_EQ(records().add_gradients(Point(x), Block::x, BatchView(0, count), limit, sum).clipped,
            4);
  const double tolerance = GetParam().type == torch::kDouble ? 1e-8 : 2e-3;
  EXPECT_LE((sum - expected).norm(), tolerance * expected.norm());
}

TEST_P(BertRecordGradients, OfOneRecordDoNotDependOnTheOthers) {
  const auto sum_of = [&](std::vector<Index> members) {
    Vector sum = Vector::Zero(x.size());
    records().add_gradients(Point(x), Block::x, BatchView(members), 1.0, sum);
    return sum;
  };
  const Vector moved = sum_of({0, 3, 5, 6}) - sum_of({0, 3, 5, 7});
  const double tolerance = GetParam().type == torch::kDouble ? 1e-10 : 1e-4;
  EXPECT_LE((moved - sum_of({6}) + sum_of({7})).norm(), tolerance);
  EXPECT_LE(moved.norm(), 2.0);
}

INSTANTIATE_TEST_SUITE_P(AllForms, BertRecordGradients,
                         testing::Values(Case{RecordForm::direct, torch::kDouble},
                                         Case{RecordForm::ghost, torch::kDouble},
                                         Case{RecordForm::automatic, torch::kDouble},
                                         Case{RecordForm::direct, torch::kFloat},
                                         Case{RecordForm::ghost, torch::kFloat},
                                         Case{RecordForm::automatic, torch::kFloat}),
                         [](const auto& c) { return name_of(c.param); });

TEST(BertObjective, HasTheHessianOfItsGradient) {
  const std::shared_ptr<const Network> network = bert(tiny);
  const auto sentences = some_sentences(count, 32, 20, 10, 3);
  const NetworkObjective objective(network, sentences, {0, 1, 2, 5, 7}, in_double);
  const Vector x = rough_start(*network);
  Vector v(x.size()), product(x.size()), ahead(x.size()), behind(x.size()), gradient(x.size());
  Stream({.seed = 2, .purpose = Purpose::test}).fill_normal(1.0, v);
  v /= v.norm();
  objective.hessian_product(x, v, product);
  const double h = 1e-4;
  objective.gradient(x + h * v, ahead);
  objective.gradient(x - h * v, behind);
  EXPECT_LE((product - (ahead - behind) / (2 * h)).norm(), 1e-5 * product.norm());
  objective.gradient(x, gradient);
  const double slope = (objective.value(x + h * v) - objective.value(x - h * v)) / (2 * h);
  EXPECT_NEAR(slope, gradient.dot(v), 1e-6 * (1 + std::abs(slope)));
}

TEST(RecordsAChunk, AreAsManyAsTheRowsThatAreHeldAllow) {
  // BERT-base holds rows of its normalisations and smallest tables alone, and no row has 109
  // million entries.
  for (const Index length : {16, 64}) {
    const auto network = bert({.length = length});
    EXPECT_LE(records_a_chunk(*network) * network->kept_a_record, Index{1} << 28) << length;
    EXPECT_GE(records_a_chunk(*network), 8) << length;
  }
  EXPECT_EQ(records_a_chunk(*bert(tiny)), 64);
  const auto direct = bert({});
  direct->form = RecordForm::direct;
  EXPECT_EQ(records_a_chunk(*direct), 1);
  for (const Index width : {1, 2, 4}) {
    const auto network = cifar_cnn({.width = width});
    EXPECT_LE(records_a_chunk(*network) * network->row_entries(), Index{1} << 26) << width;
    EXPECT_GE(records_a_chunk(*network), 32) << width;
  }
}

}  // namespace
}  // namespace dpsosp::bert_test
