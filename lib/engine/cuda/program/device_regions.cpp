#include "engine/cuda/program/device_regions.hpp"

#include <algorithm>

#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/loss.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/program/precision.hpp"

namespace chexbench::engine::cuda {
namespace {

// Places regions one after another, each at a multiple of kRegionAlignBytes.
class Builder {
 public:
  Region add(std::size_t bytes) {
    const Region region{bytes_, bytes};
    bytes_ += (bytes + kRegionAlignBytes - 1) / kRegionAlignBytes * kRegionAlignBytes;
    return region;
  }
  Region add_floats(std::size_t count) { return add(count * sizeof(float)); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

ParameterRegions add_parameters(const ParameterLayout& parameters, ParameterKind kind, const RegionRequest& request,
                                Builder& builder) {
  const std::size_t count = parameters.size(kind), trained = parameters.trained(kind);
  const std::size_t bytes = kind == ParameterKind::matrix ? bytes_of(element_type(request.precision)) : sizeof(float);
  ParameterRegions regions{.weights = builder.add_floats(count),
                           .gradients = builder.add(count * bytes),
                           .first = builder.add_floats(trained)};
  if (spec::is_adam(request.optimizer)) regions.second = builder.add_floats(trained);
  if (bytes < sizeof(float)) regions.copies = builder.add(count * bytes);
  if (request.accumulates) regions.sums = builder.add_floats(trained);
  if (request.learning.averages) regions.average = builder.add_floats(trained);
  return regions;
}

// Returns where the values of each item begin, and at the end how many values there are.
template <typename Items, typename Count>
std::vector<std::size_t> offsets(const Items& items, const Count& count) {
  std::vector<std::size_t> result{0};
  for (const auto& item : items) result.push_back(result.back() + static_cast<std::size_t>(count(item)));
  return result;
}

int most_channels(const Program& program) {
  return std::ranges::max_element(program.buffers, {}, &Buffer::channels)->channels;
}

void add_channels(const Program& program, const RegionRequest& request, DeviceRegions& regions, Builder& builder) {
  regions.channel_offsets = offsets(program.buffers, [](const Buffer& buffer) { return buffer.channels; });
  const std::size_t channels = regions.channel_offsets.back();
  for (Region* region :
       {&regions.mean, &regions.variance, &regions.inverse_deviation, &regions.slope, &regions.constant})
    *region = builder.add_floats(channels);
  regions.norm_offsets = norm_offsets(program);
  const std::size_t running = regions.norm_offsets.back();
  for (Region* region :
       {&regions.running_mean, &regions.running_variance, &regions.running_source, &regions.running_unbias})
    *region = builder.add_floats(running);
  const std::size_t prologue_bytes = request.has_prologues ? running * bytes_of(element_type(request.precision)) : 0;
  for (Region* region : {&regions.prologue_scale, &regions.prologue_shift}) *region = builder.add(prologue_bytes);
  regions.channel_rows = builder.add_floats(2 * static_cast<std::size_t>(most_channels(program)));
}

void add_batches(const RegionRequest& request, DeviceRegions& regions, Builder& builder) {
  const BatchShape batch{request.images, request.image_size, request.image_size, request.deliver};
  const std::size_t outputs = static_cast<std::size_t>(request.images) * static_cast<std::size_t>(request.outputs);
  for (int slot = 0; slot < kSlots; ++slot) {
    regions.images[slot] = builder.add(batch.bytes());
    regions.labels[slot] = builder.add_floats(outputs);
    regions.losses[slot] = builder.add_floats(1);
  }
  regions.logits = builder.add_floats(outputs);
  if (request.learning.has_classes)
    regions.softmax_rows = builder.add_floats(static_cast<std::size_t>(kernels::softmax_floats(request.images)));
  if (request.learning.weighs_classes)
    regions.class_weights = builder.add_floats(static_cast<std::size_t>(request.outputs));
  if (request.learning.clips)
    regions.norm_partials = builder.add(kParameterKinds * kernels::kNormBlocks * sizeof(double));
}

}  // namespace

LearningRequest learning_request(const spec::TrainingSpec& training, bool weighs_classes) {
  return {.averages = training.ema_decay > 0,
          .clips = training.clip_gradient_norm.has_value(),
          .has_classes = training.task == spec::Task::classes,
          .weighs_classes = weighs_classes};
}

std::size_t DeviceRegions::parameter_bytes() const {
  std::size_t sum = 0;
  for (const ParameterRegions& kind : parameters) {
    sum += kind.weights.bytes + kind.gradients.bytes + kind.first.bytes + kind.second.bytes + kind.copies.bytes +
           kind.sums.bytes + kind.average.bytes;
  }
  return sum;
}

std::size_t DeviceRegions::channel_bytes() const {
  return mean.bytes + variance.bytes + inverse_deviation.bytes + slope.bytes + constant.bytes + channel_rows.bytes +
         running_mean.bytes + running_variance.bytes + running_source.bytes + running_unbias.bytes +
         prologue_scale.bytes + prologue_shift.bytes;
}

std::size_t DeviceRegions::batch_bytes() const {
  std::size_t sum = 0;
  for (int slot = 0; slot < kSlots; ++slot) sum += images[slot].bytes + labels[slot].bytes;
  return sum;
}

std::vector<std::size_t> norm_offsets(const Program& program) {
  return offsets(program.nodes,
                 [](const Node& node) { return node.kind == NodeKind::normalize ? node.in.channels : 0; });
}

DeviceRegions lay_out(const Program& program, const ParameterLayout& parameters, const RegionRequest& request) {
  Builder builder;
  DeviceRegions regions;
  for (const ParameterKind kind : kParameterKindList)
    regions.parameters[static_cast<std::size_t>(kind)] = add_parameters(parameters, kind, request, builder);
  add_channels(program, request, regions, builder);
  add_batches(request, regions, builder);
  regions.scalars = builder.add(sizeof(kernels::StepScalars));
  regions.reductions = builder.add(kernels::reduction_scratch_bytes(most_channels(program), request.multiprocessors));
  regions.workspace = builder.add(request.workspace_bytes);
  regions.weight_gradient_workspace = builder.add(request.weight_gradient_workspace_bytes);
  regions.arena = builder.add(request.arena_bytes);
  regions.bytes = builder.bytes();
  return regions;
}

}  // namespace chexbench::engine::cuda
