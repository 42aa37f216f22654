// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/cola.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/sentence_examples.hpp"
#include "dpsosp/networks/sentences.hpp"
#include "dpsosp/networks/wordpiece.hpp"
#include "weights.hpp"

namespace dpsosp::networks {
namespace {

/// A file below the data folder. \throws InputError "needs data: ..." where it is missing
std::filesystem::path needed(std::string_view file, std::string_view what) {
  std::filesystem::path path = data_folder() / file;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw InputError(fmt::format("needs data: {} is missing; put {} there", path.string(), what));
  return path;
}

std::filesystem::path needed_vocabulary() {
  return needed("bert-base-uncased/vocab.txt", "the vocabulary of that model, a piece a line,");
}

std::filesystem::path needed_weights(const std::string& file) {
  return needed(file, "the weights of bert-base-uncased, or of a BERT of your own, as safetensors");
}

std::shared_ptr<const Examples> encoded(std::span<const Sentence> sentences,
                                        const WordPiece& pieces, Index length) {
  std::vector<std::vector<std::int64_t>> tokens;
  std::vector<int> labels;
  for (const Sentence& sentence : sentences) {
    EncodedText text = pieces.encode(sentence.text, length);
    text.ids.resize(static_cast<std::size_t>(std::ranges::count(text.mask, 1)));
    tokens.push_back(std::move(text.ids));
    labels.push_back(sentence.label);
  }
  return std::make_shared<SentenceExamples>(std::move(tokens), std::move(labels));
}

}  // namespace

std::string_view ColaFamily::summary() const {
  return "cross entropy of BERT on CoLA, whether a sentence is acceptable (your own files)";
}

ProblemNotes ColaFamily::notes() const {
  return {.group = "Networks",
          .formula =
              "f(w; x, y) = −log softmax(s(w; x))_y, s the two scores of BERT for the "
              "sentence x, y = 1 where speakers accept it. No dropout.",
          .source = "avdiukhin-2024, Section 4",
          .critical_points = "Nothing is known: no constant is proved."};
}

Fields ColaFamily::fields() {
  using namespace range;
  Fields list = computation_fields();
  list.push_back(field("length", sizes.length, at_least(2),
                       "tokens that a sentence is cut to, [CLS] and [SEP] among them"));
  list.push_back(
      field("test_records", test_records, at_least(1), "sentences that accuracy is measured on"));
  list.push_back(field("layers", sizes.layers, at_least(1), "blocks of the encoder"));
  list.push_back(field("features", sizes.features, at_least(1), "of a token; a multiple of heads"));
  list.push_back(field("heads", sizes.heads, at_least(1), "of the attention"));
  list.push_back(field("inner", sizes.inner, at_least(1), "features within a block"));
  list.push_back(
      field("positions", sizes.positions, at_least(1), "rows of the table of positions"));
  list.push_back(field("weights", weights,
                       "safetensors file of initial parameters in the data folder; else random"));
  return list;
}

std::string ColaFamily::missing() const {
  try {
    read_cola(data_folder());
    needed_vocabulary();
    if (!weights.empty()) needed_weights(weights);
    return {};
  } catch (const InputError& e) {
    return e.what();
  }
}

std::shared_ptr<const Network> ColaFamily::network() const {
  BertOptions options = sizes;
  options.vocabulary = WordPiece::read(needed_vocabulary()).size();
  return bert(options);
}

void ColaFamily::load_parameters(const Network& network, Vector& parameters) const {
  if (!weights.empty()) load_weights(network, needed_weights(weights), parameters);
}

NetworkExamples ColaFamily::examples(const InstanceSpec& spec) const {
  Cola cola = read_cola(data_folder());
  const Index from = first_record(spec, std::ssize(cola.train));
  const WordPiece pieces = WordPiece::read(needed_vocabulary());
  std::vector<Sentence>& test = cola.in_domain;
  test.insert(test.end(), cola.out_of_domain.begin(), cola.out_of_domain.end());
  if (test_records > std::ssize(test))
    reject(name(), "test_records", static_cast<double>(test_records),
           fmt::format("1 to {}", test.size()));
  test.resize(static_cast<std::size_t>(test_records));
  const std::span train(cola.train);
  return {
      encoded(train.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(spec.records)),
              pieces, sizes.length),
      encoded(test, pieces, sizes.length)};
}

}  // namespace dpsosp::networks
