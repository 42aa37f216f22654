// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/curator.hpp"

/// Noisy gradient descent from x₀ until the budget is gone. Returns the number of steps.
dpsosp::Index descend(dpsosp::Curator& curator, dpsosp::Vector& x);
