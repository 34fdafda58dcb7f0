// The matrix products of linear layers: y = x w^T and its gradients, by cuBLASLt.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/cuda/program.hpp"
#include "engine/cuda/stream.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

// Rows one after another: x[images][inputs], w[outputs][inputs], y[images][outputs].
struct LinearShape {
  int images = 0, inputs = 0, outputs = 0;

  friend bool operator==(const LinearShape&, const LinearShape&) = default;
};

// Of a linear node, in steps of `images`.
inline LinearShape linear_shape(const Program& program, const Node& node, int images) {
  return {images, node.in.channels * program.buffer(node.in).pixels(), node.out.channels};
}

inline std::vector<LinearShape> linear_shapes(const Program& program, int images) {
  std::vector<LinearShape> shapes;
  for (const Node& node : program.nodes) {
    if (node.kind == NodeKind::linear) shapes.push_back(linear_shape(program, node, images));
  }
  return shapes;
}

// All in the type that the precision computes in, f32 sums. Device memory; queues work and waits for nothing; may be
// captured. Not thread-safe.
class LinearProducts {
 public:
  // @throws DeviceError where cuBLASLt does not start or offers nothing
  LinearProducts(const std::vector<LinearShape>& shapes, spec::Precision precision);
  ~LinearProducts();
  LinearProducts(const LinearProducts&) = delete;
  LinearProducts& operator=(const LinearProducts&) = delete;

  std::size_t workspace_bytes() const;
  void use_workspace(void* workspace) { workspace_ = workspace; }

  // All: @throws std::logic_error for a shape that was not named at first
  void forward(const LinearShape& shape, const void* x, const void* w, void* y, Stream stream);
  void data_gradient(const LinearShape& shape, const void* dy, const void* w, void* dx, Stream stream);
  void weight_gradient(const LinearShape& shape, const void* x, const void* dy, void* dw, Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  void* workspace_ = nullptr;
};

}  // namespace chexbench::engine::cuda
