#include "bench/provenance.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "bench/rank_records.hpp"
#include "core/errors.hpp"
#include "core/random.hpp"
#include "dataset/index_report.hpp"
#include "dataset/newer_images.hpp"
#include "dataset/shards_hint.hpp"
#include "engine/registry.hpp"
#include "formats/cached_file.hpp"
#include "image/opencv_decoder.hpp"
#include "measure/data_place.hpp"
#include "measure/machine.hpp"

namespace chexbench::bench {

results::HostState describe_host(const measure::Machine& machine) {
  const measure::CpuLayout cpus = measure::probe_cpu_layout();
  results::HostState state{.host = machine.host, .cpu = machine.cpu, .kernel = machine.kernel};
  for (const auto& [governor, count] : cpus.governors)
    state.governors += fmt::format("{}{} ({})", state.governors.empty() ? "" : ", ", governor, count);
  state.load_before = cpus.load.value_or(results::kNotKnown);
  return state;
}

std::vector<results::HostState> gather_hosts(comm::World& world, bool first_of_host) {
  const auto own = first_of_host ? std::optional(describe_host(measure::probe_machine())) : std::nullopt;
  std::vector<results::HostState> hosts;
  for (auto& host : all_gather_records(world.communicator(), own))
    if (host) hosts.push_back(std::move(*host));
  return hosts;
}

std::vector<measure::LibraryVersion> loaded_libraries(const comm::World& world) {
  const std::string mpi = world.library();
  std::vector<measure::LibraryVersion> libraries{{"MPI", mpi == "none" ? std::nullopt : std::optional(mpi)},
                                                 {"NCCL", measure::loaded_version("NCCL")}};
  for (const engine::EngineKind* kind : engine::engine_kinds()) {
    if (kind->libraries == nullptr) continue;
    for (measure::LibraryVersion& library : kind->libraries()) libraries.push_back(std::move(library));
  }
  libraries.push_back({"OpenCV", image::loaded_opencv_version()});
  return libraries;
}

namespace {

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

results::DataFacts data_facts(const spec::DataSpec& spec, const dataset::Dataset& dataset) {
  results::DataFacts facts{
      .images = dataset.images.size(), .files = dataset.files(), .file_bytes = dataset.total_bytes};
  if (spec.format == spec::DataFormat::synthetic) return facts;
  facts.names_key = names_key(dataset);
  if (dataset.store->is_local()) facts.file_system = measure::find_file_system(spec.root).type;
  const storage::DataRoot root(spec, dataset.store);
  const bool was_converted = spec.format != spec::DataFormat::png;
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
