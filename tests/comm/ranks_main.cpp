// Runs the suite on the ranks that this program was started with; every rank checks the results.
#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "comm/communicator_suite.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto world = chexbench::comm::join_world();
  chexbench::comm::register_communicator_suite("Communicator", world->communicator());
  const int result = RUN_ALL_TESTS();
  if (result != 0) world->abort(result);  // the other ranks may wait for this one
  return 0;
}
