#include "pipeline/bad_streak.hpp"

#include <fmt/format.h>

#include "pipeline/op.hpp"

namespace chexbench::pipeline {

void BadStreak::bad(const DataError& error) {
  if (!op_.skips_bad_records()) throw error;
  op_.stats().bad_records.add(1);
  const std::size_t bad = in_a_row_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::size_t images = op_.context().dataset.images.size();
  if (bad < 2 * images) return;
  throw DataError(
      fmt::format("pipeline[{}] {}: {} bad records in a row on rank {}, in a split of {} images: none can be read; the "
                  "last one: {}",
                  op_.index(), op_.name(), bad, op_.context().rank, images, error.what()));
}

}  // namespace chexbench::pipeline
