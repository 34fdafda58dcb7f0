// The ranks that this process was started with, which a verb joins only if it needs them, and their end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "comm/communicator.hpp"
#include "core/watched_mapping.hpp"

namespace chexbench::bench {

// There is one per process, owned by main. Not thread-safe.
class Session {
 public:
  // What this process was started for, in lines, which must be the same on all ranks. Called before world().
  void set_command(std::string command) { command_ = std::move(command); }

  // Returns the world of all ranks, owned by the Session. The first call joins the ranks, so a verb that needs no ranks
  // never loads MPI.
  // @throws DeviceError as comm::join_world()
  // @throws SpecError as check_same_command()
  comm::World& world();

  // For errors that every rank finds, such as a signal or a fault of the spec: as wait_for_root() of
  // rank_agreement.hpp. world() must have been called before.
  void wait_for_root() const;

  // Leaves the world; called once, at the end of the process. With exit code 0 all ranks leave together. With any other
  // code, a rank of several ends all of them at once and does not return, because the others may be waiting for it,
  // even if it has never joined them. After a signal, ranks other than 0 first give rank 0 time (wait_for_root()).
  // Returns the process's exit code.
  int leave(int exit_code);

 private:
  std::string command_;
  std::unique_ptr<comm::World> world_;
  std::optional<LostMappingWatch> mapping_watch_;  // ends the job, whose launcher may else report a signal of its own
};

// The end of all ranks by a process that can do nothing else any more.

// As comm::abort_ranks(), for the launcher that started this process: the ranks that wait for it end with `exit_code`.
// Allocates no memory. Does nothing if the process was started alone.
void abort_ranks(int exit_code);

}  // namespace chexbench::bench
