// The list of kernels is what the engine launches: Network, Update and batch_input run here over launchers that only
// note their calls.
#include <gtest/gtest.h>

#include <map>

#include "engine/cuda/convolution/scripted_conv_device.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/prologue.hpp"
#include "engine/cuda/sweep/kernel_list.hpp"
#include "engine/cuda/sweep/noted_launches.hpp"
#include "engine/cuda/training/batch_input.hpp"
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

struct Step {
  model::Graph graph;
  spec::Precision precision;
  bool fused;
  Program program = lower(graph, {.dropout = true});
  ParameterLayout parameters{graph, program};

  ConvShape shape(std::size_t node) const { return conv_shape(graph, program, program.nodes[node], kImages); }

  ConvolutionsConfig config() const {
    ConvolutionsConfig config{.precision = precision, .fused = fused, .tuning = {.forces_fused = fused}};
    const std::vector<int> norms = prologue_norms(program);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (norms[i] >= 0) config.behind_norms.push_back(shape(i));
    }
    return config;
  }

  // As CudaEngine chooses them.
  std::vector<int> prologues(const Convolutions& convolutions) const {
    std::vector<int> norms = prologue_norms(program);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (norms[i] >= 0 && !convolutions.takes_prologue(shape(i))) norms[i] = -1;
    }
    return norms;
  }

  // Runs the step, and returns what it launched.
  Counts launched() const {
    ScriptedDevice device = device_with(fused);
    Convolutions convolutions(conv_shapes(graph, program, kImages), config(), device.device());
    LinearProducts linear(linear_shapes(program, kImages), precision);
    const MemoryPlan plan =
        plan_memory(graph, program, {.images = kImages, .precision = precision, .prologues = prologues(convolutions)});
    auto* const somewhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);  // nothing is read or written
    const Addresses addresses({.graph = graph,
                               .program = program,
                               .parameters = parameters,
                               .plan = plan,
                               .memory = somewhere,
                               .images = kImages,
                               .precision = precision});
    Network network(addresses, convolutions, linear);
    Update update(addresses, spec::TrainingSpec{.precision = precision});
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
    for (const KernelUse& use : kernel_list(graph, kImages, precision)) {
      const int runs = fused ? use.fused_runs : use.runs;
      if (runs > 0 && use.call.kernel != Kernel::loss)
        counts[to_string(use.call.kernel) + " " + shape_text(use.call)] = runs;
    }
    return counts;
  }
};

TEST(KernelList, IsWhatAStepLaunches) {
  for (const std::string& network : model::network_names()) {
    for (const spec::Precision precision : {spec::Precision::f32, spec::Precision::fp16, spec::Precision::bf16}) {
      for (const bool fused : {false, true}) {
        const Step step{model::make_network(network, 224), precision, fused};
        EXPECT_EQ(step.launched(), step.listed()) << network << (fused ? ", fused" : "");
      }
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
