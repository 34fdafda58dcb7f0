#include "engine/onednn/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "core/errors.hpp"
#include "engine/fusion.hpp"
#include "engine/onednn/activation_op.hpp"
#include "engine/onednn/convolution_op.hpp"
#include "engine/onednn/linear_op.hpp"
#include "engine/onednn/norm_ops.hpp"
#include "engine/onednn/pool_ops.hpp"

namespace chexbench::engine::onednn {
namespace {

using model::Layer;
using model::LayerKind;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Clamp kNoClamp{-kInfinity, kInfinity};

class Lowering {
 public:
  Lowering(const Device& device, const model::Graph& graph, LoweringOptions options, const PassMode& mode,
           Planner& planner, const Tensor& scratchpad)
      : device_(device),
        graph_(graph),
        options_(options),
        mode_(mode),
        planner_(planner),
        scratchpad_(scratchpad),
        fusion_(graph),
        tensors_(graph.layers.size()),
        places_(graph.layers.size()),
        joins_(graph.layers.size()) {
    find_joins();
    place_dense_blocks();
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
  // Where a layer's output is within a dense block. A concat's output starts at channel 0 of its block.
  struct Place {
    DenseBlock* block = nullptr;
    int first_channel = 0;
  };

  // Where a norm's output is within the tensor of the concat that is its only reader.
  struct Join {
    int concat = -1;
    int first_channel = 0;
  };

  static std::size_t index(int layer) { return static_cast<std::size_t>(layer); }
  int size() const { return static_cast<int>(graph_.layers.size()); }
  const Layer& layer(int i) const { return graph_.layers[index(i)]; }
  TensorShape shape(int i) const { return {options_.images, layer(i).channels, layer(i).height, layer(i).width}; }
  Tensor& input_tensor(int i) const {
    Tensor* const input = tensors_[index(layer(i).inputs.front())];
    if (input == nullptr) refuse(i, "it reads a concatenation that has no separate tensor");
    return *input;
  }
  Tensor& tensor(int i) const { return *tensors_[index(i)]; }
  Tensor& new_tensor(int i) { return *(tensors_[index(i)] = &planner_.tensor(shape(i))); }
  Layout input_layout() const { return device_.layout == Layout::channels_last ? Layout::channels_last : Layout::nchw; }
  Tensor& new_flat(int i) { return *(tensors_[index(i)] = &planner_.tensor(shape(i), Layout::flat, FloatType::f32)); }

  template <typename T, typename... Arguments>
  void add(Arguments&&... arguments) {
    result_.ops.push_back(std::make_unique<T>(device_, std::forward<Arguments>(arguments)...));
  }

  // Whether layer i is a norm, or the activation after a norm, that has one reader and can write whole channel blocks.
  bool is_joinable(int i) const {
    const int norm = is_activation(layer(i).kind) ? layer(i).inputs.front() : i;
    return fusion_.sole_reader(i) >= 0 && layer(norm).kind == LayerKind::batch_norm &&
           (norm == i || fusion_.sole_reader(norm) == i) && layer(i).channels % device_.block == 0;
  }

  // Finds concats whose parts are all outputs of norms, which then write directly into the concat's tensor.
  void find_joins() {
    for (int i = 0; i < size(); ++i) {
      const auto& parts = layer(i).inputs;
      if (layer(i).kind != LayerKind::concat) continue;
      if (!std::ranges::all_of(parts, [this](int part) { return is_joinable(part); })) continue;
      new_tensor(i);
      int channel = 0;
      for (const int part : parts) {
        joins_[index(part)] = {i, channel};
        channel += layer(part).channels;
      }
    }
  }

  // Gives each dense block its tensors, and the layers in it their places. A concat that norms join into has none.
  void place_dense_blocks() {
    const DenseBlocks blocks =
        find_dense_blocks(graph_, [this](int concat) { return tensors_[index(concat)] == nullptr; });
    std::map<int, DenseBlock*> of_root;
    for (int i = size() - 1; i >= 0; --i) {
      if (blocks.places[index(i)].root != i) continue;
      const auto block = std::make_shared<DenseBlock>(planner_, shape(i));
      result_.shared.push_back(block);
      of_root[i] = block.get();
    }
    for (int i = 0; i < size(); ++i) {
      const auto [root, first_channel] = blocks.places[index(i)];
      if (root >= 0) places_[index(i)] = {of_root.at(root), first_channel};
    }
  }

  [[noreturn]] void refuse(int i, const char* what) const {
    throw DeviceError(
        fmt::format("engine 'onednn' cannot compute layer {} ('{}') of {}: {}", i, layer(i).name, graph_.name, what));
  }

  void lower_layer(int i) {
    switch (layer(i).kind) {
      case LayerKind::input:
        tensors_[index(i)] = &planner_.tensor(shape(i), input_layout(), device_.type);
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
        if (tensors_[index(i)] == nullptr) lower_activation(i);
        return;
      case LayerKind::concat:
        return;
      case LayerKind::max_pool:
      case LayerKind::average_pool:
        add<PoolOp>(layer(i), input_tensor(i), new_tensor(i));
        if (waits_for_pool(layer(i).inputs.front())) add<ActivationOp>(clamp_of(layer(i).inputs.front()), tensor(i));
        return;
      case LayerKind::global_average_pool:
        if (layer(i).channels % device_.block != 0) refuse(i, "channels that don't fill a vector");
        add<GlobalAverageOp>(input_tensor(i), new_flat(i));
        return;
      case LayerKind::adaptive_average_pool:
        if (fusion_.sole_reader(i) < 0 || layer(fusion_.sole_reader(i)).kind != LayerKind::flatten) {
          refuse(i, "an adaptive average pool that is not flattened");
        }
        tensors_[index(i)] = &input_tensor(i);
        return;
      case LayerKind::flatten:
        result_.ops.push_back(std::make_unique<FlattenOp>(input_tensor(i), flattened_size(i), new_flat(i)));
        return;
      case LayerKind::dropout:
        return lower_dropout(i);
      case LayerKind::linear:
        add<LinearOp>(layer(i), mode_, input_tensor(i), new_flat(i));
        return;
    }
  }

  FlattenOp::Size flattened_size(int i) const {
    const Layer& input = layer(layer(i).inputs.front());
    return {input.height, input.width};
  }

  Clamp clamp_of(int i) const { return {0.0f, layer(i).kind == LayerKind::relu6 ? 6.0f : kInfinity}; }

  bool follows_no_norm(int i) const {
    const LayerKind before = layer(layer(i).inputs.front()).kind;
    return before == LayerKind::convolution || before == LayerKind::linear;
  }

  // Whether activation i can run after the max pool that is its only reader: the result is the same, for a quarter of
  // the work or less.
  bool waits_for_pool(int i) const {
    return is_activation(layer(i).kind) && follows_no_norm(i) && fusion_.sole_reader(i) >= 0 &&
           layer(fusion_.sole_reader(i)).kind == LayerKind::max_pool;
  }

  void check_works_in_place(int i) const {
    if (fusion_.sole_reader(layer(i).inputs.front()) < 0) refuse(i, "it changes in place what several layers read");
  }

  // Lowers an activation that is not fused into a norm.
  void lower_activation(int i) {
    if (!follows_no_norm(i)) refuse(i, "an activation must follow a norm, an add, a convolution or a linear layer");
    check_works_in_place(i);
    Tensor& y = input_tensor(i);
    tensors_[index(i)] = &y;
    if (y.layout == Layout::flat && y.shape.channels % device_.block != 0) refuse(i, "values that don't fill a vector");
    if (!waits_for_pool(i)) add<ActivationOp>(clamp_of(i), y);
  }

  void lower_dropout(int i) {
    Tensor& y = input_tensor(i);
    tensors_[index(i)] = &y;
    if (!options_.dropout) return;
    check_works_in_place(i);
    if (y.layout != Layout::flat) refuse(i, "dropout of feature maps");
    // Both work in place on the same tensor. Dropout scales the kept values up, so values that the ReLU6 passed could
    // exceed 6, and its backward would treat them as clamped.
    if (layer(layer(i).inputs.front()).kind == LayerKind::relu6) refuse(i, "dropout right behind a ReLU6");
    add<DropoutOp>(layer(i).drop_rate, i, mode_, y);
  }

  void lower_convolution(int i) {
    const int input = layer(i).inputs.front();
    const bool depthwise = layer(i).groups > 1;
    if (depthwise && (layer(i).groups != layer(i).channels || layer(i).channels != layer(input).channels)) {
      refuse(i, "groups of more than one channel");
    }
    const auto adds_gradient = [this](int reader) { return layer(reader).kind != LayerKind::concat; };
    if (std::ranges::count_if(fusion_.readers(i), adds_gradient) > 1)
      refuse(i, "a convolution that several layers read");
    if (layer(i).channels % device_.block != 0 && (depthwise || places_[index(i)].block != nullptr)) {
      refuse(i, "channels that don't fill a vector");
    }
    const std::int64_t inputs = layer(input).channels / layer(i).groups;
    const model::TensorInfo weight{layer(i).name + ".weight",
                                   {layer(i).channels, inputs, layer(i).kernel, layer(i).kernel}};
    add<ConvolutionOp>(layer(i), weight, mode_, input_tensor(i), new_tensor(i), layer(input).kind != LayerKind::input,
                       scratchpad_);
  }

  // Where the output of layer i goes, and the activation after it to fuse; kNoClamp if there is none.
  struct Activated {
    NormOp::Output y;
    Clamp clamp;
  };
  Activated activated(int i) {
    const int activation = fusion_.activation_after(i);
    const Join& join = joins_[index(activation < 0 ? i : activation)];
    Tensor& y = join.concat < 0 ? new_tensor(i) : tensor(join.concat);
    tensors_[index(i)] = &y;
    if (activation >= 0) tensors_[index(activation)] = &y;
    return {{y, join.first_channel}, activation < 0 ? kNoClamp : clamp_of(activation)};
  }

  void lower_norm(int i) {
    if (fusion_.is_norm_of_add(i)) return;  // becomes part of the add
    const int input = layer(i).inputs.front();
    const auto [y, clamp] = activated(i);
    if (const Place& place = places_[index(input)]; place.block != nullptr) {
      if (place.first_channel != 0) refuse(i, "a norm over channels that don't begin their block");
      if (y.first_channel != 0 || y.tensor.shape.channels != layer(i).channels) {
        refuse(i, "a norm between two concatenations");
      }
      add<DenseNormOp>(layer(i), mode_, clamp, *place.block, y.tensor);
    } else {
      add_norm(i, clamp, nullptr, y);
    }
  }

  void add_norm(int i, Clamp clamp, Tensor* residual, NormOp::Output y) {
    add<NormOp>(layer(i), mode_, clamp, input_tensor(i), residual, y);
  }

  // Fuses the add into one of its norms, whose residual is the add's other input.
  void lower_add(int i) {
    const auto [fused, residual] = fusion_.fuse_add(i);
    const int norm = fused;
    if (norm < 0) refuse(i, "an add without a batch norm before it");
    if (fusion_.is_norm_of_add(residual)) add_norm(residual, kNoClamp, nullptr, {new_tensor(residual)});
    const auto [y, clamp] = activated(i);
    add_norm(norm, clamp, tensors_[index(residual)], y);
  }

  const Device& device_;
  const model::Graph& graph_;
  const LoweringOptions options_;
  const PassMode& mode_;
  Planner& planner_;
  const Tensor& scratchpad_;
  const Fusion fusion_;
  std::vector<Tensor*> tensors_;  // the tensor of each layer's output; null if it has none, or none yet
  std::vector<Place> places_;
  std::vector<Join> joins_;
  Lowered result_;
};

}  // namespace

Lowered lower(const Device& device, const model::Graph& graph, LoweringOptions options, const PassMode& mode,
              Planner& planner, const Tensor& scratchpad) {
  return Lowering(device, graph, options, mode, planner, scratchpad).run();
}

}  // namespace chexbench::engine::onednn
