#include "pipeline/bad_streak.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "pipeline/op.hpp"

namespace chexbench::pipeline {

std::string images_of_split(const PipelineContext& context) {
  return fmt::format("{} images of split '{}' of {}", context.dataset.images.size(), to_string(context.data.split),
                     context.data.root);
}

std::string bad_records_hint(const PipelineContext& context) {
  return fmt::format("`chexbench data check {}` says what is wrong with them", shell_word(context.data.root));
}

void BadStreak::bad(const DataError& error) {
  if (!op_.skips_bad_records()) throw error;
  op_.stats().bad_records.add(1);
  const std::size_t bad = in_a_row_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::size_t images = op_.context().dataset.images.size();
  if (bad < 2 * images) return;
  throw DataError(
      fmt::format("none of the {} can be read: {} ({}) met {} bad records in a row on rank {}; {}; the last one: {}",
                  images_of_split(op_.context()), op_.name(), op_.place(), bad, op_.context().rank,
                  bad_records_hint(op_.context()), error.what()));
}

}  // namespace chexbench::pipeline
