// SPDX-License-Identifier: Apache-2.0
// What an algorithm's author might try, to read records, take the noise away or be charged less.
// With ATTACK 0 it compiles; with any other number it must not.
#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"

#if ATTACK == 3 || ATTACK == 6
namespace dpsosp {
struct Handles {  // the friend of all handles, which no header of theirs defines
  static auto& of(Curator& curator) { return *curator.curator_; }
  static auto& of(const Batch& batch) { return *batch.drawn_; }
};
}  // namespace dpsosp
#endif

namespace attack {

using namespace dpsosp;

/// An explicit instantiation may name private members.
template <auto member, class Owner>
struct Rob {
  friend auto& robbed(Owner& owner) { return owner.*member; }
};
#if ATTACK == 2
auto& robbed(Curator& curator);
template struct Rob<&Curator::curator_, Curator>;
#elif ATTACK == 5
template struct Rob<&TreeStream::sum_, TreeStream>;
#elif ATTACK == 7
template struct Rob<&StationarityTest::measure, StationarityTest>;
#endif

double run(Curator& curator, const Stream& stream) {
  const Batch batch = curator.draw(BatchPolicy::poisson(0.5));
  const Vector x = curator.facts().initial_point;
  double leak = static_cast<double>(stream.position()) + batch.policy().rate;
#if ATTACK == 1  // the seed of the noise
  leak += static_cast<double>(stream.key().seed);
#elif ATTACK == 2  // a private query of the curator
  leak += robbed(curator)->read_loss_difference(x, x, batch, 1.0);
#elif ATTACK == 3  // the same by a friend's name
  leak += Handles::of(curator).read_loss_difference(x, x, batch, 1.0);
#elif ATTACK == 4  // a batch charged at another rate than it was drawn with
  const_cast<BatchPolicy&>(batch.policy()).rate = 1e-6;
#elif ATTACK == 6
  Handles::of(batch).policy.rate = 1e-6;
#elif ATTACK == 8  // an empty ledger
  const_cast<Ledger&>(curator.ledger()) = Ledger();
#elif ATTACK == 9  // two answers for the threshold of one session
  LineSearch search(curator, batch, x, {});
  LineSearch again(search);
#endif
  return leak;
}

}  // namespace attack
