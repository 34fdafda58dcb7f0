#include "engine/onednn/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/errors.hpp"
#include "engine/onednn/convolution_op.hpp"
#include "engine/onednn/norm_op.hpp"
#include "engine/onednn/pool_ops.hpp"

namespace chexbench::engine {
namespace {

using model::Layer;
using model::LayerKind;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Clamp kNoClamp{-kInfinity, kInfinity};

bool is_activation(LayerKind kind) { return kind == LayerKind::relu || kind == LayerKind::relu6; }

// Whether `all` begins with `part`.
bool begins_with(const std::vector<int>& all, const std::vector<int>& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

class Lowering {
 public:
  Lowering(const Device& device, const model::Graph& graph, LoweringOptions options, Planner& planner,
           const Tensor& scratchpad)
      : device_(device),
        graph_(graph),
        options_(options),
        planner_(planner),
        scratchpad_(scratchpad),
        readers_(graph.layers.size()),
        tensors_(graph.layers.size()),
        places_(graph.layers.size()) {
    for (int i = 0; i < size(); ++i) {
      for (const int input : layer(i).inputs) readers_[index(input)].push_back(i);
    }
    find_dense_blocks();
  }

  Lowered run() {
    for (int i = 0; i < size(); ++i) {
      lower_layer(i);
      const Place& place = places_[index(i)];
      if (place.block != nullptr && layer(i).kind != LayerKind::concat) {
        add<DenseWriteOp>(*place.block, *tensors_[index(i)], place.first_channel);
      }
    }
    result_.logits = tensors_.back();
    return std::move(result_);
  }

 private:
  // Where a layer's output lies within a dense block. A concat lies at the begin of its block.
  struct Place {
    DenseBlock* block = nullptr;
    int first_channel = 0;
  };

  static std::size_t index(int layer) { return static_cast<std::size_t>(layer); }
  int size() const { return static_cast<int>(graph_.layers.size()); }
  const Layer& layer(int i) const { return graph_.layers[index(i)]; }
  TensorShape shape(int i) const { return {options_.images, layer(i).channels, layer(i).height, layer(i).width}; }
  Tensor& input_tensor(int i) const {
    Tensor* const input = tensors_[index(layer(i).inputs.front())];
    if (input == nullptr) refuse(i, "it reads a concatenation that is in no tensor of its own");
    return *input;
  }
  Tensor& new_tensor(int i) { return *(tensors_[index(i)] = &planner_.tensor(shape(i))); }

  template <typename T, typename... Arguments>
  void add(Arguments&&... arguments) {
    result_.ops.push_back(std::make_unique<T>(device_, std::forward<Arguments>(arguments)...));
  }

  // Concats that begin alike share one block: each dense layer reads a prefix of the last concat.
  void find_dense_blocks() {
    std::vector<int> roots;
    for (int i = size() - 1; i >= 0; --i) {
      if (layer(i).kind != LayerKind::concat) continue;
      const auto root = std::find_if(roots.begin(), roots.end(),
                                     [&](int r) { return begins_with(layer(r).inputs, layer(i).inputs); });
      if (root != roots.end()) {
        places_[index(i)] = places_[index(*root)];
        continue;
      }
      roots.push_back(i);
      const auto block = std::make_shared<DenseBlock>(planner_, shape(i));
      result_.shared.push_back(block);
      places_[index(i)] = {block.get(), 0};
      int channel = 0;
      for (const int input : layer(i).inputs) {
        places_[index(input)] = {block.get(), channel};
        channel += layer(input).channels;
      }
    }
  }

  [[noreturn]] void refuse(int i, const char* what) const {
    throw DeviceError(
        fmt::format("engine 'onednn' cannot compute layer {} ('{}') of {}: {}", i, layer(i).name, graph_.name, what));
  }

  void lower_layer(int i) {
    switch (layer(i).kind) {
      case LayerKind::input:
        tensors_[index(i)] = &planner_.tensor(shape(i), Layout::nchw, device_.type);
        result_.input = tensors_[index(i)];
        return;
      case LayerKind::convolution:
        return lower_convolution(i);
      case LayerKind::batch_norm:
        return lower_norm(i);
      case LayerKind::add:
        return lower_add(i);
      case LayerKind::relu:
      case LayerKind::relu6:
        if (tensors_[index(i)] == nullptr) refuse(i, "an activation must follow a batch norm or an add");
        return;
      case LayerKind::concat:
        return;
      case LayerKind::max_pool:
      case LayerKind::average_pool:
        add<PoolOp>(layer(i), input_tensor(i), new_tensor(i));
        return;
      case LayerKind::global_average_pool:
        tensors_[index(i)] = &planner_.tensor(shape(i), Layout::flat, ElementType::f32);
        add<GlobalAverageOp>(input_tensor(i), *tensors_[index(i)]);
        return;
      case LayerKind::linear:
        tensors_[index(i)] = &planner_.tensor(shape(i), Layout::flat, ElementType::f32);
        add<LinearOp>(layer(i), input_tensor(i), *tensors_[index(i)]);
        return;
    }
  }

  void lower_convolution(int i) {
    const int input = layer(i).inputs.front();
    if (layer(i).bias) refuse(i, "a convolution with a bias");
    if (layer(i).groups != 1) refuse(i, "a convolution of several groups");
    const auto adds_gradient = [this](int reader) { return layer(reader).kind != LayerKind::concat; };
    if (std::ranges::count_if(readers_[index(i)], adds_gradient) > 1)
      refuse(i, "a convolution that several layers read");
    if (layer(i).channels % device_.block != 0) refuse(i, "channels that don't fill a vector");
    const std::int64_t inputs = layer(input).channels / layer(i).groups;
    const model::TensorInfo weight{layer(i).name + ".weight",
                                   {layer(i).channels, inputs, layer(i).kernel, layer(i).kernel}};
    add<ConvolutionOp>(layer(i), weight, input_tensor(i), new_tensor(i), layer(input).kind != LayerKind::input,
                       scratchpad_);
  }

  // The activation that alone reads layer i, or -1.
  int activation_after(int i) const {
    const auto& readers = readers_[index(i)];
    return readers.size() == 1 && is_activation(layer(readers.front()).kind) ? readers.front() : -1;
  }

  // The output of layer i with the activation after it, if there is one.
  struct Activated {
    Tensor& y;
    Clamp clamp;
  };
  Activated activated(int i) {
    Tensor& y = new_tensor(i);
    const int activation = activation_after(i);
    if (activation < 0) return {y, kNoClamp};
    tensors_[index(activation)] = &y;
    return {y, {0.0f, layer(activation).kind == LayerKind::relu6 ? 6.0f : kInfinity}};
  }

  bool feeds_add(int i) const {
    const auto& readers = readers_[index(i)];
    return readers.size() == 1 && layer(readers.front()).kind == LayerKind::add;
  }

  void lower_norm(int i) {
    if (feeds_add(i)) return;  // becomes part of the add
    const int input = layer(i).inputs.front();
    const auto [y, clamp] = activated(i);
    if (const Place& place = places_[index(input)]; place.block != nullptr) {
      if (place.first_channel != 0) refuse(i, "a norm over channels that don't begin their block");
      add<DenseNormOp>(layer(i), options_.frozen, clamp, *place.block, y);
    } else {
      add_norm(i, clamp, nullptr, y);
    }
  }

  void add_norm(int i, Clamp clamp, Tensor* residual, Tensor& y) {
    add<NormOp>(layer(i), options_.frozen, clamp, input_tensor(i), residual, y);
  }

  bool is_waiting_norm(int i) const { return layer(i).kind == LayerKind::batch_norm && tensors_[index(i)] == nullptr; }

  // One norm takes the other input as its residual.
  void lower_add(int i) {
    int norm = layer(i).inputs[0], residual = layer(i).inputs[1];
    if (!is_waiting_norm(norm)) std::swap(norm, residual);
    if (!is_waiting_norm(norm)) refuse(i, "an add without a batch norm before it");
    if (is_waiting_norm(residual)) add_norm(residual, kNoClamp, nullptr, new_tensor(residual));
    const auto [y, clamp] = activated(i);
    add_norm(norm, clamp, tensors_[index(residual)], y);
  }

  const Device& device_;
  const model::Graph& graph_;
  const LoweringOptions options_;
  Planner& planner_;
  const Tensor& scratchpad_;
  std::vector<std::vector<int>> readers_;
  std::vector<Tensor*> tensors_;  // a layer's output; null where it has none of its own
  std::vector<Place> places_;
  Lowered result_;
};

}  // namespace

Lowered lower(const Device& device, const model::Graph& graph, LoweringOptions options, Planner& planner,
              const Tensor& scratchpad) {
  return Lowering(device, graph, options, planner, scratchpad).run();
}

}  // namespace chexbench::engine
