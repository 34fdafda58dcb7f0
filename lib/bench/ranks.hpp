// The ranks of this process's job: joins and ends them, and checks that all of them measure the same thing, because a
// rank with a different spec or different data would falsify the results, or wait forever for the others.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/rank_layout.hpp"
#include "comm/communicator.hpp"
#include "core/watched_mapping.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

class OpenedDatasets;  // trial_data.hpp

// For errors that every rank finds: rank 0 reports the error, writes its results and ends the job. The other ranks
// sleep while this happens, until 8 s after the first call in this process, so they continue only if rank 0 did not
// have the error.
void wait_for_root(const comm::Communicator& ranks);

// Compares the resolved trials of all ranks. Collective over `ranks`, whose hosts are in `rank_cores`.
// @throws SpecError on all ranks if they differ, on ranks other than 0 after wait_for_root(); it names the ranks and
// the first line that differs
void check_same_trials(const std::vector<results::TrialResult>& trials, comm::Communicator& ranks,
                       const std::vector<RankCores>& rank_cores);

// Opens the data sets of all trials in which this rank takes part, and compares names, labels, patients and shards of
// all images, and the sizes of all files if known. Collective over `ranks`. Does nothing in a world of one.
// @throws DataError on all ranks if they differ, on ranks other than 0 after wait_for_root()
// @throws DataError, SpecError on any rank, as dataset::open_dataset()
void check_same_data(const std::vector<results::TrialResult>& trials, OpenedDatasets& datasets,
                     comm::Communicator& ranks, const std::vector<RankCores>& rank_cores);

// Returns how `own` differs from the text of rank 0: the first lines if they differ, and the first other difference.
// Empty if they are equal. A pure function.
std::string describe_difference(const std::string& own, const std::string& of_root);

// Joins the ranks that this process was started with, only if a verb needs them, and ends them. There is one per
// process, owned by main. Not thread-safe.
class Session {
 public:
  // The command of this process, in lines, which must be the same on all ranks. Call it before world().
  void set_command(std::string command) { command_ = std::move(command); }

  // Returns the world of all ranks, owned by the Session. The first call joins the ranks, so a verb that needs no ranks
  // never loads MPI.
  // @throws DeviceError as comm::join_world()
  // @throws SpecError on all ranks if their commands differ, on ranks other than 0 after wait_for_root()
  comm::World& world();

  // For errors that every rank finds, such as a signal or an error in the spec: bench::wait_for_root().
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

// Like comm::abort_ranks(), for the launcher that started this process: the ranks that wait for it end with
// `exit_code`. Allocates no memory. Does nothing if the process was started alone.
void abort_ranks(int exit_code);

}  // namespace chexbench::bench
