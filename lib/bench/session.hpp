// Joins the ranks that this process was started with, only if a verb needs them, and ends them.
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
  // The command of this process, in lines, which must be the same on all ranks. Call it before world().
  void set_command(std::string command) { command_ = std::move(command); }

  // Returns the world of all ranks, owned by the Session. The first call joins the ranks, so a verb that needs no ranks
  // never loads MPI.
  // @throws DeviceError as comm::join_world()
  // @throws SpecError as check_same_command()
  comm::World& world();

  // For errors that every rank finds, such as a signal or an error in the spec: wait_for_root() of rank_agreement.hpp.
  // Call world() first.
  void wait_for_root() const;

  // Leaves the world; called once, at the end of the process. With exit code 0 all ranks leave together. With any other
  // code, one of several ranks ends all of them at once and does not return, because the others may be waiting for it,
  // even if it never joined them. After a signal, ranks other than 0 first give rank 0 time (wait_for_root()). Returns
  // the process's exit code.
  int leave(int exit_code);

 private:
  std::string command_;
  std::unique_ptr<comm::World> world_;
  std::optional<LostMappingWatch> mapping_watch_;  // ends the job, or its launcher might report its own signal
};

// Ends all ranks from a process that cannot do anything else.

// Like comm::abort_ranks(), for the launcher that started this process: the ranks that wait for it end with
// `exit_code`. Allocates no memory. Does nothing if the process was started alone.
void abort_ranks(int exit_code);

}  // namespace chexbench::bench
