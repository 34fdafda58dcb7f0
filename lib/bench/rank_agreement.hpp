// Checks that all ranks measure the same thing: a rank with another spec or other data would make the results wrong, or
// wait for ever for what the others never send.
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
// sleep for the time that this takes, so they go on only if rank 0 did not have the error.
void wait_for_root(const comm::Communicator& ranks);

// Compares what the ranks were started for: the collectives of two commands would be taken for each other, or wait for
// ever. Collective over the world.
// @throws SpecError on all ranks if they differ, on ranks other than 0 after wait_for_root()
void check_same_command(const std::string& command, comm::World& world);

// Compares the resolved trials of all ranks. Collective over `ranks`, whose hosts are in `rank_cores`.
// @throws SpecError on all ranks if they differ, as check_same_command(); it names the ranks and the first line that
// differs
void check_same_trials(const std::vector<results::TrialResult>& trials, comm::Communicator& ranks,
                       const std::vector<RankCores>& rank_cores);

// Opens the data sets of all trials in which this rank takes part, and compares names, labels, patients and shards of
// all images, and the bytes of all files where they are known. Collective over `ranks`. Does nothing in a world of one.
// @throws DataError on all ranks if they differ, on ranks other than 0 after wait_for_root()
// @throws DataError, SpecError on any rank, as dataset::open_dataset()
void check_same_data(const std::vector<results::TrialResult>& trials, OpenedDatasets& datasets,
                     comm::Communicator& ranks, const std::vector<RankCores>& rank_cores);

// Returns how `own` differs from the text of rank 0: their first lines if these differ, and the first other line that
// does. Empty if nothing differs. A pure function.
std::string describe_difference(const std::string& own, const std::string& of_root);

// Returns the ranks whose digest is not the one that most ranks have; of two that are as frequent, the one that the
// lower rank has counts as usual. Ranks without a digest take no part. A pure function.
std::vector<int> ranks_unlike_most(const std::vector<std::string>& digests);

}  // namespace chexbench::bench
