#include "engine/cuda/training/device_buckets.hpp"

#include "model/parameters.hpp"

namespace chexbench::engine::cuda {
namespace {

// plan_buckets() assumes four bytes for each element, so limits in bytes are scaled for smaller types.
model::BucketLimits limits(const spec::CommSpec& comm, std::size_t element_bytes) {
  const auto share = static_cast<std::int64_t>(sizeof(float) / element_bytes);
  return {comm.first_bucket_bytes * share, comm.bucket_bytes * share};
}

}  // namespace

DeviceBuckets::DeviceBuckets(const Addresses& addresses, const Accumulation& accumulation, const spec::CommSpec& comm)
    : accumulation_(accumulation) {
  const ParameterLayout& parameters = addresses.config().parameters;
  const ParameterRegions* const regions = addresses.config().plan.regions.parameters;
  std::vector<std::int64_t> counts;
  for (const ParameterPlace& place : parameters.places()) {
    if (place.kind == ParameterKind::matrix && parameters.is_trained(place))
      counts.push_back(static_cast<std::int64_t>(place.count));
  }
  const std::size_t element_bytes = bytes_of(addresses.type());
  std::size_t begin = 0;
  for (const model::BucketRange& range : model::plan_buckets(counts, limits(comm, element_bytes))) {
    const auto count = static_cast<std::size_t>(range.elements);
    const BucketSpan span{addresses.at(regions[0].gradients, begin * element_bytes), count, addresses.type()};
    matrices_.push_back({ParameterKind::matrix, span, begin += count});
  }
  const std::size_t vectors = parameters.trained(ParameterKind::vector);
  vectors_ = {ParameterKind::vector, {addresses.at(regions[1].gradients), vectors, FloatType::f32}, vectors};
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
