// SPDX-License-Identifier: Apache-2.0
// The file of `account --batch`, read and answered.
#include "account_batch.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {
namespace {

const std::string header =
    "id,mechanism,accountant,conversion,adjacency,solve_for,sigma,q,steps,delta,eps0,rho,order,"
    "order_grid,epsilon\n";

}  // namespace

void read(std::string_view input) {
  read_file_with(input, [](const char* path) { account_batch(path); });
}

std::vector<std::string> seeds() {
  return {header + "a,gaussian,analytic_gaussian,balle_wang,any,epsilon,0.5,1,1,1e-05,,,,,9.99\r\n",
          header + "b,poisson_gaussian,rdp,none,add_remove,rdp,5,0.01,1,,,,1.25,,\n",
          header +
              "c,wor_gaussian,rdp,cks_on_grid,replace_one,epsilon,4,0.001,10,1e-6,,,,"
              "int_2_256,1\n",
          header + "d,tree_gaussian,zcdp,cks,any,epsilon,5,1,16,1e-06,,,,,\n",
          header + "e,laplace,pure,basic_composition,any,epsilon,,,5,0,0.1,,,,0.5\n",
          header + "f,exponential,zcdp,cks,any,epsilon,,,5,1e-6,0.1,,,,\n",
          header + "g,zcdp,zcdp,bs_sqrtpi,any,rho,,,1,1e-05,,0.1,,,1\n",
          header + "h,gaussian,zcdp,bs_basic,any,sigma,,1,10,1e-05,,,,,2\n",
          header + "i,gaussian,analytic_gaussian,balle_wang,any,delta,2,1,1,,,,,,1\n"};
}

}  // namespace dpsosp::fuzz
