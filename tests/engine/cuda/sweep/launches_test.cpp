// The list of kernels equals the engine's launches: Network, Update and convert_images() run here over launchers that
// only note their calls.
#include <gtest/gtest.h>

#include <map>

#include "engine/cuda/convolution/scripted_conv_device.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/sweep/kernel_list.hpp"
#include "engine/cuda/sweep/noted_launches.hpp"
#include "engine/cuda/training/network.hpp"
#include "engine/cuda/training/update.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kImages = 4;

using Counts = std::map<std::string, int>;  // by kernel and shape

// A device that has one plan for each pattern that is allowed; a fused one is always the faster.
ScriptedDevice device_with(bool fused) {
  ScriptedDevice device;
  for (const ConvPattern pattern : conv_patterns()) {
    if (!is_fused(pattern)) device.plans[pattern] = {{.engine = "plain", .seconds = 1, .statistics_s = 1}};
    if (is_fused(pattern) && fused) device.plans[pattern] = {{.engine = "fused", .seconds = 0.5, .statistics_s = 0}};
  }
  return device;
}

// A step with the choices of CudaEngine, which this test makes in the same way.
class Step {
 public:
  Step(const model::Graph& graph, spec::Precision precision, bool fused)
      : graph_(graph),
        precision_(precision),
        fused_(fused),
        lowered_(lower(graph, {.dropout = true, .fuses_pools = fused})),
        device_(device_with(fused)),
        convolutions_(conv_shapes(graph, lowered_, kImages), config(), device_.device()),
        program_(with_packed_outputs(lowered_,
                                     [&](const Node& conv) { return convolutions_.packs(shape(lowered_, conv)); })),
        parameters_(graph, program_) {}

  // Runs the step, and returns its launches.
  Counts launched() {
    LinearProducts linear(linear_shapes(program_, kImages), precision_);
    const std::vector<ResidualJoin> backward_joins =
        joins(ConvPattern::data_gradient_join, ConvPattern::data_gradient_join_norms, {});
    const MemoryPlan plan =
        plan_memory(graph_, program_,
                    {.images = kImages,
                     .precision = precision_,
                     .fuses_pools = fused_,
                     .prologues = prologues(),
                     .joins = backward_joins,
                     .forward_joins = joins(ConvPattern::joined_forward_statistics,
                                            ConvPattern::joined_norms_forward_statistics, backward_joins)});
    auto* const somewhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);  // nothing is read or written
    const Addresses addresses({.graph = graph_,
                               .program = program_,
                               .parameters = parameters_,
                               .plan = plan,
                               .memory = somewhere,
                               .images = kImages,
                               .precision = precision_});
    Network network(addresses, convolutions_, linear);
    Update update(addresses, spec::TrainingSpec{.precision = precision_});
    noted_launches().clear();
    convert_images(addresses, Deliver::u8, plan.regions.images[0], nullptr);
    network.forward(nullptr);
    network.backward(nullptr, [](std::size_t, std::size_t) {});
    update.run(nullptr);
    network.update_running(nullptr);
    Counts counts;
    for (const KernelCall& call : noted_launches()) ++counts[to_string(call.kernel) + " " + shape_text(call)];
    return counts;
  }

  // The same from the list; the loss is not launched above.
  Counts listed() const {
    Counts counts;
    for (const KernelUse& use : kernel_list(graph_, kImages, precision_)) {
      const int runs = fused_ ? use.fused_runs : use.runs;
      if (runs > 0 && use.call.kernel != Kernel::loss)
        counts[to_string(use.call.kernel) + " " + shape_text(use.call)] = runs;
    }
    return counts;
  }

 private:
  ConvShape shape(const Program& program, const Node& node) const { return conv_shape(graph_, program, node, kImages); }

  ConvolutionsConfig config() const {
    ConvolutionsConfig config{.precision = precision_, .fused = fused_};
    const Program packed = with_packed_outputs(lowered_, [](const Node&) { return true; });
    const std::vector<int> norms = prologue_norms(packed);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (norms[i] >= 0) config.behind_norms.push_back(shape(packed, packed.nodes[i]));
    }
    for (const int conv : dense_convolutions(lowered_))
      config.in_blocks.push_back(shape(lowered_, lowered_.nodes[static_cast<std::size_t>(conv)]));
    config.behind_joins = join_shapes(graph_, lowered_, kImages);
    return config;
  }

  std::vector<int> prologues() const {
    std::vector<int> norms = prologue_norms(program_);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (norms[i] >= 0 &&
          !convolutions_.has(shape(program_, program_.nodes[i]), ConvPattern::normalized_forward_statistics))
        norms[i] = -1;
    }
    return norms;
  }

  std::vector<ResidualJoin> joins(ConvPattern of_any, ConvPattern of_norms,
                                  const std::vector<ResidualJoin>& readers) const {
    return chosen_joins(
        program_, [&](const Node& conv) { return convolutions_.has(shape(program_, conv), of_any); },
        [&](const Node& conv) { return convolutions_.has(shape(program_, conv), of_norms); }, readers);
  }

  const model::Graph& graph_;
  const spec::Precision precision_;
  const bool fused_;
  const Program lowered_;
  ScriptedDevice device_;
  Convolutions convolutions_;
  const Program program_;
  const ParameterLayout parameters_;
};

TEST(KernelList, IsWhatAStepLaunches) {
  for (const std::string& network : model::network_names()) {
    const model::Graph graph = model::make_network(network, 224);
    for (const spec::Precision precision : {spec::Precision::f32, spec::Precision::fp16, spec::Precision::bf16}) {
      for (const bool fused : {false, true}) {
        Step step(graph, precision, fused);
        EXPECT_EQ(step.launched(), step.listed()) << network << (fused ? ", fused" : "");
      }
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
