// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/main.hpp"

int main(int argc, char** argv) { return dpsosp::main(argc, argv); }
