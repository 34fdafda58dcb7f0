#include "engine/cuda/training/step_queue.hpp"

#include <algorithm>

#include "engine/cuda/kernels/loss.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {
namespace {

// The least number of passes of a process that are queued launch by launch. run() queues at least a whole step this
// way, because its last pass reduces.
constexpr int kEagerPasses = 2;

}  // namespace

StepQueue::StepQueue(const Parts& parts) : parts_(parts) {}

StepQueue::Place StepQueue::place(std::int64_t pass) const {
  const int batches = parts_.accumulation.batches();
  if (batches == 1) return Place::only;
  if (pass % batches == 0) return Place::first;
  return ends_step(pass) ? Place::last : Place::middle;
}

const Event& StepQueue::end(std::int64_t pass) const {
  return pass < 0 ? restarted_ : ends_[static_cast<std::size_t>(pass % kEnds)];
}

void StepQueue::restart() { restarted_.mark(stream_.get()); }

void StepQueue::leave_out_time_before(std::int64_t pass) {
  (pass == 0 ? restarted_ : ends_[static_cast<std::size_t>((pass - 1) % kEnds)]).mark(stream_.get());
}

void StepQueue::upload(const Batch& batch, std::int64_t pass) {
  Slot& to = slots_[index(pass)];
  const DeviceRegions& regions = parts_.addresses.regions();
  const Region &images = regions.images[index(pass)], &labels = regions.labels[index(pass)];
  const Stream stream = upload_stream_.get();
  to.upload_begin.mark(stream);
  // The labels come first: they are not pinned, so the driver may keep the host until it has copied them.
  copy_to_device(parts_.addresses.at(labels), batch.labels.data(), labels.bytes, stream);
  copy_to_device(parts_.addresses.at(images), batch.images, images.bytes, stream);
  to.upload_end.mark(stream);
}

void StepQueue::run(std::int64_t pass, Reducer& reducer) {
  wait_for(stream_.get(), slot(pass).upload_end);
  const bool replay = captured_ == &reducer;
  if (replay) {
    slot(pass).graphs.at(place(pass)).launch(stream_.get());
  } else {
    queue(pass, place(pass), reducer);
    ++eager_passes_;
  }
  // Recorded outside the graph, so that the event belongs to this pass and not to any launch of the graph.
  ends_[static_cast<std::size_t>(pass % kEnds)].mark(stream_.get());
  if (replay || !parts_.use_graphs || !reducer.capturable()) return;
  if (eager_passes_ >= std::max(kEagerPasses, parts_.accumulation.batches())) capture(reducer);
}

void StepQueue::capture(Reducer& reducer) {
  for (Slot& slot : slots_) slot.graphs.clear();
  for (int pass = 0; pass < kSlots * parts_.accumulation.batches(); ++pass) {
    Graph& graph = slots_[index(pass)].graphs[place(pass)];
    if (!graph) graph = Graph::capture(stream_.get(), [&] { queue(pass, place(pass), reducer); });
  }
  captured_ = &reducer;
}

void StepQueue::queue(std::int64_t pass, Place place, Reducer& reducer) {
  Slot& events = slots_[index(pass)];
  const Stream stream = stream_.get();
  const bool ends = place == Place::only || place == Place::last;
  events.begin.mark(stream);
  convert(pass, stream);
  parts_.network.forward(stream);
  queue_loss(pass);
  events.forward_end.mark(stream);
  ends ? queue_last_backward(reducer) : queue_backward(place);
  events.backward_end.mark(stream);
  if (ends && reducer.world() > 1) reducer.join(stream);
  events.reduced.mark(stream);
  if (ends) {
    parts_.update.run(stream);
  } else {
    kernels::launch_end_batch(parts_.addresses.scalars(), stream);
  }
  parts_.network.update_running(stream);
  queue_results(pass);
}

void StepQueue::queue_backward(Place place) {
  parts_.network.backward(stream_.get(), [](std::size_t, std::size_t) {});
  parts_.accumulation.add(place == Place::first, stream_.get());
}

void StepQueue::queue_last_backward(Reducer& reducer) {
  parts_.buckets.begin_step();
  parts_.network.backward(stream_.get(), [&](std::size_t matrices, std::size_t vectors) {
    parts_.buckets.complete(matrices, vectors, stream_.get(), reducer);
  });
  // With several ranks, each bucket was averaged.
  if (reducer.world() == 1) parts_.accumulation.average_all(stream_.get());
}

void StepQueue::queue_results(std::int64_t pass) {
  const DeviceRegions& regions = parts_.addresses.regions();
  const Slot& to = slot(pass);
  copy_to_host(to.loss.data(), parts_.addresses.at(regions.losses[index(pass)]), sizeof(float), stream_.get());
  copy_to_host(to.scalars.data(), parts_.addresses.scalars(), sizeof(kernels::StepScalars), stream_.get());
}

void StepQueue::convert(std::int64_t pass, Stream stream) const {
  convert_images(parts_.addresses, parts_.deliver, parts_.addresses.regions().images[index(pass)], stream);
}

void StepQueue::queue_loss(std::int64_t pass) {
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
                        .targets = addresses.at<float>(regions.labels[index(pass)]),
                        .scalars = addresses.scalars(),
                        .loss = addresses.at<float>(regions.losses[index(pass)]),
                        .biased = addresses.at<float>(regions.logits),
                        .smoothing = parts_.label_smoothing,
                        .weights = addresses.at_or_null<float>(regions.class_weights),
                        .rows = addresses.at_or_null<float>(regions.softmax_rows)},
                       stream_.get());
}

StepMarks StepQueue::marks(std::int64_t pass) const {
  const Slot& events = slot(pass);
  const Event& base = end(pass - 2);
  const double previous_end_s = elapsed_s(base, end(pass - 1));
  const auto since = [&](const Event& event) { return elapsed_s(base, event) - previous_end_s; };
  return {.upload_begin_s = since(events.upload_begin),
          .upload_end_s = since(events.upload_end),
          .begin_s = since(events.begin),
          .forward_end_s = since(events.forward_end),
          .backward_end_s = since(events.backward_end),
          .reduced_s = since(events.reduced),
          .end_s = since(end(pass))};
}

}  // namespace chexbench::engine::cuda
