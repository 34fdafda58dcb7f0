// The data of the trials: data sets, each opened only once, their files and facts, and the contexts of pipelines over
// them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index.hpp"
#include "measure/page_cache.hpp"
#include "pipeline/pipeline.hpp"
#include "results/record.hpp"
#include "spec/resolved.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Not thread-safe. The references that it returns are valid as long as this object is.
class OpenedDatasets {
 public:
  // Returns the trial's data set, and opens it unless an earlier trial did.
  // @throws DataError, SpecError as dataset::open_dataset()
  const dataset::Dataset& of(const spec::TrialSpec& trial) { return open(trial).dataset; }
  // Reads the index of the trial's data set together with other ranks if its shards are its index, to save of() that
  // work: each of the first `readers` ranks reads its share of them. If that fails on a rank, nothing is kept, and of()
  // reports the error. Collective over `ranks`.
  void read_together(const spec::TrialSpec& trial, comm::Communicator& ranks, int readers);
  // Returns the settings that determine which files a trial reads, and how, with defaults for all else. Trials share a
  // data set if these are equal.
  static spec::TrialSpec data_part(const spec::TrialSpec& trial);
  // Returns the facts about the trial's data set for the report. Call it after all measuring, because it reads the
  // lists of the whole data set.
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
  // Returns the settings that determine the index of a data set, with defaults for all else.
  static spec::DataSpec index_key_of(const spec::DataSpec& data);
  const Indexed* find_index(const spec::DataSpec& data) const;
  Opened& open(const spec::TrialSpec& trial);

  std::unordered_map<spec::TrialSpec, Opened, spec::TrialSpecHash> opened_;  // by data_part()
  std::deque<Indexed> indexed_;
  std::vector<spec::DataSpec> asked_;  // the keys for which read_together() was called
};

// Brings the files of the data set into the state `goal`, on one rank of each host (`local_rank` 0), and returns their
// resulting state in a word. Collective over `members`.
std::string prepare_files(spec::PageCache goal, const dataset::Dataset& dataset, int local_rank,
                          comm::Communicator& members);

// Returns how much of the trial's files is in the page cache, on one rank of each host; nothing on the other ranks and
// for a data set on a server.
measure::CachedShare look_at_files(const dataset::Dataset& dataset, int local_rank);

// A rank of the trial, and the repeat that it measures.
struct RankPlace {
  int rank = 0;
  int world = 1;
  std::vector<int> cores;
  int repeat = 0;               // part of the seed: the order of images differs by repeat, but not within a round
  pipeline::TunedValues tuned;  // the values for "auto"
};

// Returns the identity of the cached pixels that the trial would read.
image::PixelSpec pixels_of(const spec::TrialSpec& spec);

// Returns the context of one rank's pipeline. It refers to `spec`, `dataset` and `allocator`, which must outlive it and
// the pipeline.
pipeline::PipelineContext make_pipeline_context(const spec::TrialSpec& spec, const dataset::Dataset& dataset,
                                                PinnedAllocator& allocator, const RankPlace& place);

// Describes a trial's data set for its report: counts images, files and bytes. Also reads the cost of the conversion
// from its manifest and, if the trial uses only one split, the lists of both splits to count the patients that they
// share, which takes a second on a large data set. For format ready only the counts are filled.
// @throws SpecError if the label table lacks a column that is needed
results::DataFacts data_facts(const spec::DataSpec& spec, const dataset::Dataset& dataset);

// Returns the files that a trial over the data set reads.
std::vector<std::string> paths_of(const dataset::Dataset& dataset);

}  // namespace chexbench::bench
