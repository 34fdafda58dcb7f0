// What could be changed in a trial so that its input becomes faster: one named edit at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::verbs {

// What edits depend on besides the spec.
struct EditPlace {
  int ranks = 1;
  int cores_per_rank = 1;
  bool has_tfrecords = false;     // of the trial's split
  std::uint64_t images = 0;       // of the split; 0: not known, and nothing is cached
  std::uint64_t files = 0;        // images, or shards that hold them
  std::uint64_t cache_bytes = 0;  // memory that a rank may fill with decoded images
};

struct Edit {
  std::string name;           // "shard_first"
  std::string why;            // a clause: "each rank then decodes its own images alone"
  bool saves_memory = false;  // worth keeping where it costs no images/s
  bool needs_epoch = false;   // gains from the second epoch on: its warm-up steps pass the first
  spec::Experiment edited;    // the trial with it
};

// The names of all edits.
std::vector<std::string> edit_names();

// Every edit that changes the trial, and gives one that can run; in the order in which a person would try them.
std::vector<Edit> possible_edits(const spec::Experiment& trial, const EditPlace& place);

}  // namespace chexbench::verbs
