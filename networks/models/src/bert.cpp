// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/bert.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "parts.hpp"

namespace dpsosp::networks {
namespace {

constexpr double bert_epsilon = 1e-12;  // of the variance
constexpr Index token_types = 2;        // first and second sentence; the second does not occur
constexpr Index most_layers = 1024, most_of_a_size = 131072;  // whose products fit an Index

/// A layer of named parts, which it calls in an order of its own.
class Composite : public Layer {
 public:
  void place(std::vector<std::int64_t>& sizes) final { parts_.place(sizes); }
  void initialise(Stream& stream, VectorRef parameters) const final {
    parts_.initialise(stream, parameters);
  }
  void name(const std::string& prefix, std::vector<Named>& out) const final {
    parts_.name(prefix, out);
  }

 protected:
  template <class Part, class... Arguments>
  const Part& part(std::string name, const Arguments&... arguments) {
    auto made = std::make_unique<Part>(arguments...);
    const Part& kept = *made;
    parts_.add(std::move(name), std::move(made));
    return kept;
  }
  const Linear& linear(std::string name, Index in, Index out) {
    return part<Linear>(std::move(name), in, out, true, Linear::Start::normal);
  }
  const FeatureNorm& norm(std::string name, Index features) {
    return part<FeatureNorm>(std::move(name), features, bert_epsilon);
  }

 private:
  Sequence parts_;
};

/// From tokens, b × T, to b × T × features.
class TokenEmbeddings final : public Composite {
 public:
  explicit TokenEmbeddings(const BertOptions& o)
      : word_(part<Embedding>("word_embeddings", o.vocabulary, o.features)),
        position_(part<Embedding>("position_embeddings", o.positions, o.features)),
        type_(part<Embedding>("token_type_embeddings", token_types, o.features)),
        norm_(norm("LayerNorm", o.features)) {}
  Tensor forward(Pass& pass, Tensor tokens) const override {
    // A row for each record, also where all rows are the same: gradients are of single records.
    const Tensor positions = at::arange(tokens.size(1), tokens.options()).expand_as(tokens);
    const Tensor sum = word_.forward(pass, tokens) + position_.forward(pass, positions) +
                       type_.forward(pass, at::zeros_like(tokens));
    return norm_.forward(pass, sum);
  }

 private:
  const Embedding &word_, &position_, &type_;
  const FeatureNorm& norm_;
};

/// Self-attention, then two linear layers, each with a short cut and a norm behind.
class EncoderBlock final : public Composite {
 public:
  explicit EncoderBlock(const BertOptions& o)
      : heads_(o.heads),
        scale_(1.0 / std::sqrt(static_cast<double>(o.features / o.heads))),
        query_(linear("attention.self.query", o.features, o.features)),
        key_(linear("attention.self.key", o.features, o.features)),
        value_(linear("attention.self.value", o.features, o.features)),
        mixed_(linear("attention.output.dense", o.features, o.features)),
        mixed_norm_(norm("attention.output.LayerNorm", o.features)),
        wide_(linear("intermediate.dense", o.features, o.inner)),
        narrow_(linear("output.dense", o.inner, o.features)),
        norm_(norm("output.LayerNorm", o.features)) {}
  Tensor forward(Pass& pass, Tensor input) const override {
    const Tensor mixed = mixed_.forward(pass, attention(pass, input));
    const Tensor hidden = mixed_norm_.forward(pass, input + mixed);
    const Tensor inner = at::gelu(wide_.forward(pass, hidden));
    return norm_.forward(pass, hidden + narrow_.forward(pass, inner));
  }

 private:
  Tensor attention(Pass& pass, const Tensor& input) const {
    const std::int64_t records = input.size(0), tokens = input.size(1);
    const auto by_head = [&](const Linear& layer) {
      return layer.forward(pass, input).view({records, tokens, heads_, -1}).transpose(1, 2);
    };
    const Tensor query = by_head(query_), key = by_head(key_), value = by_head(value_);
    Tensor likeness = at::matmul(query, key.transpose(2, 3)) * scale_;
    if (pass.mask.defined())
      likeness = likeness.masked_fill(pass.mask.eq(0).view({records, 1, 1, tokens}),
                                      -std::numeric_limits<double>::infinity());
    const Tensor mixed = at::matmul(likeness.softmax(-1), value);
    return mixed.transpose(1, 2).reshape({records, tokens, -1});
  }

  Index heads_;
  double scale_;
  const Linear &query_, &key_, &value_, &mixed_;
  const FeatureNorm& mixed_norm_;
  const Linear &wide_, &narrow_;
  const FeatureNorm& norm_;
};

/// tanh(W h₁ + b) of the first token.
class FirstToken final : public Composite {
 public:
  explicit FirstToken(Index features) : dense_(linear("dense", features, features)) {}
  Tensor forward(Pass& pass, Tensor input) const override {
    return dense_.forward(pass, input.select(1, 0)).tanh();
  }

 private:
  const Linear& dense_;
};

void check_sizes(const BertOptions& o) {
  const auto check = [](std::string_view name, Index size, Index most) {
    if (size < 1 || size > most)
      reject("bert", name, static_cast<double>(size), fmt::format("1 to {}", most));
  };
  check("layers", o.layers, most_layers);
  for (const auto& [name, size] : {std::pair{"vocabulary", o.vocabulary},
                                   {"positions", o.positions},
                                   {"length", o.length},
                                   {"features", o.features},
                                   {"heads", o.heads},
                                   {"inner", o.inner},
                                   {"classes", o.classes}})
    check(name, size, most_of_a_size);
  if (o.length > o.positions)
    reject("bert", "length", static_cast<double>(o.length),
           fmt::format("at most positions = {}", o.positions));
  if (o.features % o.heads != 0)
    reject("bert", "features", static_cast<double>(o.features),
           fmt::format("a multiple of heads = {}", o.heads));
}

}  // namespace

std::unique_ptr<Network> bert(const BertOptions& o) {
  check_sizes(o);
  auto body = std::make_unique<Sequence>();
  body->add("bert.embeddings", std::make_unique<TokenEmbeddings>(o));
  for (Index k = 0; k < o.layers; ++k)
    body->add(fmt::format("bert.encoder.layer.{}", k), std::make_unique<EncoderBlock>(o));
  body->add("bert.pooler", std::make_unique<FirstToken>(o.features));
  body->add("classifier",
            std::make_unique<Linear>(o.features, o.classes, true, Linear::Start::normal));
  auto network = std::make_unique<Network>("bert", std::move(body), false);
  // Of a block and token: thirteen vectors of features, three inner ones, three numbers a head for
  // each other token. Measured at the standard sizes: 16.5 million in all.
  network->kept_a_record =
      o.layers * o.length * (13 * o.features + 3 * o.inner + 3 * o.heads * o.length);
  return network;
}

}  // namespace dpsosp::networks
