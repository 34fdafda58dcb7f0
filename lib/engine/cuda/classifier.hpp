// The last layer's matrix products: y = x w^T and its gradients, by cuBLASLt.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/cuda/stream.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

// Rows one after another: x[images][inputs], w[outputs][inputs], y[images][outputs].
struct ClassifierShape {
  int images = 0, inputs = 0, outputs = 0;
};

// All in the type that the precision computes in, f32 sums. Device memory; queues work and waits for nothing; may be
// captured. Not thread-safe.
class Classifier {
 public:
  // @throws DeviceError where cuBLASLt does not start or offers nothing
  Classifier(const ClassifierShape& shape, spec::Precision precision);
  ~Classifier();
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  std::size_t workspace_bytes() const;
  void use_workspace(void* workspace) { workspace_ = workspace; }

  void forward(const void* x, const void* w, void* y, Stream stream);
  void data_gradient(const void* dy, const void* w, void* dx, Stream stream);
  void weight_gradient(const void* x, const void* dy, void* dw, Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  void* workspace_ = nullptr;
};

}  // namespace chexbench::engine::cuda
