#include <algorithm>

#include "engine/cuda/kernels/elementwise.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/norm_pool.hpp"
#include "engine/cuda/kernels/upload.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

using model::ParameterRole;

namespace {

// ImageNet's mean and standard deviation, as in the pipeline.
constexpr kernels::Normalization kNormalization{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

// Returns the steps of backward up to the last one that a trained parameter needs.
std::vector<BackwardStep> trained_steps(const Addresses& addresses) {
  const Addresses::Config& config = addresses.config();
  std::vector<BackwardStep> steps = backward_order(config.program, config.plan.joins);
  if (config.parameters.trains_base()) return steps;
  const int last = static_cast<int>(config.graph.layers.size()) - 1;
  const auto base = std::ranges::find_if(steps, [&](const BackwardStep& step) {
    return config.program.nodes[static_cast<std::size_t>(step.node)].layer != last;
  });
  steps.erase(base, steps.end());
  return steps;
}

}  // namespace

Network::Network(const Addresses& addresses, Convolutions& convolutions, LinearProducts& linear,
                 bool concurrent_weight_gradients)
    : addresses_(addresses),
      convolutions_(convolutions),
      linear_(linear),
      weight_gradients_(concurrent_weight_gradients),
      order_(trained_steps(addresses)),
      norms_before_(prologue_norms(addresses.config().program)) {
  for (std::size_t i = 0; i < norms_before_.size(); ++i) {
    if (norms_before_[i] < 0) continue;
    const ConvShape of = shape(node(static_cast<int>(i)));
    if (!convolutions.has(of, ConvPattern::data_gradient_norm) || statistics_of(norms_before_[i]) < 0)
      norms_before_[i] = -1;
  }
  collect_inverse_deviations();
}

void Network::collect_inverse_deviations() {
  inverse_deviations_.assign(addresses_.config().program.nodes.size(), -1);
  const auto collect = [this](int norm) {
    if (norm >= 0) inverse_deviations_.at(static_cast<std::size_t>(statistics_of(norm))) = norm;
  };
  std::ranges::for_each(norms_before_, collect);
  for (const BackwardStep& step : order_) {
    collect(step.join.norm);
    collect(step.join.residual_norm);
  }
}

int Network::statistics_of(int norm) const {
  const std::vector<Node>& nodes = addresses_.config().program.nodes;
  const auto found = std::ranges::find_if(
      nodes, [&](const Node& other) { return other.kind == NodeKind::statistics && other.in == node(norm).in; });
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

const Node& Network::node(int i) const { return addresses_.config().program.nodes[static_cast<std::size_t>(i)]; }

ConvShape Network::shape(const Node& node) const {
  const Addresses::Config& config = addresses_.config();
  return conv_shape(config.graph, config.program, node, config.images);
}

void Network::forward(Stream stream) {
  const int nodes = static_cast<int>(addresses_.config().program.nodes.size());
  for (int i = 0; i < nodes; ++i) forward(i, stream);
}

void Network::forward(int i, Stream stream) {
  const Node& node = this->node(i);
  const ParameterLayout& parameters = addresses_.config().parameters;
  kernels::PoolCall pool;
  if (is_pool(node.kind)) {
    pool = addresses_.pool(node);
    pool.x = addresses_.activation(node.in);
    pool.y = addresses_.activation(node.out);
  }
  switch (node.kind) {
    case NodeKind::convolution:
      return convolve(i, stream);
    case NodeKind::statistics:
      return compute_statistics(i, stream);
    case NodeKind::normalize:
      return normalize(i, stream);
    case NodeKind::bias:
      return add_bias(node, stream);
    case NodeKind::max_pool:
      return kernels::launch_max_pool(pool, addresses_.winners(i), stream);
    case NodeKind::average_pool:
      return kernels::launch_average_pool(pool, stream);
    case NodeKind::global_average_pool:
      return kernels::launch_global_average(pool, stream);
    case NodeKind::adaptive_average_pool:
      return kernels::launch_adaptive_average(pool, stream);
    case NodeKind::dropout:
      return drop(node, addresses_.activation(node.in), addresses_.activation(node.out), stream);
    case NodeKind::copy:
      return kernels::launch_copy({.type = addresses_.type(),
                                   .rows = addresses_.rows(node.in),
                                   .channels = node.in.channels,
                                   .from = addresses_.activation(node.in),
                                   .to = addresses_.activation(node.out)},
                                  stream);
    case NodeKind::linear:
      return linear_.forward(linear_shape(addresses_.config().program, node, addresses_.config().images),
                             addresses_.activation(node.in).data,
                             addresses_.matrix(parameters.place(node.layer, ParameterRole::linear_weight)),
                             addresses_.activation(node.out).data, stream);
  }
}

void Network::convolve(int i, Stream stream) {
  const Node& conv = node(i);
  const Addresses::Config& config = addresses_.config();
  if (config.plan.forward_joins[static_cast<std::size_t>(i)].norm >= 0) return convolve_join(i, stream);
  convolutions_.forward(shape(conv), addresses_.activation(config.plan.input_of(config.program, i)).data,
                        addresses_.matrix(config.parameters.place(conv.layer, ParameterRole::convolution_weight)),
                        addresses_.activation(conv.out).data, {channel_row(0), channel_row(1)}, prologue(i), stream);
}

void Network::convolve_join(int i, Stream stream) {
  const Addresses::Config& config = addresses_.config();
  const Node& conv = node(i);
  const auto [norm, residual_norm] = config.plan.forward_joins[static_cast<std::size_t>(i)];
  JoinPrologue join{.x = addresses_.activation(node(norm).in).data,
                    .norm = affine(norm),
                    .joined = addresses_.activation(conv.in).data};
  if (residual_norm >= 0) {
    join.residual_x = addresses_.activation(node(residual_norm).in).data;
    join.residual_norm = affine(residual_norm);
  } else {
    join.residual = addresses_.activation(node(norm).residual).data;
  }
  const ParameterPlace& weight = config.parameters.place(conv.layer, ParameterRole::convolution_weight);
  convolutions_.joined_forward(shape(conv), join, addresses_.matrix(weight), addresses_.activation(conv.out).data,
                               {channel_row(0), channel_row(1)}, stream);
}

Prologue Network::prologue(int i) const {
  const int norm = addresses_.config().plan.prologues[static_cast<std::size_t>(i)];
  return norm < 0 ? Prologue{} : affine(norm);
}

Prologue Network::affine(int norm) const {
  const kernels::AffineCall written = affine_call(norm);
  return {written.scale, written.shift};
}

float* Network::channel_row(int row) const {
  const Region& region = addresses_.regions().channel_rows;
  return addresses_.at<float>(region, static_cast<std::size_t>(row) * region.bytes / sizeof(float) / 2);
}

bool Network::has_output_sums(int i) const {
  if (i == 0 || !(node(i - 1).out == node(i).in)) return false;
  const int writer = node(i - 1).kind == NodeKind::copy ? i - 2 : i - 1;
  if (node(writer).kind != NodeKind::convolution) return false;
  const MemoryPlan& plan = addresses_.config().plan;
  const auto before = static_cast<std::size_t>(writer);
  return plan.prologues[before] >= 0 || plan.forward_joins[before].norm >= 0 ||
         convolutions_.has(shape(node(writer)), ConvPattern::forward_statistics);
}

bool Network::follows_statistics(int i) const {
  return i > 0 && node(i).kind == NodeKind::normalize && node(i - 1).kind == NodeKind::statistics &&
         node(i - 1).in == node(i).in;
}

bool Network::writes_affine(int i) const {
  return has_output_sums(i) && follows_statistics(i + 1) && addresses_.config().plan.is_left_out(i + 1);
}

void Network::compute_statistics(int i, Stream stream) {
  const Slice& in = node(i).in;
  const DeviceRegions& regions = addresses_.regions();
  kernels::StatisticsFinish finish{.count = static_cast<double>(addresses_.rows(in)),
                                   .mean = addresses_.channels(regions.mean, in),
                                   .variance = addresses_.channels(regions.variance, in)};
  if (const int norm = inverse_deviations_[static_cast<std::size_t>(i)]; norm >= 0) {
    finish.inverse_deviation = addresses_.channels(regions.inverse_deviation, in);
    finish.epsilon = addresses_.norm(norm).epsilon;
  }
  const kernels::MomentsOfSums moments{channel_row(0), channel_row(1), finish};
  if (writes_affine(i)) return kernels::launch_moments_and_affine(moments, affine_call(i + 1), stream);
  if (has_output_sums(i)) return kernels::launch_moments(moments, in.channels, stream);
  kernels::launch_statistics({.type = addresses_.type(),
                              .rows = addresses_.rows(in),
                              .channels = in.channels,
                              .x = addresses_.activation(in),
                              .mean = finish.mean,
                              .variance = finish.variance,
                              .inverse_deviation = finish.inverse_deviation,
                              .epsilon = finish.epsilon,
                              .scratch = addresses_.at(regions.reductions)},
                             stream);
}

kernels::AffineCall Network::affine_call(int norm) const {
  const DeviceRegions& regions = addresses_.regions();
  const std::size_t offset = regions.norm_offsets[static_cast<std::size_t>(norm)] * bytes_of(addresses_.type());
  return {.type = addresses_.type(),
          .channels = node(norm).in.channels,
          .norm = addresses_.norm(norm),
          .scale = addresses_.at(regions.prologue_scale, offset),
          .shift = addresses_.at(regions.prologue_shift, offset)};
}

void Network::normalize(int i, Stream stream) {
  const Node& norm = node(i);
  if (norm.pool.exists()) return normalize_and_pool(i, stream);
  if (addresses_.config().plan.is_left_out(i)) {
    if (!follows_statistics(i) || !writes_affine(i - 1)) kernels::launch_affine(affine_call(i), stream);
    return;
  }
  kernels::NormalizeCall call{.type = addresses_.type(),
                              .rows = addresses_.rows(norm.in),
                              .channels = norm.in.channels,
                              .x = addresses_.activation(norm.in),
                              .y = addresses_.activation(norm.out),
                              .norm = addresses_.norm(i),
                              .clamp = addresses_.clamp(norm)};
  if (norm.residual.exists()) call.residual = addresses_.activation(norm.residual);
  kernels::launch_normalize(call, stream);
}

void Network::normalize_and_pool(int i, Stream stream) {
  const Node& norm = node(i);
  kernels::NormPoolCall call{addresses_.pool(norm), addresses_.norm(i), addresses_.clamp(norm)};
  call.pool.x = addresses_.activation(norm.in);
  call.pool.y = addresses_.activation(norm.out);
  if (has_winners(norm)) {
    kernels::launch_norm_max_pool(call, addresses_.winners(i), stream);
  } else {
    kernels::launch_norm_average_pool(call, stream);
  }
}

void Network::add_bias(const Node& node, Stream stream) {
  kernels::launch_bias(
      {.type = addresses_.type(),
       .rows = addresses_.rows(node.in),
       .channels = node.in.channels,
       .bias = addresses_.vector(addresses_.config().parameters.place(node.layer, ParameterRole::bias)),
       .clamp = addresses_.clamp(node)},
      addresses_.activation(node.in), addresses_.activation(node.out), stream);
}

void Network::drop(const Node& node, const kernels::Matrix& from, const kernels::Matrix& to, Stream stream) {
  const Addresses::Config& config = addresses_.config();
  kernels::launch_dropout({.type = addresses_.type(),
                           .images = config.images,
                           .channels = node.in.channels,
                           .pixels = config.program.buffer(node.in).pixels(),
                           .from = from,
                           .to = to,
                           .scalars = addresses_.scalars(),
                           .seed = config.dropout_seed,
                           .batches_of_step = config.batches_of_step,
                           .layer = node.layer,
                           .rate = config.graph.layers[static_cast<std::size_t>(node.layer)].drop_rate},
                          stream);
}

void Network::prepare_running(Stream stream) {
  const DeviceRegions& regions = addresses_.regions();
  const Program& program = addresses_.config().program;
  std::vector<int> source;
  std::vector<float> unbias;
  for (const Node& norm : program.nodes) {
    if (norm.kind != NodeKind::normalize) continue;
    const auto first = static_cast<int>(regions.channel_offsets[static_cast<std::size_t>(norm.in.buffer)]);
    const auto rows = static_cast<float>(addresses_.rows(norm.in));
    for (int channel = 0; channel < norm.in.channels; ++channel) {
      source.push_back(first + norm.in.first_channel + channel);
      unbias.push_back(rows > 1 ? rows / (rows - 1) : 1);
    }
  }
  copy_to_device(addresses_.at(regions.running_source), source.data(), source.size() * sizeof(int), stream);
  copy_to_device(addresses_.at(regions.running_unbias), unbias.data(), unbias.size() * sizeof(float), stream);
}

void Network::update_running(Stream stream) {
  const DeviceRegions& regions = addresses_.regions();
  if (addresses_.config().frozen) return;
  kernels::launch_running_update({.mean = addresses_.at<float>(regions.mean),
                                  .variance = addresses_.at<float>(regions.variance),
                                  .source = addresses_.at<int>(regions.running_source),
                                  .unbias = addresses_.at<float>(regions.running_unbias),
                                  .running_mean = addresses_.at<float>(regions.running_mean),
                                  .running_variance = addresses_.at<float>(regions.running_variance)},
                                 static_cast<std::int64_t>(regions.norm_offsets.back()), stream);
}

void convert_images(const Addresses& addresses, Deliver deliver, const Region& images, kernels::Stream stream) {
  const Slice& input = addresses.config().program.input;
  const kernels::UploadCall call{.type = addresses.type(),
                                 .channels = input.channels,
                                 .pixels = addresses.rows(input),
                                 .to = addresses.activation(input).data};
  switch (deliver) {
    case Deliver::f32:
      return kernels::launch_upload_color(call, addresses.at<float>(images), stream);
    case Deliver::u8:
      return kernels::launch_upload_gray(call, addresses.at<std::uint8_t>(images), kNormalization, stream);
    case Deliver::u8_rgb:
      return kernels::launch_upload_rgb(call, addresses.at<std::uint8_t>(images), kNormalization, stream);
  }
}

}  // namespace chexbench::engine::cuda
