// The data sets of a run, each of which is opened only once.
#pragma once

#include <deque>
#include <optional>

#include "dataset/dataset.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// Not thread-safe. The references that it returns are valid as long as this object is.
class OpenedDatasets {
 public:
  // Returns what the trial reads, and opens it unless an earlier trial reads the same.
  // @throws DataError, SpecError as dataset::open_dataset()
  const dataset::Dataset& of(const spec::Experiment& trial) { return open(trial).dataset; }
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
  static Key key_of(const spec::Experiment& trial);
  Opened& open(const spec::Experiment& trial);

  std::deque<Opened> opened_;
};

}  // namespace chexbench::bench
