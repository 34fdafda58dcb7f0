// The ranks that this process was started with.
#pragma once

#include <memory>

#include "comm/communicator.hpp"

namespace chexbench::bench {

// One a process, owned by main. Not thread-safe.
class Session {
 public:
  // Joins the ranks at the first call; the same world afterwards: verbs that need no ranks never start MPI.
  // @throws DeviceError
  comm::World& world();

  // Where a signal or a fault of the spec reaches every rank, rank 0 speaks for all and ends the job. Sleeps on the
  // others for 8 s, which they survive only if rank 0 has no such fault.
  void wait_for_root() const;

  // To be called once, at the end of the process. With exit code 0 all ranks leave together; with any other, this
  // rank's error ends all of them at once, since they may wait for it. Returns the process's exit code.
  int leave(int exit_code);

 private:
  std::unique_ptr<comm::World> world_;
};

}  // namespace chexbench::bench
