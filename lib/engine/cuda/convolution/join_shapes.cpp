#include "engine/cuda/convolution/join_shapes.hpp"

#include <algorithm>

#include "engine/cuda/program/residual_join.hpp"

namespace chexbench::engine::cuda {

bool JoinShapes::has(ConvPattern pattern, const ConvShape& shape) const {
  return std::ranges::count(is_join_of_norms(pattern) ? of_norms : all, shape) > 0;
}

JoinShapes join_shapes(const model::Graph& graph, const Program& program, int images) {
  JoinShapes shapes;
  const std::vector<ResidualJoin> joins = residual_joins(program);
  for (std::size_t i = 0; i < joins.size(); ++i) {
    if (joins[i].norm < 0) continue;
    shapes.all.push_back(conv_shape(graph, program, program.nodes[i], images));
    if (joins[i].residual_norm >= 0) shapes.of_norms.push_back(shapes.all.back());
  }
  return shapes;
}

}  // namespace chexbench::engine::cuda
