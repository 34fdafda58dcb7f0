#include "bench/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "bench/rank_records.hpp"
#include "comm/mpi_start.hpp"
#include "comm/schemes/schedule.hpp"
#include "core/errors.hpp"
#include "engine/engine.hpp"
#include "engine/registry.hpp"
#include "image/isa.hpp"
#include "image/opencv_decoder.hpp"
#include "measure/data_place.hpp"
#include "measure/gpu_survey.hpp"
#include "measure/machine.hpp"
#include "measure/network.hpp"
#include "spec/keys.hpp"
#include "spec/profile.hpp"
#include "spec/resolved.hpp"

namespace chexbench::bench {
namespace {

results::Environment describe_environment(comm::World& world) {
  const measure::Machine machine = measure::probe_machine();
  results::Environment environment;
  environment.date_utc = measure::utc_now();
  environment.host = machine.host;
  environment.cpu = machine.cpu;
  environment.cores = machine.cores;
  environment.memory_bytes = machine.memory_bytes;
  environment.kernel = machine.kernel;
  environment.cpu_kind = machine.cpu_kind;
  environment.instruction_set = to_string(image::best_isa());
  environment.unused_instruction_sets = machine.unused_instruction_sets;
  environment.mpi = world.library();
  const results::HostState host = describe_host(machine);
  environment.governors = host.governors;
  environment.load_before = host.load_before;
  if (world.communicator().rank() == 0) {  // only rank 0 keeps the report, and starting a driver takes a second
    const measure::GpuSurvey survey = measure::survey_gpus();
    environment.gpu_driver = survey.driver_version;
    for (const measure::GpuInfo& gpu : survey.gpus) environment.gpus.push_back(gpu.name);
  }
  return environment;
}

// Returns why the profile of an emulated engine has no step time, or "". Checked early, not an hour into a sweep.
// engine::check_network() does the same for an engine's layers.
// @throws SpecError if there is no such profile
std::string hole_in_profile(const spec::TrialSpec& experiment) {
  const std::optional<std::string> name = engine::profile_of_engine(experiment.engine);
  if (!name) return "";
  const spec::AcceleratorProfile profile = spec::load_profile(*name);
  try {
    spec::find_entry(profile, experiment.model, experiment.training.precision, experiment.training.batch_size);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

// `planned`: `world` is only planned, not started.
// @throws SpecError if a trial needs more ranks than there are; the message names the most that any trial needs
void check_ranks(const std::vector<spec::Trial>& trials, int world, bool planned) {
  const auto ranks = [](const spec::Trial& trial) { return trial.spec.ranks; };
  const auto most = std::ranges::max_element(trials, {}, ranks);
  if (most == trials.end() || ranks(*most) <= world) return;
  const std::string asked = fmt::format("ranks: trial '{}' asks for {}", most->name, ranks(*most));
  if (planned) throw SpecError(fmt::format("{}, but --ranks is {}: plan for --ranks {}", asked, world, ranks(*most)));
  throw SpecError(fmt::format(
      "{}, but {} was started; start it with `mpirun -np {} chexbench ...`, or see its plan with --dry-run --ranks {}",
      asked, world == 1 ? "one process" : fmt::format("a world of {}", world), ranks(*most), ranks(*most)));
}

// Returns the part of a trial's key besides its spec: the size of the world, which determines how the host's cores are
// divided.
std::string beside_spec(int world) { return fmt::format("world {}", world); }

results::TrialResult plan_trial(const spec::Trial& trial, int world) {
  results::TrialResult planned{.name = trial.name, .spec = trial.spec};
  planned.ranks = trial.spec.ranks == 0 ? world : trial.spec.ranks;
  planned.spec.ranks = planned.ranks;
  planned.spec.engine = engine::resolve_engine_name(trial.spec.engine);
  engine::check_network(planned.spec.engine, planned.spec.model);
  comm::check_servers(planned.spec.comm, planned.ranks);
  planned.key = spec::trial_key(planned.spec, beside_spec(world));
  planned.partial = true;  // until its last repeat is done
  return planned;
}

// Returns the settings that trials must share to take turns on one engine, with defaults for all else.
spec::TrialSpec engine_part(const results::TrialResult& trial) {
  const spec::TrialSpec& spec = trial.spec;
  spec::TrialSpec part;
  part.ranks = trial.ranks;
  part.engine = spec.engine;
  part.model = spec.model;
  part.training = spec.training;
  part.comm = spec.comm;
  part.emulation = spec.emulation;
  part.data.deliver = spec::delivered(spec.data);
  part.cores_per_rank = spec.cores_per_rank;
  part.all_cores = spec.all_cores;
  return part;
}

// Asks once for each folder of the trials' data.
std::vector<measure::Striping> striping_of(const std::vector<results::TrialResult>& trials) {
  std::vector<std::string> asked;
  std::vector<measure::Striping> found;
  for (const results::TrialResult& trial : trials) {
    const std::string& root = trial.spec.data.root;
    if (!spec::uses_pipeline(trial.spec) || spec::is_url(root)) continue;
    if (std::ranges::find(asked, root) != asked.end()) continue;
    asked.push_back(root);
    if (auto striping = measure::find_striping(measure::find_file_system(root), root))
      found.push_back(std::move(*striping));
  }
  return found;
}

}  // namespace

results::Report plan_report(const std::string& experiment, const std::vector<spec::Trial>& trials, comm::World& world,
                            std::optional<int> ranks) {
  const int size = ranks.value_or(world.communicator().world());
  check_ranks(trials, size, ranks.has_value());
  results::Report report{.experiment = experiment, .environment = describe_environment(world)};
  for (const spec::Trial& trial : trials) {
    const std::string hole = hole_in_profile(trial.spec);
    if (hole.empty()) {
      report.trials.push_back(plan_trial(trial, size));
    } else {
      report.findings.push_back({.kind = "left_out",
                                 .text = fmt::format("Trial '{}' is left out: {}.", trial.name, hole),
                                 .emulated = true,
                                 .trial = trial.name,
                                 .headline = "is left out: its profile has no such entry",
                                 .reason = fmt::format("{}.", hole)});
    }
    if (report.trials.empty() && report.findings.size() == trials.size()) throw SpecError(hole);
  }
  return report;
}

void keep_known_keys(results::Report& planned, int world, const RepeatKeys& known) {
  std::set<std::string_view> all;
  for (const auto& [key, repeat] : known) all.insert(key);
  std::set<std::string_view> others = all;
  for (const results::TrialResult& trial : planned.trials) others.erase(trial.key);
  if (others.empty()) return;
  for (results::TrialResult& trial : planned.trials) {
    if (all.contains(trial.key)) continue;
    const std::vector<std::string> keys = spec::trial_keys(trial.spec, beside_spec(world));
    const auto older = std::ranges::find_if(keys, [&](const std::string& key) { return others.contains(key); });
    if (older != keys.end()) trial.key = *older;
  }
}

void describe_engine(results::TrialResult& trial, const engine::EngineTraits& traits, const CoreShare& share) {
  trial.engine_device = traits.device;
  trial.engine_source = traits.source;
  trial.emulated = traits.emulated;
  trial.step_time_computed = traits.step_time_computed;
  trial.notes = traits.notes;
  trial.cores_per_rank = static_cast<int>(share.cores.size());
  trial.oversubscribed = share.oversubscribed;
}

void describe_scale(results::TrialResult& trial, const ScaleModel& scale) {
  trial.scale_factor = scale.factor;
  trial.cores_per_rank = trial.spec.emulation.cores_per_accelerator;
  trial.oversubscribed = false;  // the factor accounts for it
  trial.notes.push_back(scale_note(scale, trial.spec.emulation));
  if (trial.spec.measure.trace) trial.notes.emplace_back("trace.json has the times as they were measured");
}

void describe_gpus(results::TrialResult& trial, const GpuShare& share, const Reducer& reducer) {
  if (share.shared) trial.notes.emplace_back("ranks share a GPU: no figure of that GPU");
  if (!reducer.capturable()) trial.notes.emplace_back("gradients averaged in host memory, over MPI");
}

std::vector<ArmGroup> group_arms(const std::vector<results::TrialResult>& trials) {
  std::vector<ArmGroup> groups;
  spec::Numbering numbering;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::size_t group = numbering.of(engine_part(trials[i]));
    if (group == groups.size()) groups.push_back({.ranks = trials[i].ranks, .arms = {}});
    groups[group].arms.push_back(i);
  }
  return groups;
}

results::HostState describe_host(const measure::Machine& machine) {
  const measure::CpuLayout cpus = measure::probe_cpu_layout();
  results::HostState state{.host = machine.host, .cpu = machine.cpu, .kernel = machine.kernel};
  for (const auto& [governor, count] : cpus.governors)
    state.governors += fmt::format("{}{} ({})", state.governors.empty() ? "" : ", ", governor, count);
  state.load_before = cpus.load.value_or(results::kNotKnown);
  state.turbo = cpus.turbo;
  state.smt = cpus.smt;
  state.mitigations = cpus.mitigations;
  state.nics = measure::find_network_interfaces();
  return state;
}

std::vector<results::HostState> gather_hosts(comm::World& world, bool first_of_host,
                                             const std::vector<results::TrialResult>& trials) {
  std::optional<results::HostState> own;
  if (first_of_host) own.emplace(describe_host(measure::probe_machine())).striping = striping_of(trials);
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

}  // namespace chexbench::bench
