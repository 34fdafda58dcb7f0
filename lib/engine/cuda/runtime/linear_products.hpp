// The matrix products of linear layers, y = x w^T and its gradients, by cuBLASLt.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/cuda/program/program.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// The matrices are row-major and packed: x[images][inputs], w[outputs][inputs], y[images][outputs].
struct LinearShape {
  int images = 0, inputs = 0, outputs = 0;

  friend bool operator==(const LinearShape&, const LinearShape&) = default;
};

// Returns the shape of a linear node for batches of `images`. Its inputs are all values of the map that it reads; its
// outputs include the padding (lowering.hpp).
inline LinearShape linear_shape(const Program& program, const Node& node, int images) {
  return {images, node.in.channels * program.buffer(node.in).pixels(), node.out.channels};
}

// Returns the shapes of all linear nodes, in the program's order.
inline std::vector<LinearShape> linear_shapes(const Program& program, int images) {
  std::vector<LinearShape> shapes;
  for (const Node& node : program.nodes) {
    if (node.kind == NodeKind::linear) shapes.push_back(linear_shape(program, node, images));
  }
  return shapes;
}

// Matrices are device memory of the type in which the precision computes; sums are f32. Calls queue work on the
// stream, wait for nothing, and may be captured into a CUDA graph. Not thread-safe.
class LinearProducts {
 public:
  // @throws DeviceError if cuBLASLt does not start, or offers no algorithm for one of the shapes
  LinearProducts(const std::vector<LinearShape>& shapes, spec::Precision precision);
  ~LinearProducts();
  LinearProducts(const LinearProducts&) = delete;
  LinearProducts& operator=(const LinearProducts&) = delete;

  // Returns the bytes of workspace that every product needs.
  std::size_t workspace_bytes() const;
  // Sets the workspace: workspace_bytes() of device memory, which must outlive the products' work.
  void use_workspace(void* workspace) { workspace_ = workspace; }

  // y = x w^T, dx = dy w, and dw = dy^T x.
  // @throws std::logic_error for a shape that the constructor was not given, DeviceError if cuBLASLt does not start
  // the product
  void forward(const LinearShape& shape, const void* x, const void* w, void* y, Stream stream);
  void data_gradient(const LinearShape& shape, const void* dy, const void* w, void* dx, Stream stream);
  void weight_gradient(const LinearShape& shape, const void* x, const void* dy, void* dw, Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  void* workspace_ = nullptr;
};

}  // namespace chexbench::engine::cuda
