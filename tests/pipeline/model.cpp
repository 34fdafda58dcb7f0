#include "pipeline/model.hpp"

#include <algorithm>
#include <limits>

namespace chexbench::pipeline::test {
namespace {

using Images = ListModel::Element;

std::vector<Images> one_by_one(const std::vector<ExampleId>& images) {
  std::vector<Images> elements;
  for (const ExampleId& image : images) elements.push_back({image});
  return elements;
}

std::vector<ExampleId> joined(const std::vector<Images>& elements) {
  std::vector<ExampleId> images;
  for (const Images& element : elements) images.insert(images.end(), element.begin(), element.end());
  return images;
}

std::vector<Images> every(const std::vector<Images>& elements, int rank, int world) {
  std::vector<Images> kept;
  for (auto i = static_cast<std::size_t>(rank); i < elements.size(); i += static_cast<std::size_t>(world)) {
    kept.push_back(elements[i]);
  }
  return kept;
}

}  // namespace

std::vector<Images> ListModel::pass(std::size_t op, std::uint32_t epoch) {
  const spec::OpSpec& spec = ops_[op];
  if (spec.op == "list_files") return files(epoch);
  if (spec.op == "repeat") return repeated(op, epoch);
  if (spec.op == "cache") return cached(op, epoch);
  if (spec.op == "shuffle") return shuffled(op, epoch);
  std::vector<Images> input = pass(op - 1, epoch);
  if (spec.op == "shard") return every(input, setting_.rank, setting_.world);
  if (spec.op == "take") input.resize(std::min(input.size(), static_cast<std::size_t>(spec.integer("count"))));
  if (spec.op == "read") return one_by_one(joined(input));
  if (spec.op == "interleave") {
    return one_by_one(interleaved(input, static_cast<std::size_t>(spec.integer("cycle_length")),
                                  static_cast<std::size_t>(spec.integer("block_length"))));
  }
  if (spec.op == "worker_batches") return batched(input, true);
  if (spec.op == "batch" || spec.op == "map_and_batch") return batched(input, spec.boolean("drop_remainder"));
  return input;  // prefetch, map
}

std::vector<Images> ListModel::files(std::uint32_t epoch) const {
  std::vector<Images> all;
  std::uint32_t image = 0;
  for (const std::size_t length : lengths_) {
    Images& file = all.emplace_back();
    while (file.size() < length) file.push_back({.image = image++, .epoch = epoch});
  }
  return all;
}

std::vector<Images> ListModel::repeated(std::size_t op, std::uint32_t epoch) {
  const auto epochs = static_cast<std::uint32_t>(ops_[op].integer("epochs"));
  std::vector<Images> all;
  for (std::uint32_t i = 0; i < epochs; ++i) {
    const std::vector<Images> one = pass(op - 1, epoch * epochs + i);
    has_empty_epoch_ = has_empty_epoch_ || one.empty();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::vector<Images> ListModel::cached(std::size_t op, std::uint32_t epoch) {
  const auto found = kept_.find(op);
  if (found == kept_.end()) return kept_[op] = pass(op - 1, epoch);
  std::vector<Images> again = found->second;
  for (Images& element : again) {
    for (ExampleId& image : element) image.epoch = epoch;
  }
  return again;
}

std::vector<Images> ListModel::shuffled(std::size_t op, std::uint32_t epoch) {
  const auto end = ops_.begin() + static_cast<std::ptrdiff_t>(op);
  const bool is_sharded = std::ranges::find(ops_.begin(), end, "shard", &spec::OpSpec::op) != end;
  const std::size_t buffer = ops_[op].holds_text("buffer") ? std::numeric_limits<std::size_t>::max()
                                                           : static_cast<std::size_t>(ops_[op].integer("buffer"));
  const auto rank = is_sharded ? std::optional(setting_.rank) : std::nullopt;
  return reservoir(pass(op - 1, epoch), buffer, shuffle_seed(setting_.seed, op, rank, epoch));
}

std::vector<Images> ListModel::batched(const std::vector<Images>& input, bool drop_remainder) const {
  const auto size = static_cast<std::size_t>(setting_.batch);
  std::vector<Images> batches;
  for (const ExampleId& image : joined(input)) {
    if (batches.empty() || batches.back().size() == size) batches.emplace_back();
    batches.back().push_back(image);
  }
  if (drop_remainder && !batches.empty() && batches.back().size() < size) batches.pop_back();
  return batches;
}

}  // namespace chexbench::pipeline::test
