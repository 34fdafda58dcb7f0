#include "engine/cuda/step_queue.hpp"

#include "engine/cuda/kernels/step_launch.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kEagerSteps = 2;

// ImageNet's, as the pipeline's.
constexpr kernels::Normalization kNormalization{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

}  // namespace

StepQueue::StepQueue(const Parts& parts) : parts_(parts) {}

void StepQueue::upload(const Batch& batch, int slot) {
  Slot& to = slots_[index(slot)];
  const DeviceRegions& regions = parts_.addresses.config().plan.regions;
  const Region &images = regions.images[slot], &labels = regions.labels[slot];
  const Stream stream = upload_stream_.get();
  to.upload_begin.mark(stream);
  copy_to_device(parts_.addresses.at(images), batch.images, images.bytes, stream);
  copy_to_device(parts_.addresses.at(labels), batch.labels.data(), labels.bytes, stream);
  to.upload_end.mark(stream);
}

void StepQueue::run(int slot, Reducer& reducer) {
  wait_for(stream_.get(), slots_[index(slot)].upload_end);
  if (!may_replay(reducer)) {
    queue(slot, reducer);
    ++eager_steps_;
    return;
  }
  if (captured_ != &reducer) {
    for (int i = 0; i < kSlots; ++i) slots_[index(i)].graph = Graph::capture(stream_.get(), [&] { queue(i, reducer); });
    captured_ = &reducer;
  }
  slots_[index(slot)].graph.launch(stream_.get());
}

bool StepQueue::may_replay(const Reducer& reducer) const {
  return parts_.use_graphs && reducer.capturable() && eager_steps_ >= kEagerSteps;
}

void StepQueue::queue(int slot, Reducer& reducer) {
  Slot& events = slots_[index(slot)];
  const Stream stream = stream_.get();
  events.begin.mark(stream);
  convert(slot, stream);
  parts_.network.forward(stream);
  queue_loss(slot);
  events.forward_end.mark(stream);
  parts_.buckets.begin_step();
  parts_.network.backward(stream, [&](std::size_t matrices, std::size_t vectors) {
    parts_.buckets.complete(matrices, vectors, stream, reducer);
  });
  events.backward_end.mark(stream);
  if (reducer.world() > 1) reducer.join(stream);
  events.reduced.mark(stream);
  parts_.update.run(stream);
  parts_.network.update_running(stream);
  copy_to_host(events.loss.data(), parts_.addresses.at(parts_.addresses.config().plan.regions.losses[slot]),
               sizeof(float), stream);
  events.end.mark(stream);
}

void StepQueue::convert(int slot, Stream stream) const {
  const Addresses& addresses = parts_.addresses;
  const Addresses::Config& config = addresses.config();
  const Slice& input = config.program.input;
  const kernels::UploadCall call{.type = addresses.type(),
                                 .channels = input.channels,
                                 .pixels = addresses.rows(input),
                                 .to = addresses.activation(input).data};
  const Region& images = config.plan.regions.images[slot];
  if (parts_.deliver == Deliver::u8) {
    kernels::launch_upload_gray(call, addresses.at<std::uint8_t>(images), kNormalization, stream);
  } else {
    kernels::launch_upload_color(call, addresses.at<float>(images), stream);
  }
}

void StepQueue::queue_loss(int slot) {
  const Addresses& addresses = parts_.addresses;
  const Addresses::Config& config = addresses.config();
  const DeviceRegions& regions = config.plan.regions;
  const model::Layer& last = config.graph.layers.back();
  const ParameterPlace& bias =
      config.parameters.place(static_cast<int>(config.graph.layers.size()) - 1, model::ParameterRole::bias);
  kernels::launch_loss({.type = addresses.type(),
                        .batch = config.images,
                        .outputs = last.channels,
                        .ld = config.program.logits.channels,
                        .logits = addresses.activation(config.program.logits).data,
                        .bias = addresses.vector(bias),
                        .gradient = addresses.gradient(config.program.logits).data,
                        .bias_gradient = addresses.vector_gradient(bias),
                        .targets = addresses.at<float>(regions.labels[slot]),
                        .scalars = addresses.at<kernels::StepScalars>(regions.scalars),
                        .loss = addresses.at<float>(regions.losses[slot]),
                        .biased = addresses.at<float>(regions.logits)},
                       stream_.get());
}

StepMarks StepQueue::marks(int slot, const Event& previous_end) const {
  const Slot& events = slots_[index(slot)];
  const auto since = [&](const Event& event) { return elapsed_s(previous_end, event); };
  return {.upload_begin_s = since(events.upload_begin),
          .upload_end_s = since(events.upload_end),
          .begin_s = since(events.begin),
          .forward_end_s = since(events.forward_end),
          .backward_end_s = since(events.backward_end),
          .reduced_s = since(events.reduced),
          .end_s = since(events.end)};
}

}  // namespace chexbench::engine::cuda
