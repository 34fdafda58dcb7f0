#include "engine/cuda/convolution/sweep_items.hpp"

#include "engine/cuda/convolution/join_shapes.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kImageSize = 224;

void add_items(const PlanSweepOptions& options, bool fused, std::vector<SweepItem>& items) {
  for (const std::string& network : options.networks) {
    const model::Graph graph = model::make_network(network, kImageSize);
    const Program program = lower(graph);
    for (const int images : options.batches) {
      const std::vector<ConvShape> shapes = conv_shapes(graph, program, images);
      const JoinShapes joins = join_shapes(graph, program, images);
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
