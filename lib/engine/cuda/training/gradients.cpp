#include "engine/cuda/training/gradients.hpp"

#include "model/parameters.hpp"

namespace chexbench::engine::cuda {
namespace {

// plan_buckets() assumes four bytes for each element, so limits in bytes are scaled for smaller types.
model::BucketLimits limits(const spec::CommSpec& comm, std::size_t element_bytes) {
  const auto share = static_cast<std::int64_t>(sizeof(float) / element_bytes);
  return {comm.first_bucket_bytes * share, comm.bucket_bytes * share};
}

}  // namespace

kernels::AccumulateCall Accumulation::call(ParameterKind kind, std::size_t begin, std::size_t count) const {
  const ParameterRegions& regions = addresses_.regions().of(kind);
  const FloatType type = kind == ParameterKind::matrix ? addresses_.type() : FloatType::f32;
  return {.type = type,
          .count = static_cast<std::int64_t>(count),
          .gradient = addresses_.at(regions.gradients, begin * bytes_of(type)),
          .sum = addresses_.at<float>(regions.sums, begin)};
}

void Accumulation::add(bool begins, Stream stream) const {
  for (const ParameterKind kind : kParameterKindList)
    kernels::launch_accumulate(call(kind, 0, addresses_.config().parameters.trained(kind)), begins, stream);
}

void Accumulation::average(ParameterKind kind, std::size_t begin, std::size_t count, Stream stream) const {
  if (batches() > 1) kernels::launch_average(call(kind, begin, count), batches(), stream);
}

void Accumulation::average_all(Stream stream) const {
  for (const ParameterKind kind : kParameterKindList)
    average(kind, 0, addresses_.config().parameters.trained(kind), stream);
}

DeviceBuckets::DeviceBuckets(const Addresses& addresses, const Accumulation& accumulation, const spec::CommSpec& comm)
    : accumulation_(accumulation) {
  const ParameterLayout& parameters = addresses.config().parameters;
  std::vector<std::int64_t> counts;
  for (const ParameterPlace& place : parameters.places()) {
    if (place.kind == ParameterKind::matrix && parameters.is_trained(place))
      counts.push_back(static_cast<std::int64_t>(place.count));
  }
  const std::size_t element_bytes = bytes_of(addresses.type());
  std::size_t begin = 0;
  for (const model::BucketRange& range : model::plan_buckets(counts, limits(comm, element_bytes))) {
    const auto count = static_cast<std::size_t>(range.elements);
    const BucketSpan span{addresses.at(addresses.regions().of(ParameterKind::matrix).gradients, begin * element_bytes),
                          count, addresses.type()};
    matrices_.push_back({ParameterKind::matrix, span, begin += count});
  }
  const std::size_t vectors = parameters.trained(ParameterKind::vector);
  vectors_ = {ParameterKind::vector,
              {addresses.at(addresses.regions().of(ParameterKind::vector).gradients), vectors, FloatType::f32},
              vectors};
  ready_.resize(matrices_.size() + 1);
}

void DeviceBuckets::complete(std::size_t matrices, std::size_t vectors, Stream stream, Reducer& reducer) {
  if (reducer.world() == 1) return;
  for (; next_ < matrices_.size() && matrices_[next_].end <= matrices; ++next_)
    reduce(matrices_[next_], ready_[next_], stream, reducer);
  if (vectors_reduced_ || vectors < vectors_.end) return;
  vectors_reduced_ = true;
  reduce(vectors_, ready_.back(), stream, reducer);
}

void DeviceBuckets::reduce(const Bucket& bucket, Event& ready, Stream stream, Reducer& reducer) {
  accumulation_.average(bucket.kind, bucket.end - bucket.span.count, bucket.span.count, stream);
  ready.record(stream);
  reducer.reduce(bucket.span, ready.handle());
}

}  // namespace chexbench::engine::cuda
