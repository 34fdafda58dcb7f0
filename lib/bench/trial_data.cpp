#include "bench/trial_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/random.hpp"
#include "dataset/conversions.hpp"
#include "dataset/index.hpp"
#include "dataset/index_report.hpp"
#include "formats/cached_file.hpp"
#include "measure/data_place.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

// Returns the result of `read` for the root, or nothing if it cannot be read: opening it will report why.
template <typename Read>
std::string text_or_nothing(const spec::DataSpec& data, const Read& read) {
  try {
    return read(storage::DataRoot(data));
  } catch (const DataError&) {
    return "";
  }
}

// Returns std::nullopt if the data set does not identify patients.
std::optional<std::uint64_t> shared_patients(const storage::DataRoot& root) {
  try {
    const auto shared = dataset::patients_in_both_splits(dataset::read_index(root));
    return shared ? std::optional(shared->size()) : std::nullopt;
  } catch (const DataError&) {  // shards without their original table
    return std::nullopt;
  }
}

// Also returns std::nullopt if the images cannot be listed, because a run over shards does not need them.
std::optional<dataset::NewerImages> newer_images(const storage::DataRoot& root, const spec::DataSpec& spec) {
  try {
    return dataset::newer_images(root, spec.split, spec.format);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

std::string names_key(const dataset::Dataset& dataset) {
  std::string names;
  for (const dataset::ImageEntry& image : dataset.images) names += image.name + "\n";
  return fmt::format("{:016x}", fnv1a64(names));
}

}  // namespace

spec::TrialSpec OpenedDatasets::data_part(const spec::TrialSpec& trial) {
  spec::TrialSpec part;
  part.data = trial.data;
  // The pipeline determines how images are decoded and delivered; the data set is the same.
  part.data.decoder = {};
  part.data.jpeg = {};
  part.data.deliver = {};
  part.data.on_bad_record = {};
  part.data.color = spec::Color::automatic;
  if (trial.data.format != spec::DataFormat::cached) return part;
  part.data.color = spec::color_of(trial.data);  // a file of decoded pixels has one size and color
  part.preprocess.resize = trial.preprocess.resize;
  part.model.image_size = trial.model.image_size;
  return part;
}

spec::DataSpec OpenedDatasets::index_key_of(const spec::DataSpec& data) {
  return {.root = data.root, .store = data.store, .layout = data.layout, .labels = data.labels};
}

const OpenedDatasets::Indexed* OpenedDatasets::find_index(const spec::DataSpec& data) const {
  const auto found = std::ranges::find(indexed_, index_key_of(data), &Indexed::key);
  return found == indexed_.end() ? nullptr : &*found;
}

OpenedDatasets::Opened& OpenedDatasets::open(const spec::TrialSpec& trial) {
  spec::TrialSpec part = data_part(trial);
  const auto found = opened_.find(part);
  if (found != opened_.end()) return found->second;
  const Indexed* const indexed = find_index(trial.data);
  const image::PixelSpec pixels = pixels_of(trial);
  Opened opened{indexed != nullptr ? dataset::open_dataset(trial.data, pixels, indexed->index)
                                   : dataset::open_dataset(trial.data, pixels),
                {}};
  return opened_.emplace(std::move(part), std::move(opened)).first->second;
}

void OpenedDatasets::read_together(const spec::TrialSpec& trial, comm::Communicator& ranks, int readers) {
  const spec::DataSpec key = index_key_of(trial.data);
  // These conditions must be the same on all ranks: either all or none run the collectives below.
  if (readers < 2 || !spec::uses_pipeline(trial) || std::ranges::find(asked_, key) != asked_.end()) return;
  asked_.push_back(key);
  const auto is_shared = [](const storage::DataRoot& root) { return dataset::is_own_index(root) ? "yes" : ""; };
  if (!comm::broadcast_flag(ranks, ranks.rank() == 0 && !text_or_nothing(trial.data, is_shared).empty())) return;
  const auto share = [&](const storage::DataRoot& root) {
    return dataset::read_index_share(root, ranks.rank(), readers);
  };
  std::vector<std::string> shares =
      comm::all_gather(ranks, ranks.rank() < readers ? text_or_nothing(trial.data, share) : "");
  shares.resize(static_cast<std::size_t>(readers));
  text_or_nothing(trial.data, [&](const storage::DataRoot& root) {
    if (auto index = dataset::join_index_shares(root, shares))
      indexed_.push_back({.key = key, .index = std::move(*index)});
    return "";
  });
}

const results::DataFacts& OpenedDatasets::facts_of(const spec::TrialSpec& trial) {
  Opened& opened = open(trial);
  if (!opened.facts) opened.facts = data_facts(trial.data, opened.dataset);
  return *opened.facts;
}

std::string prepare_files(spec::PageCache goal, const dataset::Dataset& dataset, int local_rank,
                          comm::Communicator& members) {
  if (goal == spec::PageCache::cold && dataset.cached) {
    dataset.cached->release_pages();
    members.barrier();
  }
  if (goal == spec::PageCache::as_is || local_rank != 0) return spec::to_string(goal);
  const measure::PageCacheState state = measure::prepare_page_cache(goal, paths_of(dataset));
  if (!state.reason.empty()) log::warning("page cache: {}: {}", state.word, state.reason);
  return state.word;
}

measure::CachedShare look_at_files(const dataset::Dataset& dataset, int local_rank) {
  constexpr std::size_t kMostFiles = 2000;  // each takes about 30 us
  if (local_rank != 0 || !dataset.store->is_local()) return {};
  return measure::look_at_page_cache(measure::evenly(paths_of(dataset), kMostFiles));
}

image::PixelSpec pixels_of(const spec::TrialSpec& spec) {
  return {.image_size = spec.model.image_size, .resize = spec.preprocess.resize, .color = spec::color_of(spec.data)};
}

pipeline::PipelineContext make_pipeline_context(const spec::TrialSpec& spec, const dataset::Dataset& dataset,
                                                PinnedAllocator& allocator, const RankPlace& place) {
  return {.dataset = dataset,
          .pipeline = spec.pipeline,
          .data = spec.data,
          .preprocess = spec.preprocess,
          .shape = {.images = spec.training.batch_size,
                    .height = spec.model.image_size,
                    .width = spec.model.image_size,
                    .deliver = spec::delivered(spec.data),
                    .labels = dataset.labels()},
          .allocator = allocator,
          .rank = place.rank,
          .world = place.world,
          .seed = derive_seed(spec.measure.seed, static_cast<std::uint64_t>(place.repeat)),
          .timed = spec.measure.attribution,
          .exclusive_labels = spec.training.task == spec::Task::classes,
          .cores = place.cores,
          .tuned = place.tuned};
}

results::DataFacts data_facts(const spec::DataSpec& spec, const dataset::Dataset& dataset) {
  results::DataFacts facts{
      .images = dataset.images.size(), .files = dataset.files(), .file_bytes = dataset.total_bytes};
  if (spec.format == spec::DataFormat::ready) return facts;
  facts.names_key = names_key(dataset);
  if (dataset.store->is_local()) facts.file_system = measure::find_file_system(spec.root).type;
  const storage::DataRoot root(spec, dataset.store);
  const bool was_converted = spec.format != spec::DataFormat::images;
  if (const auto cost = was_converted ? dataset::conversion_cost(root, spec.split, spec.format) : std::nullopt) {
    facts.converted_images = cost->images;
    facts.conversion_s = cost->seconds;
    facts.converted_bytes = cost->shard_bytes;
  }
  if (const auto found = was_converted ? newer_images(root, spec) : std::nullopt) {
    facts.images_looked_at = found->looked_at;
    facts.images_newer = found->newer;
  }
  if (spec.split != spec::Split::all && dataset.has_patients) facts.patients_in_both_splits = shared_patients(root);
  return facts;
}

std::vector<std::string> paths_of(const dataset::Dataset& dataset) {
  if (spec::reads_shards(dataset.format)) return dataset.shards;
  if (dataset.cached) return {dataset.cached->path()};
  std::vector<std::string> images;
  for (const dataset::ImageEntry& image : dataset.images) images.push_back(image.path);
  return images;
}

}  // namespace chexbench::bench
