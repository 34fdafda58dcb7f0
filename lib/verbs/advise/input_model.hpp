// Predicts the speed of an op list from measured costs of ops, so that the most promising edits are tried first. All
// functions are pure.
#pragma once

#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// Seconds of a thread per image for each kind of work, measured with some pipeline over the same images.
struct InputCosts {
  double stream_s = 0;      // reading a record from a shard, including waits for the storage
  double stream_cpu_s = 0;  // the CPU time of stream_s
  double read_s = 0;        // reading and parsing by the thread that decodes
  double decode_s = 0;      // decoding and resizing
  double order_s = 0;       // shuffles and other ops, all together
  double batch_s = 0;       // copying into a batch; 0 if images are decoded straight into it
  double copy_s = 0;        // estimated: copying out of a cache, or into a batch if batch_s was not measured
  double engine_s = 0;      // a step without the wait for its batch; 0 if the engine drops batches
};

// Returns the costs measured by the trial's repeats; all 0 if nothing was measured.
InputCosts measured_costs(const results::TrialResult& trial);

// Returns the images/s of all ranks, or 0 if the costs are 0. The model runs ops on the threads that lib/pipeline gives
// them: an op that decodes in parallel has one thread per core, the ops before a prefetch share a thread, each file of
// a parallel interleave has a thread, and the training thread does the rest. The slowest thread sets the pace, and the
// threads together cannot use more than the cores of the rank. With a cache, this is the rate of epochs that are served
// from it.
double predicted_images_per_s(const spec::TrialSpec& experiment, int ranks, int cores_per_rank,
                              const InputCosts& costs);

// Returns the bytes of one decoded image in the trial's batches.
std::size_t image_bytes(const spec::TrialSpec& trial);

// Returns the index of the op that decodes. Every op list that can run has one.
// @throws std::logic_error if there is none
std::size_t decoding_op(const spec::PipelineSpec& pipeline);

}  // namespace chexbench::verbs
