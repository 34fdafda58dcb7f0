// One rank of a job that goes wrong; job_end_test.cpp checks how the job ends.
//   rank_that_fails abort CODE   the last rank ends the job with CODE while the others wait for it in a collective
//   rank_that_fails stop         the last rank is stopped by a signal while the others wait, for at most 2 s
//   rank_that_fails kill         the last rank is killed by a signal while the others wait
//   rank_that_fails throw        the last rank leaves by an exception while the others wait
//   rank_that_fails leave        all ranks leave together
//   rank_that_fails hang         all ranks leave together, but MPI_Finalize never returns
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>

#include "comm/communicator.hpp"
#include "core/errors.hpp"

namespace {

bool finalize_hangs = false;

void fail(chexbench::comm::World& world, const std::string& how, int exit_code) {
  std::cerr << "the last rank fails on purpose" << std::endl;
  if (how == "abort") world.abort(exit_code);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "stop") std::raise(SIGSTOP);
  throw chexbench::DeviceError("thrown on purpose");
}

}  // namespace

// Stands in front of the function of the MPI library.
int MPI_Finalize() {
  while (finalize_hangs) pause();
  return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PMPI_Finalize"))();
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "leave";
  const int exit_code = argc > 2 ? std::atoi(argv[2]) : 0;
  finalize_hangs = how == "hang";
  try {
    const auto world = chexbench::comm::join_world();
    auto& group = world->communicator();
    if (how == "stop") group.limit_waits(2);
    group.barrier();
    if (how != "leave" && how != "hang" && group.rank() == group.world() - 1) fail(*world, how, exit_code);
    group.barrier();
    if (group.rank() == 0) std::cout << "all ranks went on" << std::endl;
  } catch (const chexbench::Error&) {
    return 77;  // not reached in a job of several ranks: the world ends it first
  }
  return 0;
}
