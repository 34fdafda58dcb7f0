// The data sets of a run, each of which is opened only once.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// Not thread-safe. The references that it returns are valid as long as this object is.
class OpenedDatasets {
 public:
  // Returns what the trial reads, and opens it unless an earlier trial reads the same.
  // @throws DataError, SpecError as dataset::open_dataset()
  const dataset::Dataset& of(const spec::Experiment& trial) { return open(trial).dataset; }
  // Reads the index of the trial's data set together with other ranks if its shards are its index, so that of() need
  // not do it alone: each of the first `readers` ranks reads its share of them. Where that fails on one rank, nothing
  // is kept, and of() finds what is wrong. Collective over `ranks`.
  void read_together(const spec::Experiment& trial, comm::Communicator& ranks, int readers);
  // Returns whether two trials read the same files in the same way, so that they share a data set.
  static bool share_data(const spec::Experiment& a, const spec::Experiment& b) { return key_of(a) == key_of(b); }
  // Returns what the report says about the trial's data set. Call it after all measuring, because it reads the lists of
  // the whole data set.
  // @throws DataError, SpecError as of()
  const results::DataFacts& facts_of(const spec::Experiment& trial);

 private:
  // What determines which files a trial reads, and how it reads them.
  struct Key {
    spec::DataSpec data;
    image::PixelSpec pixels;  // only for format cached
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Opened {
    Key key;
    dataset::Dataset dataset;
    std::optional<results::DataFacts> facts;
  };
  // An index that was read together, of all splits.
  struct Indexed {
    spec::DataSpec key;  // index_key_of() of its trials
    dataset::Index index;
  };
  static Key key_of(const spec::Experiment& trial);
  // Returns what determines the index of a data set, the rest being as it is by default.
  static spec::DataSpec index_key_of(const spec::DataSpec& data);
  const Indexed* find_index(const spec::DataSpec& data) const;
  Opened& open(const spec::Experiment& trial);

  std::deque<Opened> opened_;
  std::deque<Indexed> indexed_;
  std::vector<spec::DataSpec> asked_;  // the keys for which read_together() was called
};

}  // namespace chexbench::bench
