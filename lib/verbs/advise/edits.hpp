// The named edits of a trial's spec that could make its input faster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// The machine and the data set, which edits also depend on.
struct EditPlace {
  int ranks = 1;
  int cores_per_rank = 1;
  bool has_tfrecords = false;     // whether the trial's split also exists as TFRecord shards
  std::uint64_t images = 0;       // of the split; 0 if unknown, which rules out caching
  std::uint64_t files = 0;        // of the split: images, or the shards that contain them
  std::uint64_t cache_bytes = 0;  // memory that a rank may fill with decoded images
};

// One edit of a trial.
struct Edit {
  std::string name;           // "shard_first"
  std::string why;            // a clause: "each rank then decodes its own images alone"
  bool saves_memory = false;  // worth keeping if it costs no images/s
  bool needs_epoch = false;   // gains only from the second epoch on, so its warm-up steps cover the first epoch
  spec::TrialSpec edited;     // the trial with the edit
};

// Returns the names of all edits.
std::vector<std::string> edit_names();

// Returns every edit that changes the trial and gives a trial that can run, in the order that a person would try. The
// edited pipelines are called "advised". A pure function.
std::vector<Edit> possible_edits(const spec::TrialSpec& trial, const EditPlace& place);

}  // namespace chexbench::verbs
