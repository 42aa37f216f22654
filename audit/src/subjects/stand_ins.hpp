// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "dpsosp/trusted/records.hpp"

/// Records that stand in for another one, as records of size 1.
namespace dpsosp::audit {

/// Record number `index` of other records, as records of size 1. They outlive it.
std::shared_ptr<const AnyRecords> one_of(const AnyRecords& records, Index index);
/// The same with its loss multiplied by `factor`: −1 flips it, 0 removes it, 100 goes beyond every
/// limit that a constant of the problem gives.
std::shared_ptr<const AnyRecords> scaled(std::shared_ptr<const AnyRecords> record, double factor);
enum class Direction {
  diagonal,     ///< (1, …, 1)
  first,        ///< the first coordinate
  alternating,  ///< (1, …, 1) or its opposite, by a hash of the point
  seldom,       ///< (1, …, 1) at one point of eight, by a hash; zero elsewhere
  outward,      ///< (1, …, 1), and the loss falls away from the centre to all sides
};
/// No record of the problem: whatever is asked, it answers `size` times the limit in one fixed
/// direction, so that two of opposite sign move every answer by all that clipping allows. A size of
/// NaN answers what is not finite. \param like  says which questions are answered
/// \param direction  of gradients
std::shared_ptr<const AnyRecords> saturating(const AnyRecords& like, double size,
                                             Direction direction = Direction::diagonal);
/// The same, with `before` called whenever it is asked; what that throws is thrown.
std::shared_ptr<const AnyRecords> announced(std::shared_ptr<const AnyRecords> record,
                                            std::function<void()> before);
/// `size` records that are all alike.
std::unique_ptr<const AnyRecords> alike(std::shared_ptr<const AnyRecords> record, Index size);

}  // namespace dpsosp::audit
