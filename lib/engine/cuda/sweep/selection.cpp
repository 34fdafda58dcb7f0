#include "engine/cuda/sweep/selection.hpp"

#include <algorithm>

namespace chexbench::engine::cuda {
namespace {

constexpr std::int64_t kPickedValues = 65536;
constexpr std::int64_t kLeastRows = 64, kLeastImages = 3;
constexpr std::int64_t kRun = 64;  // elements of flat arrays that are next to one another
constexpr int kVector = 8;

// Returns whether operands have several rows for each item, as those of pools.
bool takes_images(const std::vector<KernelOperand>& tensors) {
  return std::ranges::any_of(tensors, [](const KernelOperand& tensor) { return tensor.rows_per_item > 1; });
}

std::vector<ItemRange> spread_items(const KernelCall& call) {
  const std::vector<KernelOperand> tensors = operands(call);
  const bool images = takes_images(tensors);
  const std::int64_t run = call.channels <= 4 && !images ? kRun : 1;
  std::int64_t values = run;
  for (const KernelOperand& tensor : tensors)
    values = std::max(values, run * tensor.rows_per_item * std::int64_t{tensor.channels});
  const std::int64_t runs = std::max(kPickedValues / values, images ? kLeastImages : kLeastRows);
  if (runs * run >= call.items) return {{0, call.items}};
  std::vector<ItemRange> ranges;
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t begin = i * (call.items - run) / (runs - 1);
    ranges.push_back({begin, begin + run});
  }
  return ranges;
}

std::vector<int> spread_channels(int channels) {
  std::vector<int> spread;
  const int vectors = channels / kVector;
  for (int i = 0; i < std::min(channels, kVector); ++i)
    spread.push_back(vectors == 0 ? i : i * (vectors - 1) / (kVector - 1) * kVector + i);
  return spread;
}

}  // namespace

std::int64_t Selection::count() const {
  std::int64_t count = 0;
  for (const ItemRange& range : items) count += range.end - range.begin;
  return count;
}

std::vector<Selection> selections(const KernelCall& call) {
  if (is_checked_whole(call.kernel)) return {{.items = {{0, call.items}}}};
  if (!sums_rows(call.kernel)) return {{.items = spread_items(call)}};
  std::vector<Selection> all;
  const auto is_row_result = [](const KernelOperand& tensor) {
    return tensor.access != Access::read && tensor.rows_per_item > 0;
  };
  if (std::ranges::any_of(operands(call), is_row_result))
    all.push_back({.items = spread_items(call), .compares_sums = false});
  for (const int channel : spread_channels(call.channels))
    all.push_back({.items = {{0, call.items}}, .channel = channel, .compares_items = false});
  return all;
}

}  // namespace chexbench::engine::cuda
