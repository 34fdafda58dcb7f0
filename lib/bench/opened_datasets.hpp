// The data sets of a run, each opened once.
#pragma once

#include <deque>
#include <optional>

#include "dataset/dataset.hpp"
#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// Not thread-safe. References stay valid as long as this does.
class OpenedDatasets {
 public:
  // What the trial reads: opened now, unless an earlier trial reads the same. @throws DataError as open_dataset()
  const dataset::Dataset& of(const spec::Experiment& trial) { return open(trial).dataset; }
  // To be asked behind all measuring: it reads the lists of a whole data set.
  const results::DataFacts& facts_of(const spec::Experiment& trial);

 private:
  // What decides which files a trial reads, and as what.
  struct Key {
    spec::DataSpec data;
    image::PixelSpec pixels;  // of format cached alone
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
