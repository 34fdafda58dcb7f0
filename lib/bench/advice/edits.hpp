// What could be changed in a trial so that its input becomes faster: one named edit at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::bench {

// What edits depend on besides the spec.
struct EditPlace {
  int ranks = 1;
  int cores_per_rank = 1;
  bool has_tfrecords = false;  // of the trial's split
};

struct Edit {
  std::string name;           // "shard_first"
  std::string why;            // a clause: "each rank then decodes its own images alone"
  bool saves_memory = false;  // worth keeping where it costs no images/s
  spec::Experiment edited;    // the trial with it
};

// Every edit that changes the trial, and gives one that can run; in the order in which a person would try them.
std::vector<Edit> possible_edits(const spec::Experiment& trial, const EditPlace& place);

}  // namespace chexbench::bench
