// Checks that all ranks measure the same thing: a rank with a different spec or different data would falsify the
// results, or wait forever for the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/core_layout.hpp"
#include "bench/opened_datasets.hpp"
#include "comm/communicator.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// For errors that every rank finds: rank 0 reports the error, writes its results and ends the job. The other ranks
// sleep while this happens, so they continue only if rank 0 did not have the error.
void wait_for_root(const comm::Communicator& ranks);

// Compares the commands of the ranks: collectives of different commands would be mixed up, or wait forever. Collective
// over the world.
// @throws SpecError on all ranks if they differ, on ranks other than 0 after wait_for_root()
void check_same_command(const std::string& command, comm::World& world);

// Compares the resolved trials of all ranks. Collective over `ranks`, whose hosts are in `rank_cores`.
// @throws SpecError on all ranks if they differ, as check_same_command(); it names the ranks and the first line that
// differs
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

// Returns the ranks whose digest is not the most frequent one; of equally frequent ones, the lowest rank's counts as
// the most frequent. Ranks without a digest are ignored. A pure function.
std::vector<int> ranks_unlike_most(const std::vector<std::string>& digests);

}  // namespace chexbench::bench
