#include "engine/cuda/step_queue.hpp"

#include "engine/cuda/batch_input.hpp"
#include "engine/cuda/kernels/step_launch.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kEagerSteps = 2;

}  // namespace

StepQueue::StepQueue(const Parts& parts) : parts_(parts) {}

const Event& StepQueue::end(std::int64_t step) const {
  return step < 0 ? restarted_ : ends_[static_cast<std::size_t>(step % kEnds)];
}

void StepQueue::restart() { restarted_.mark(stream_.get()); }

void StepQueue::leave_out_time_before(std::int64_t step) {
  (step == 0 ? restarted_ : ends_[static_cast<std::size_t>((step - 1) % kEnds)]).mark(stream_.get());
}

void StepQueue::upload(const Batch& batch, std::int64_t step) {
  Slot& to = slots_[index(step)];
  const DeviceRegions& regions = parts_.addresses.config().plan.regions;
  const Region &images = regions.images[index(step)], &labels = regions.labels[index(step)];
  const Stream stream = upload_stream_.get();
  to.upload_begin.mark(stream);
  // First: they are not pinned, and the driver may keep the host until it has taken them.
  copy_to_device(parts_.addresses.at(labels), batch.labels.data(), labels.bytes, stream);
  copy_to_device(parts_.addresses.at(images), batch.images, images.bytes, stream);
  to.upload_end.mark(stream);
}

void StepQueue::run(std::int64_t step, Reducer& reducer) {
  wait_for(stream_.get(), slot(step).upload_end);
  const bool replay = captured_ == &reducer;
  if (replay) {
    slot(step).graph.launch(stream_.get());
  } else {
    queue(step, reducer);
    ++eager_steps_;
  }
  // Outside the graph, so that it is known to be of this step.
  ends_[static_cast<std::size_t>(step % kEnds)].mark(stream_.get());
  if (!replay && parts_.use_graphs && reducer.capturable() && eager_steps_ >= kEagerSteps) capture(reducer);
}

void StepQueue::capture(Reducer& reducer) {
  for (int i = 0; i < kSlots; ++i) slots_[index(i)].graph = Graph::capture(stream_.get(), [&] { queue(i, reducer); });
  captured_ = &reducer;
}

void StepQueue::queue(std::int64_t step, Reducer& reducer) {
  Slot& events = slots_[index(step)];
  const Stream stream = stream_.get();
  events.begin.mark(stream);
  convert(step, stream);
  parts_.network.forward(stream);
  queue_loss(step);
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
  queue_results(step);
}

void StepQueue::queue_results(std::int64_t step) {
  const DeviceRegions& regions = parts_.addresses.config().plan.regions;
  const Slot& to = slot(step);
  copy_to_host(to.loss.data(), parts_.addresses.at(regions.losses[index(step)]), sizeof(float), stream_.get());
  copy_to_host(to.scalars.data(), parts_.addresses.at(regions.scalars), sizeof(kernels::StepScalars), stream_.get());
}

void StepQueue::convert(std::int64_t step, Stream stream) const {
  convert_images(parts_.addresses, parts_.deliver, parts_.addresses.config().plan.regions.images[index(step)], stream);
}

void StepQueue::queue_loss(std::int64_t step) {
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
                        .targets = addresses.at<float>(regions.labels[index(step)]),
                        .scalars = addresses.at<kernels::StepScalars>(regions.scalars),
                        .loss = addresses.at<float>(regions.losses[index(step)]),
                        .biased = addresses.at<float>(regions.logits)},
                       stream_.get());
}

StepMarks StepQueue::marks(std::int64_t step) const {
  const Slot& events = slot(step);
  const Event& base = end(step - 2 < 0 ? -1 : step - 2);
  const double previous_end_s = elapsed_s(base, end(step - 1));
  const auto since = [&](const Event& event) { return elapsed_s(base, event) - previous_end_s; };
  return {.upload_begin_s = since(events.upload_begin),
          .upload_end_s = since(events.upload_end),
          .begin_s = since(events.begin),
          .forward_end_s = since(events.forward_end),
          .backward_end_s = since(events.backward_end),
          .reduced_s = since(events.reduced),
          .end_s = since(end(step))};
}

}  // namespace chexbench::engine::cuda
