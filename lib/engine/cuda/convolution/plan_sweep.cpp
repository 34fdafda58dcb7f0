#include "engine/cuda/convolution/plan_sweep.hpp"

#include <algorithm>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kImageSize = 224;

// Returns all shapes that the engine may choose from: outputs in dense blocks come strided and packed.
std::vector<ConvShape> shapes_of(const model::Graph& graph, int images) {
  const Program program = lower(graph);
  std::vector<ConvShape> shapes = conv_shapes(graph, program, images);
  const Program packed = with_packed_outputs(program, [](const Node&) { return true; });
  for (const ConvShape& shape : conv_shapes(graph, packed, images)) {
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

void add_items(const PlanSweepOptions& options, bool fused, std::vector<SweepItem>& items) {
  for (const std::string& network : options.networks) {
    const model::Graph graph = model::make_network(network, kImageSize);
    for (const int images : options.batches) {
      const std::vector<ConvShape> shapes = shapes_of(graph, images);
      const JoinShapes joins = join_shapes(graph, lower(graph), images);
      for (const spec::Precision precision : options.precisions) {
        for (const ConvPattern pattern : conv_patterns()) {
          if (is_fused(pattern) != fused) continue;
          for (const ConvShape& shape : shapes) {
            if (!wanted(pattern, shape, precision) || (is_join(pattern) && !joins.has(pattern, shape))) continue;
            items.push_back({network, {.pattern = pattern, .shape = shape, .precision = precision}});
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<SweepItem> sweep_items(const PlanSweepOptions& options) {
  std::vector<SweepItem> items;
  add_items(options, false, items);
  add_items(options, true, items);
  return items;
}

}  // namespace chexbench::engine::cuda
