#include "engine/cuda/training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/cuda/convolution/plan_cache.hpp"
#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/precision.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "engine/cuda/training/evaluation.hpp"
#include "engine/dropout.hpp"
#include "engine/initial_weights.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr auto kPollEvery = std::chrono::microseconds(50);  // short compared with a step
constexpr double kCheckRanksEvery_s = 0.01;
// For later allocations of libraries: loaded kernels, graphs, and NCCL's buffers.
constexpr std::size_t kReserveBytes = 512 << 20, kReserveOfRanksBytes = 1536 << 20;

DeviceIdentity take_device(const EngineConfig& config) {
  DeviceIdentity device = select_device(config.gpu);
  check_precision(config.training.precision, device.compute_capability, device.name);
  return device;
}

// Only batch norms that are not frozen need the sums that fused convolutions compute.
ConvolutionsConfig convolutions_config(const EngineConfig& config, const Program& program,
                                       const DeviceIdentity& device) {
  return {.precision = config.training.precision,
          .deterministic = config.training.deterministic,
          .fused = config.training.fused && std::ranges::count(program.nodes, NodeKind::statistics, &Node::kind) > 0,
          .workspace_limit_bytes = workspace_limit_bytes(device.memory_bytes),
          .cache_file = default_plan_cache_file(std::getenv),
          .tuning = {.candidates = config.plan_choice.candidates.value_or(kMostTimed),
                     .seconds = config.training.tuning_s.value_or(std::numeric_limits<double>::infinity()),
                     .forces_fused = config.plan_choice.forces_fused}};
}

MemoryRequest memory_request(const EngineConfig& config, const DeviceIdentity& device) {
  return {.images = config.training.batch_size,
          .precision = config.training.precision,
          .optimizer = config.training.optimizer,
          .deliver = config.deliver,
          .reserve_bytes = config.world > 1 ? kReserveOfRanksBytes : kReserveBytes,
          .multiprocessors = device.multiprocessors,
          .accumulates = config.training.accumulate_steps > 1,
          .learning = learning_request(config.training, !config.class_weights.empty()),
          .concurrent_weight_gradients = config.training.concurrent_weight_gradients,
          .freeze = config.model.freeze,
          .fuses_pools = config.training.fused};
}

std::string text(const DeviceIdentity& device) {
  return fmt::format("{} (compute capability {}.{})", device.name, device.compute_capability / 10,
                     device.compute_capability % 10);
}

}  // namespace

CudaEngine::CudaEngine(const EngineConfig& config)
    : TrainingEngine(config),
      rank_(config.rank),
      world_(config.world),
      device_(take_device(config)),
      graph_(model::make_network(config.model.name, config.model.image_size, config.outputs)),
      request_(memory_request(config, device_)),
      convolutions_(planned_convolutions(config)),
      program_(chosen_program(config)),
      parameters_(graph_, program_, config.model.freeze),
      linear_(linear_shapes(program_, shape_.images), config.training.precision),
      plan_(plan()),
      memory_(plan_.total_bytes()),
      addresses_({.graph = graph_,
                  .program = program_,
                  .parameters = parameters_,
                  .plan = plan_,
                  .memory = static_cast<std::byte*>(memory_.data()),
                  .images = shape_.images,
                  .precision = config.training.precision,
                  .frozen = config.model.has_frozen_norms(),
                  .dropout_seed = dropout_seed(config.model.seed, config.rank),
                  .batches_of_step = config.training.accumulate_steps}),
      network_(addresses_, *convolutions_, linear_, config.training.concurrent_weight_gradients),
      update_(addresses_, config.training),
      accumulation_(addresses_),
      buckets_(addresses_, accumulation_, config.comm),
      weights_(addresses_),
      moments_(addresses_, config.training),
      evaluation_({.addresses = addresses_,
                   .request = request_,
                   .convolutions = *convolutions_,
                   .linear = linear_,
                   .deliver = config.deliver}),
      queue_({.addresses = addresses_,
              .network = network_,
              .update = update_,
              .accumulation = accumulation_,
              .buckets = buckets_,
              .deliver = config.deliver,
              .label_smoothing = static_cast<float>(config.training.label_smoothing),
              .use_graphs = config.training.cuda_graph}),
      stall_limit_(config.comm.stall_limit_s) {
  traits_.name = "cuda";
  traits_.device = text(device_);
  traits_.gpu_uuid = device_.uuid;
  use_workspaces();
  // The update also runs over the padding between parameters, whose gradients are never written.
  for (const ParameterRegions& kind : plan_.regions.parameters)
    clear(addresses_.at(kind.gradients), kind.gradients.bytes, queue_.stream());
  copy_to_device(addresses_.at(plan_.regions.class_weights), config.class_weights.data(),
                 plan_.regions.class_weights.bytes, queue_.stream());
  clear(addresses_.at(plan_.regions.reductions), kernels::kTicketBytes, queue_.stream());
  network_.prepare_running(queue_.stream());
  InitialWeights initial = initial_weights(config.model, config.outputs);
  traits_.notes = std::move(initial.notes);
  load_weights(initial.source);
}

CudaEngine::~CudaEngine() {
  try {
    synchronize(queue_.stream());
  } catch (const DeviceError&) {
    // The caller of the engine has already seen that error, and there is nothing left to wait for.
  }
}

// A network that does not fit even without a workspace is refused before convolutions are timed for minutes.
std::unique_ptr<Convolutions> CudaEngine::planned_convolutions(const EngineConfig& config) const {
  const Program program = lower(graph_, lowering_options(config.model, config.training.fused));
  check_fits(graph_, program, request_, free_device_bytes());
  ConvolutionsConfig tuning = convolutions_config(config, program, device_);
  const Program packed = with_packed_outputs(program, [](const Node&) { return true; });
  const std::vector<int> norms = prologue_norms(packed);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (norms[i] >= 0) tuning.behind_norms.push_back(conv_shape(graph_, packed, packed.nodes[i], shape_.images));
  }
  for (const int conv : dense_convolutions(program)) {
    const Node& node = program.nodes[static_cast<std::size_t>(conv)];
    tuning.in_blocks.push_back(conv_shape(graph_, program, node, shape_.images));
  }
  tuning.behind_joins = join_shapes(graph_, program, shape_.images);
  return std::make_unique<Convolutions>(conv_shapes(graph_, program, shape_.images), tuning);
}

// Returns the program in which those outputs are packed where that is faster.
Program CudaEngine::chosen_program(const EngineConfig& config) const {
  const Program program = lower(graph_, lowering_options(config.model, config.training.fused));
  return with_packed_outputs(program, [&](const Node& conv) {
    return convolutions_->packs(conv_shape(graph_, program, conv, shape_.images));
  });
}

// Returns the norms that convolutions compute, because that is faster.
std::vector<int> CudaEngine::chosen_prologues() const {
  std::vector<int> norms = prologue_norms(program_);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (norms[i] < 0) continue;
    const ConvShape shape = conv_shape(graph_, program_, program_.nodes[i], shape_.images);
    if (!convolutions_->has(shape, ConvPattern::normalized_forward_statistics)) norms[i] = -1;
  }
  return norms;
}

MemoryPlan CudaEngine::plan() {
  request_.workspace_bytes = std::max(convolutions_->workspace_bytes(), linear_.workspace_bytes());
  if (request_.concurrent_weight_gradients)
    request_.weight_gradient_workspace_bytes = convolutions_->weight_gradient_workspace_bytes();
  request_.prologues = chosen_prologues();
  const auto where = [this](ConvPattern pattern) -> TakesJoin {
    return [this, pattern](const Node& conv) {
      return convolutions_->has(conv_shape(graph_, program_, conv, shape_.images), pattern);
    };
  };
  request_.joins =
      chosen_joins(program_, where(ConvPattern::data_gradient_join), where(ConvPattern::data_gradient_join_norms), {});
  request_.forward_joins = chosen_joins(program_, where(ConvPattern::joined_forward_statistics),
                                        where(ConvPattern::joined_norms_forward_statistics), request_.joins);
  check_fits(graph_, program_, request_, free_device_bytes());
  return plan_memory(graph_, program_, request_);
}

void CudaEngine::use_workspaces() {
  void* const workspace = addresses_.at(plan_.regions.workspace);
  void* const of_weight_gradients = addresses_.at(plan_.regions.weight_gradient_workspace);
  convolutions_->use_workspaces(workspace, request_.concurrent_weight_gradients ? of_weight_gradients : workspace);
  linear_.use_workspace(workspace);
}

void CudaEngine::step(BatchLease batch, Reducer& reducer) {
  check_batch(traits_.name, shape_, *batch);
  const std::int64_t pass = begun_;
  reducer_ = &reducer;
  queue_.upload(*batch, pass);
  queue_.run(pass, reducer);
  ++begun_;
  wait_until([&] { return queue_.uploaded(pass); });
  batch.release();
  if (begun_ - finished_ == kSlots) collect();
}

void CudaEngine::finish() {
  if (finished_ < begun_) collect();
}

void CudaEngine::wait_until(const std::function<bool()>& done) {
  const double stalled_s = now_s() + stall_limit_.seconds();
  double look_s = now_s() + kCheckRanksEvery_s;
  while (!done()) {
    std::this_thread::sleep_for(kPollEvery);
    if (now_s() < look_s) continue;
    reducer_->check();
    if (now_s() > stalled_s) report_stall();
    look_s = now_s() + kCheckRanksEvery_s;
  }
}

void CudaEngine::collect() {
  const std::int64_t pass = finished_;
  const bool ends_step = queue_.ends_step(pass);
  wait_until([&] { return queue_.done(pass); });
  measure::StepTimings timings = timings_of(queue_.marks(pass));
  if (ends_step) timings.communication_busy_s = reducer_->timings().busy_s;
  timings.loss = static_cast<double>(queue_.loss(pass));
  timings.images = shape_.images;
  timings.end_s = end_s_ += timings.wall_s;
  stall_limit_.add(timings.wall_s);
  ++finished_;
  const bool lost = ends_step && queue_.scalars(pass).skip != 0 && !update_.scales_loss();
  if (lost || !std::isfinite(timings.loss)) report_bad_pass(pass, timings.loss);
  finish_batch(timings);
}

// The communicator must end first, or the destructor would wait for kernels that wait for another rank.
void CudaEngine::report_stall() {
  const std::string message = fmt::format(
      "engine 'cuda': rank {} has waited {:.3g} s for step {}, which does not end: {}", rank_, stall_limit_.seconds(),
      finished_ / parts().batches() + 1,
      world_ > 1 ? "a rank that does not report this has died or stalled" : "its GPU is stuck (nvidia-smi, Xid)");
  reducer_->give_up(message);
  throw DeviceError(message);
}

void CudaEngine::report_bad_pass(std::int64_t pass, double loss) {
  wait_until([&] { return queue_.done(begun_ - 1); });
  queue_.convert(pass, queue_.stream());
  throw DeviceError(
      fmt::format("engine 'cuda': step {} has a loss of {}{}: {}; a lower training.learning_rate may help, or "
                  "training.precision f32",
                  pass / parts().batches() + 1, loss, std::isfinite(loss) ? " and gradients that are not finite" : "",
                  first_bad_layer(addresses_, network_, queue_.stream())));
}

void CudaEngine::restart() {
  const Stream stream = queue_.stream();
  synchronize(stream);
  weights_.restart(stream);
  update_.restart(stream);
  update_.refresh_copies(stream);
  queue_.restart();
  synchronize(stream);
  end_s_ = now_s();
  restart_steps();
  begun_ = finished_ = 0;
  learning_rate_ = std::numeric_limits<double>::quiet_NaN();  // the device has the spec's learning rate again
}

void CudaEngine::load_weights(const WeightSource& source) {
  weights_.fill(source);
  restart();
}

void CudaEngine::read_parameter(const std::string& name, std::span<float> values) const {
  weights_.read_parameter(name, values, queue_.stream());
}

void CudaEngine::read_gradient(const std::string& name, std::span<float> values) const {
  weights_.read_gradient(name, values, queue_.stream());
}

void CudaEngine::read_buffer(const std::string& name, std::span<float> values) const {
  weights_.read_buffer(name, values, queue_.stream());
}

// This is called before each step, mostly with the learning rate of the step before.
void CudaEngine::set_learning_rate(double rate) {
  if (rate == learning_rate_) return;
  update_.set_learning_rate(rate, queue_.stream());
  learning_rate_ = rate;
}

void CudaEngine::leave_out_time() {
  queue_.leave_out_time_before(begun_);
  end_s_ = now_s();
}

void CudaEngine::evaluate(BatchLease batch, std::span<float> logits) {
  check_shape(traits_.name, shape_, *batch);
  finish();
  evaluation_.queue(*batch, queue_.stream());
  const auto images = static_cast<std::size_t>(batch->valid), outputs = static_cast<std::size_t>(shape_.labels);
  batch.release();
  evaluation_.read(logits.first(std::min(logits.size(), images * outputs)), queue_.stream());
  leave_out_time();
}

void CudaEngine::swap_average() {
  if (updates() == 0) return;
  update_.swap_average(queue_.stream());
  update_.refresh_copies(queue_.stream());
}

void CudaEngine::set_buffers(const WeightSource& source) { weights_.load_buffers(source, queue_.stream()); }

void CudaEngine::read_moment(const std::string& name, std::span<float> values) const {
  moments_.read(name, values, queue_.stream());
}

std::int64_t CudaEngine::updates() const {
  return fetch<kernels::StepScalars>(addresses_.scalars(), 1, queue_.stream()).front().step;
}

void CudaEngine::resume(const WeightSource& source, std::int64_t updates) {
  const Stream stream = queue_.stream();
  finish();
  weights_.load(source, stream);
  update_.resume(updates, moments_.load(source, stream), stream);
  update_.refresh_copies(stream);
  synchronize(stream);
  learning_rate_ = std::numeric_limits<double>::quiet_NaN();
  leave_out_time();
}

std::span<const float> CudaEngine::logits() const {
  const Region& logits = plan_.regions.logits;
  logits_.resize(logits.bytes / sizeof(float));
  copy_to_host(logits_.data(), addresses_.at(logits), logits.bytes, queue_.stream());
  synchronize(queue_.stream());
  return logits_;
}

}  // namespace chexbench::engine::cuda
