// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/networks/network.hpp"

namespace dpsosp::networks {

/// Sizes of a BERT encoder, `layers` in [1, 1024] and the others in [1, 131072]; without changes
/// those of BERT-base, uncased.
struct BertOptions {
  Index vocabulary = 30522;
  Index positions = 512;  ///< rows of the table of positions
  Index length = 64;      ///< tokens of the longest sentence that is read, at most `positions`
  Index layers = 12;
  Index features = 768;  ///< of a token; a multiple of `heads`
  Index heads = 12;
  Index inner = 3072;  ///< features between the two linear layers of a block
  Index classes = 2;
};

/// BERT for the classification of single sentences. Tokens are b × T integers in [0, vocabulary),
/// T ≤ length; a mask of b × T is 0 where a place only pads, which then has no influence. Without
/// a mask each place is a token.
///
/// h = norm(word + position + type 0), then `layers` times
///   h ← norm(h + W_o attention(h) + b_o), attention(h) = softmax(qkᵀ/√(features/heads)) v a head,
///   h ← norm(h + W₂ gelu(W₁h + b₁) + b₂), gelu(u) = uΦ(u),
/// and scores = W tanh(W_p h₁ + b_p) + b of the first token. Norms add 1e-12 to the variance.
/// There is no dropout: a record's loss is a function of the record and the parameters.
///
/// The names of the parameters are those of published files, `bert.embeddings.…`,
/// `bert.encoder.layer.0.…`, `bert.pooler.dense.…`, `classifier.…`. With the standard sizes there
/// are 109,482,240, and 1,538 of the last layer.
/// \throws InputError that begins with "bert" for sizes that make no network
/// \source Devlin, Chang, Lee and Toutanova, BERT (2019)
std::unique_ptr<Network> bert(const BertOptions& options);

}  // namespace dpsosp::networks
