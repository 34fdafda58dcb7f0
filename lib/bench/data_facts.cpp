#include "bench/data_facts.hpp"

#include "core/errors.hpp"
#include "data/conversion_cost.hpp"
#include "data/index_report.hpp"

namespace chexbench::bench {
namespace {

std::size_t shared_patients(const data::DataRoot& root) {
  try {
    return data::report_index(root).patients_in_both_splits.size();
  } catch (const DataError&) {  // a set without lists has no splits to share patients
    return 0;
  }
}

}  // namespace

report::DataFacts data_facts(const spec::DataSpec& spec, const data::Dataset& dataset) {
  report::DataFacts facts{.images = dataset.images.size(), .files = dataset.files(), .file_bytes = dataset.total_bytes};
  if (spec.format == spec::DataFormat::synthetic) return facts;
  const data::DataRoot root(spec.root, dataset.store);
  if (const auto cost = data::conversion_cost(root, spec.split)) {
    facts.converted_images = cost->images;
    facts.conversion_s = cost->seconds;
    facts.tfrecord_bytes = cost->shard_bytes;
  }
  if (spec.split != spec::Split::all) facts.patients_in_both_splits = shared_patients(root);
  return facts;
}

}  // namespace chexbench::bench
