// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/records.hpp"

dpsosp::Index look(const dpsosp::AnyRecords& records) { return records.size(); }
