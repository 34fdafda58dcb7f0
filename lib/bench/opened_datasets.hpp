// The data sets of a run, each of which is opened only once.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "results/record.hpp"
#include "spec/alike.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Not thread-safe. The references that it returns are valid as long as this object is.
class OpenedDatasets {
 public:
  // Returns what the trial reads, and opens it unless an earlier trial reads the same.
  // @throws DataError, SpecError as dataset::open_dataset()
  const dataset::Dataset& of(const spec::TrialSpec& trial) { return open(trial).dataset; }
  // Reads the index of the trial's data set together with other ranks if its shards are its index, so that of() need
  // not do it alone: each of the first `readers` ranks reads its share of them. Where that fails on one rank, nothing
  // is kept, and of() finds what is wrong. Collective over `ranks`.
  void read_together(const spec::TrialSpec& trial, comm::Communicator& ranks, int readers);
  // Returns what determines which files a trial reads, and how it reads them, and defaults for all else. Trials share a
  // data set if it is equal.
  static spec::TrialSpec data_part(const spec::TrialSpec& trial);
  // Returns what the report says about the trial's data set. Call it after all measuring, because it reads the lists of
  // the whole data set.
  // @throws DataError, SpecError as of()
  const results::DataFacts& facts_of(const spec::TrialSpec& trial);

 private:
  struct Opened {
    dataset::Dataset dataset;
    std::optional<results::DataFacts> facts;
  };
  // An index that was read together, of all splits.
  struct Indexed {
    spec::DataSpec key;  // index_key_of() of its trials
    dataset::Index index;
  };
  // Returns what determines the index of a data set, the rest being as it is by default.
  static spec::DataSpec index_key_of(const spec::DataSpec& data);
  const Indexed* find_index(const spec::DataSpec& data) const;
  Opened& open(const spec::TrialSpec& trial);

  std::unordered_map<spec::TrialSpec, Opened, spec::TrialSpecHash> opened_;  // by data_part()
  std::deque<Indexed> indexed_;
  std::vector<spec::DataSpec> asked_;  // the keys for which read_together() was called
};

}  // namespace chexbench::bench
