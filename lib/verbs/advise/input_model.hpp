// How fast an op list should be, from what ops cost: a prediction, to be measured.
#pragma once

#include "results/record.hpp"
#include "spec/experiment.hpp"

namespace chexbench::verbs {

// Seconds that each kind of work takes of a thread, as measured of some pipeline over the same images.
struct InputCosts {
  double stream_s = 0;      // of a record that is read from a shard, with waits for the storage
  double stream_cpu_s = 0;  // of those, on the CPU
  double read_s = 0;        // of an image or record, by the thread that decodes it: bytes, and parsing
  double decode_s = 0;      // of an image, with resizing
  double order_s = 0;       // of an image: what shuffles and other ops between take, all together
  double batch_s = 0;       // of an image that is copied into a batch; 0 where it was decoded into its place
  double copy_s = 0;        // of an image out of a cache, or into a batch that was not measured
  double engine_s = 0;      // of an image, a step's time without waiting for its batch; 0: batches are dropped
};

// Of the trial's measured repeats. Zeros where nothing was measured.
InputCosts measured_costs(const results::TrialResult& trial);

// Images/s of all ranks. Ops run on threads as lib/pipeline has them: one that decodes in parallel on a thread a core,
// what is before a prefetch on a thread of its own, the files of an interleave on one each, the rest on the thread that
// trains; the slowest thread sets the pace, and together they cannot use more than the ranks' cores. With a cache, of
// epochs that are served from it.
double predicted_images_per_s(const spec::Experiment& experiment, int ranks, int cores_per_rank,
                              const InputCosts& costs);

// Images that a rank decodes for each one it trains on, by the op list: its ranks where it shards behind the decoding.
double predicted_amplification(const spec::PipelineSpec& pipeline, int ranks);

// Of one decoded image as the trial's batches hold it.
std::size_t image_bytes(const spec::Experiment& trial);

// The op that decodes. There is one in every op list that can run.
std::size_t decoding_op(const spec::PipelineSpec& pipeline);

}  // namespace chexbench::verbs
