// The files that a trial reads, and how much of them is in the page cache.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "measure/page_cache.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Brings the files of the data set into the state that `goal` asks for, on one rank of each host (`local_rank` 0), and
// returns the state that they are in, in a word. Collective over `members`.
std::string prepare_files(spec::PageCache goal, const dataset::Dataset& dataset, int local_rank,
                          comm::Communicator& members);

// Returns how much of the trial's files is in the page cache, on one rank of each host; nothing on the other ranks and
// for a data set on a server.
measure::CachedShare look_at_files(const dataset::Dataset& dataset, int local_rank);

}  // namespace chexbench::bench
