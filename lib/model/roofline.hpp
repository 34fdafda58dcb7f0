// The roofline of a training step: how long a device would need if only its peak rates limited it (Williams, Waterman
// and Patterson, "Roofline: an insightful visual performance model for multicore architectures", CACM 2009), layer by
// layer. Pure functions, thread-safe.
#pragma once

#include "model/graph.hpp"

namespace chexbench::model {

// The two roofs of a device.
struct Roofs {
  double flops_per_s = 0;  // peak of its arithmetic in some precision
  double bytes_per_s = 0;  // peak of its memory
};

// The work in a part of a training step.
struct Work {
  double flops = 0;
  double bytes = 0;  // read from and written to the device's memory

  // The least time that it takes, in seconds.
  double seconds(const Roofs& roofs) const;
  // Whether memory takes longer than arithmetic.
  bool memory_bound(const Roofs& roofs) const;
};

// Returns the work of forward and backward of each layer of Graph::layers for a batch, whose values (activations and
// weights) have value_bytes bytes. roofline.cpp has the bytes that count. The first convolution is counted as if its
// input needed a gradient, as in training_flops().
std::vector<Work> training_work(const Graph& graph, int batch_size, int value_bytes);

// Returns the work of one update of all parameters by SGD with momentum, in f32 at every precision.
Work update_work(const Graph& graph);

// Returns the seconds of forward and backward on the device: the sum over the layers.
double roofline_s(const Graph& graph, int batch_size, int value_bytes, const Roofs& roofs);

}  // namespace chexbench::model
