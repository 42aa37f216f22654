// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "dpsosp/report/site.hpp"

// Prints the schema of the models, for the tests in Python.
int main() { std::cout << nlohmann::json{{"$defs", dpsosp::report::model_schema()}} << '\n'; }
