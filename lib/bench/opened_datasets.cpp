#include "bench/opened_datasets.hpp"

#include <algorithm>

#include "bench/data_facts.hpp"
#include "bench/pipeline_context.hpp"

namespace chexbench::bench {

OpenedDatasets::Key OpenedDatasets::key_of(const spec::Experiment& trial) {
  Key key{trial.data, {}};
  if (key.data.format == spec::DataFormat::cached) key.pixels = pixels_of(trial);
  // The pipeline decides how images are decoded and delivered; the data set is the same.
  const spec::DataSpec any;
  key.data.decoder = any.decoder;
  key.data.jpeg = any.jpeg;
  key.data.deliver = any.deliver;
  key.data.color = any.color;
  key.data.on_bad_record = any.on_bad_record;
  return key;
}

OpenedDatasets::Opened& OpenedDatasets::open(const spec::Experiment& trial) {
  const Key key = key_of(trial);
  const auto found = std::ranges::find(opened_, key, &Opened::key);
  if (found != opened_.end()) return *found;
  return opened_.emplace_back(Opened{key, dataset::open_dataset(trial.data, pixels_of(trial)), {}});
}

const results::DataFacts& OpenedDatasets::facts_of(const spec::Experiment& trial) {
  Opened& opened = open(trial);
  if (!opened.facts) opened.facts = data_facts(trial.data, opened.dataset);
  return *opened.facts;
}

}  // namespace chexbench::bench
