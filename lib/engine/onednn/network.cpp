#include "engine/onednn/network.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "engine/onednn/device.hpp"
#include "engine/onednn/lowering.hpp"
#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr int kChannels = 3;
constexpr std::array<float, kChannels> kMean{0.485f, 0.456f, 0.406f};
constexpr std::array<float, kChannels> kDeviation{0.229f, 0.224f, 0.225f};

std::array<std::array<float, 256>, kChannels> make_table() {
  std::array<std::array<float, 256>, kChannels> table;
  for (std::size_t c = 0; c < kChannels; ++c) {
    for (std::size_t value = 0; value < 256; ++value) {
      table[c][value] = (static_cast<float>(value) / 255.0f - kMean[c]) / kDeviation[c];
    }
  }
  return table;
}

void assign(float& to, float value) { to = value; }

// Converts to bf16: rounds to nearest, ties to even.
void assign(std::uint16_t& to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  to = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Writes value(pixel, channel) to one image: plane by plane, or pixel by pixel.
template <typename T, typename Value>
void fill(T* to, std::size_t pixels, Layout layout, const Value& value) {
  if (layout == Layout::channels_last) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::size_t c = 0; c < kChannels; ++c) assign(to[pixel * kChannels + c], value(pixel, c));
    }
    return;
  }
  for (std::size_t c = 0; c < kChannels; ++c) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) assign(to[c * pixels + pixel], value(pixel, c));
  }
}

template <typename T>
void upload_image(const std::byte* from, Deliver deliver, const Tensor& input, T* to) {
  const auto pixels = static_cast<std::size_t>(input.shape.pixels());
  static const auto table = make_table();
  if (deliver == Deliver::f32) {
    const auto* values = reinterpret_cast<const float*>(from);
    fill(to, pixels, input.layout, [&](std::size_t pixel, std::size_t c) { return values[pixel * kChannels + c]; });
    return;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
  if (deliver == Deliver::u8) {
    fill(to, pixels, input.layout, [&](std::size_t pixel, std::size_t c) { return table[c][bytes[pixel]]; });
  } else {
    fill(to, pixels, input.layout,
         [&](std::size_t pixel, std::size_t c) { return table[c][bytes[pixel * kChannels + c]]; });
  }
}

template <typename T>
void upload_images(const Batch& batch, Tensor& input) {
  const auto values = static_cast<std::size_t>(input.shape.pixels()) * kChannels;
  parallel_for(input.shape.images, [&](int image) {
    const auto i = static_cast<std::size_t>(image);
    upload_image(batch.images + i * batch.shape.image_bytes(), batch.shape.deliver, input,
                 reinterpret_cast<T*>(input.data) + i * values);
  });
}

}  // namespace

Network::Network(const Device& device, const model::Graph& graph, int images, bool norms_frozen,
                 std::optional<std::uint64_t> dropout_seed, spec::Freeze freeze)
    : device_(fit_to_network(device, graph)),
      dropout_seed_(dropout_seed.value_or(0)),
      mode_{.running_statistics = norms_frozen},
      planner_(device_),
      store_(device_),
      scratchpad_(planner_.bytes(0)) {
  const LoweringOptions options{.images = images, .dropout = dropout_seed.has_value()};
  Lowered lowered = with_headroom([&] { return lower(device_, graph, options, mode_, planner_, scratchpad_); });
  ops_ = std::move(lowered.ops);
  shared_ = std::move(lowered.shared);
  input_ = lowered.input;
  logits_ = lowered.logits;
  if (freeze == spec::Freeze::base) first_trained_ = ops_.size() - 1;
  restart_times();
  plan();
}

void Network::plan() {
  planner_.use(scratchpad_);
  planner_.use(*input_);
  for (const auto& op : ops_) {
    op->plan_forward(planner_);
    planner_.advance();
  }
  logits_gradient_ = &planner_.tensor(logits_->shape, Layout::flat, FloatType::f32);
  planner_.use(*logits_);
  planner_.use(*logits_gradient_);
  planner_.add_gradient(*logits_, *logits_gradient_);
  ready_.resize(ops_.size());
  for (std::size_t i = ops_.size(); i-- > first_trained_;) {
    planner_.advance();
    ops_[i]->plan_backward(planner_, store_);
    ready_[i] = store_.size();
  }
  for (std::size_t i = first_trained_; i-- > 0;) ops_[i]->add_parameters(store_);
  // Callers read the logits after the step, so their memory must not be reused before its end.
  planner_.use(*logits_);
  planner_.use(scratchpad_);
  std::size_t scratchpad_bytes = 0;
  for (const auto& op : ops_) scratchpad_bytes = std::max(scratchpad_bytes, op->scratchpad_bytes());
  planner_.resize(scratchpad_, scratchpad_bytes);
  planner_.place();
  store_.allocate(trained());
  for (const auto& op : ops_) {
    with_headroom([&op] { op->bind(); });
    for (const BufferSlot& buffer : op->buffers()) buffers_.push_back(buffer);
  }
}

void Network::forward() {
  with_headroom([this] {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const double begin_s = now_s();
      ops_[i]->forward();
      times_[i].forward_s += now_s() - begin_s;
    }
  });
}

std::vector<OpTime> Network::op_times() const {
  std::vector<OpTime> kinds;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const std::string kind = ops_[i]->kind();
    auto one = std::ranges::find(kinds, kind, &OpTime::kind);
    if (one == kinds.end()) one = kinds.insert(kinds.end(), {.kind = kind});
    ++one->ops;
    one->forward_s += times_[i].forward_s;
    one->backward_s += times_[i].backward_s;
  }
  return kinds;
}

void Network::evaluate() {
  const PassMode training = std::exchange(
      mode_, {.running_statistics = true, .drops = false, .batch_seed = mode_.batch_seed, .any_threads = true});
  const std::vector<PassTimes> times = times_;  // of training
  forward();
  times_ = times;
  mode_ = training;
}

void Network::refresh_weights() {
  for (const auto& op : ops_) op->refresh_weights();
}

void Network::refresh_trained_weights() {
  for (std::size_t i = first_trained_; i < ops_.size(); ++i) ops_[i]->refresh_weights();
}

bool Network::uses_winograd() const {
  return std::any_of(ops_.begin() + static_cast<std::ptrdiff_t>(first_trained_), ops_.end(),
                     [](const std::unique_ptr<Op>& op) { return op->uses_winograd(); });
}

std::size_t Network::held_bytes() const {
  std::size_t bytes = planner_.arena_bytes();
  for (const auto& op : ops_) bytes += op->held_bytes();
  return bytes;
}

void upload(const Batch& batch, Tensor& input) {
  input.type == FloatType::bf16 ? upload_images<std::uint16_t>(batch, input) : upload_images<float>(batch, input);
}

}  // namespace chexbench::engine::onednn
