#include "verbs/probe/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "analysis/derive.hpp"
#include "analysis/trust.hpp"
#include "analysis/verdict.hpp"
#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "bench/trial.hpp"
#include "comm/communicator.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "dataset/index_report.hpp"
#include "measure/statistics.hpp"
#include "results/rates.hpp"
#include "spec/parse.hpp"
#include "spec/profile.hpp"
#include "spec/resolved.hpp"
#include "storage/data_root.hpp"
#include "verbs/probe/probe_spec.hpp"

namespace chexbench::verbs {
namespace {

// The contents of a data set, and whether it is on a server.
struct Look {
  dataset::IndexReport index;
  bool is_distant = false;
};

Look look_once(const spec::DataSpec& data) {
  const storage::DataRoot root(data);
  return {.index = dataset::report_index(root), .is_distant = root.store->is_distant()};
}

// Labels do not affect speed, so an unreadable table is no obstacle if the folders next to it are a data set by
// themselves. `data` is then changed to that layout.
Look look_at(spec::DataSpec& data) {
  try {
    return look_once(data);
  } catch (const Error& error) {
    if (data.layout != spec::DataLayout::automatic || !(data.labels == spec::LabelsSpec())) throw;
    spec::DataSpec folders = data;
    folders.layout = spec::DataLayout::folders;
    try {
      Look look = look_once(folders);
      log::warning("the images are measured without the labels of their table: {}", error.what());
      data = folders;
      return look;
    } catch (const Error&) {
    }
    throw;
  }
}

WorkShares work_shares(const results::TrialResult& trial) {
  WorkShares work;
  double all_s = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const measure::OpCounters& op : repeat->ops) {
      const bool reads = spec::rule_or_none(op.op).reads();
      const double parts_s = op.read_s + op.parse_s + op.decode_s + op.resize_s;
      const double op_s = std::max(op.busy_wall_s, parts_s);
      work.read += reads ? op_s : op.read_s + op.parse_s;
      work.decode += op.decode_s;
      work.resize += op.resize_s;
      all_s += op_s;
    }
  }
  if (all_s <= 0) return {};
  for (double* part : {&work.read, &work.decode, &work.resize}) *part /= all_s;
  work.other = std::max(0.0, 1 - work.read - work.decode - work.resize);
  return work;
}

std::optional<double> cached_share(const results::TrialResult& trial) {
  double cached = 0, all = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    cached += static_cast<double>(repeat.cached_bytes_before);
    all += static_cast<double>(repeat.looked_at_bytes);
  }
  if (all <= 0) return {};
  return cached / all;
}

class Prober {
 public:
  Prober(const spec::DataSpec& data, comm::World& world, const ProbeOptions& options)
      : world_(world), options_(options), data_(data) {}

  Probe run() {
    agree_on_ways();
    end_s_ = now_s() + options_.time_s;
    begin_s_ = now_s();
    results::Report all;
    try {
      measure_into(probe_.report);
      agree_on_plan(probe_.report);
      measure_into(all);
    } catch (const bench::TimeIsUp&) {
      probe_.result.time_was_up = true;
    } catch (const InterruptedError&) {
      probe_.interrupted = std::current_exception();
      probe_.result.stopped_after_s = now_s() - begin_s_;
    }
    if (!all.trials.empty() && !all.trials.front().repeats.empty()) probe_.report = std::move(all);
    probe_.report.interrupted = probe_.interrupted != nullptr;
    if (is_root()) conclude();
    return std::move(probe_);
  }

 private:
  bool is_root() const { return world_.communicator().rank() == 0; }

  // Rank 0 examines the data set; all ranks get its list of ways.
  void agree_on_ways() {
    if (is_root()) {
      const Look look = look_at(data_);
      describe(look);
      ways_ = ways_to_read(look.index, data_);
    }
    const std::size_t ways = std::stoul(comm::broadcast_text(world_.communicator(), std::to_string(ways_.size())));
    ways_.resize(ways);
    agree_on_trials();
  }

  void agree_on_trials() {
    for (WayToRead& way : ways_) {
      way.name = comm::broadcast_text(world_.communicator(), way.name);
      const std::string text =
          comm::broadcast_text(world_.communicator(), is_root() ? spec::to_json(way.trial) : std::string());
      if (!is_root()) way.trial = spec::parse_trial(text, "what rank 0 measures");
    }
  }

  void agree_on_plan(const results::Report& first) {
    if (is_root()) {
      FirstLook slowest;
      for (const results::TrialResult& trial : first.trials) {
        const results::RepeatResult& repeat = trial.repeats.front();
        if (slowest.images_per_s > 0 && repeat.images_per_s >= slowest.images_per_s) continue;
        const spec::MeasureSpec& measure = trial.spec.measure;
        slowest = {.images_per_s = repeat.images_per_s,
                   .repeat_s = repeat.spent_s,
                   .measured_s = repeat.wall_s * (measure.steps + measure.warmup_steps) / measure.steps};
      }
      const ProbePlan plan = plan_probe(slowest, ways_.size(), end_s_ - now_s(), world_.communicator().world());
      for (WayToRead& way : ways_) {
        way.trial.measure = plan.measure;
        way.trial.training.batch_size = plan.batch_size;
      }
    }
    agree_on_trials();
  }

  // `report` keeps the measurements if the time is up.
  void measure_into(results::Report& report) {
    std::vector<spec::Trial> trials;
    for (const WayToRead& way : ways_) trials.push_back({.name = way.name, .spec = way.trial});
    report = bench::plan_report(ways_.front().trial.name, trials, world_);
    bench::RunOptions run;
    run.warns_of_others = false;  // the answer says so
    run.progress.on_state = [this](const bench::RunState& state) { tell(state); };
    if (world_.communicator().world() == 1) run.stop_at_s = end_s_;
    bench::run_trials(report, world_, run);
  }

  void tell(const bench::RunState& state) {
    probe_.result.images_seen = static_cast<std::uint64_t>(state.step + 1) *
                                static_cast<std::uint64_t>(ways_[state.trial].trial.training.batch_size);
    if (options_.on_progress) options_.on_progress({now_s() - begin_s_, options_.time_s, state.images_per_s});
  }

  void describe(const Look& look) {
    ProbeResult& result = probe_.result;
    const dataset::IndexReport& index = look.index;
    result.root = index.root;
    result.layout = index.layout;
    result.images = index.rows;
    result.files = index.files;
    result.png_files = index.png_files;
    result.mean_file_bytes = index.mean_file_bytes();
    result.is_distant = look.is_distant;
    result.passed_over = dataset::passed_images_text(index.passed);
    for (const auto& [kind, files] : index.passed.kinds())
      result.passed_files.emplace(dataset::to_string(kind), files.count);
  }

  void conclude() {
    ProbeResult& result = probe_.result;
    result.time_s = options_.time_s;
    result.ranks = world_.communicator().world();
    if (probe_.report.trials.empty() || probe_.report.trials.front().repeats.empty()) return;
    const results::TrialResult& first = probe_.report.trials.front();
    for (std::size_t i = 0; i < ways_.size(); ++i) add_way(ways_[i], probe_.report.trials[i]);
    describe_first(first);
    result.accelerators = fed_accelerators(result.ways.front().images_per_s, result.ways.front().ci95, options_.gpus);
  }

  void add_way(const WayToRead& way, const results::TrialResult& trial) {
    if (trial.repeats.empty()) return;
    const results::Figures figures = analysis::derive_figures(trial, {trial});
    ProbedWay probed{.name = way.name,
                     .settings = way.settings,
                     .images_per_s = figures.images_per_s.value_or(0),
                     .ci95 = figures.images_per_s_ci95,
                     .repeats = results::counted_repeats(trial).size()};
    const results::TrialResult& first = probe_.report.trials.front();
    if (&trial != &first) {
      probed.ratio = results::paired_rates(trial, first);
      if (probed.ratio) probed.grade = analysis::grade_of(trial, first, *probed.ratio);
    } else if (!probed.ci95 || figures.buffer_fed) {
      probed.grade = results::Grade::sample_too_small;
    } else if (results::is_disturbed(trial)) {
      probed.grade = results::Grade::machine_too_busy;
    }
    probe_.result.ways.push_back(std::move(probed));
  }

  void describe_first(const results::TrialResult& trial) {
    ProbeResult& result = probe_.result;
    const results::Figures figures = analysis::derive_figures(trial, {trial});
    result.cores = trial.cores_per_rank * trial.ranks;
    result.work = work_shares(trial);
    result.wait_op = figures.wait_op;
    result.wait_part = figures.wait_part;
    result.cores_busy_share = figures.cores_busy_share.value_or(0);
    result.images_per_s_per_core = figures.images_per_s_per_core.value_or(0);
    result.cached_share = cached_share(trial);
    double decoded = 0;
    for (const results::RepeatResult& repeat : trial.repeats) {
      result.bad_records += repeat.bad_records;
      decoded += static_cast<double>(repeat.images_decoded);
    }
    // Images are counted in the measured steps; unreadable ones from the first step on.
    const spec::MeasureSpec& measure = trial.spec.measure;
    decoded *= static_cast<double>(measure.warmup_steps + measure.steps) / measure.steps;
    const auto bad = static_cast<double>(result.bad_records);
    if (bad > 0) result.bad_share = bad / (bad + decoded);
    const bool waits_for_files = figures.wait_part == "read" || spec::rule_or_none(figures.wait_op).reads();
    if (result.cores_busy_share + figures.cpu_wait_share.value_or(0) < analysis::kFullCores)
      result.holdup = waits_for_files ? Holdup::read : Holdup::op;
    result.cpu_limit = analysis::limit_text(trial);
    if (!results::is_disturbed(trial)) return;
    result.disturbance = analysis::disturbance_text(trial);
    std::vector<double> free;
    for (const results::RepeatResult* repeat : results::counted_repeats(trial))
      free.push_back(results::free_rate(*repeat));
    result.free_images_per_s = measure::median(free);
  }

  comm::World& world_;
  const ProbeOptions& options_;
  spec::DataSpec data_;
  double begin_s_ = 0;
  double end_s_ = 0;
  std::vector<WayToRead> ways_;
  Probe probe_;
};

constexpr const char* kModel = "resnet50";
constexpr int kImageSize = 224;

// Returns the highest sourced rate for each precision, because people train with the fastest batch. The demands of a
// storage benchmark are not an accelerator's speed.
std::map<spec::Precision, double> best_rates(const spec::AcceleratorProfile& profile) {
  std::map<spec::Precision, double> rates;
  for (const spec::ProfileEntry& entry : profile.entries) {
    if (entry.model != kModel || entry.image_size != kImageSize || entry.computed || entry.record_bytes) continue;
    double& rate = rates[entry.precision];
    rate = std::max(rate, entry.images_per_s);
  }
  return rates;
}

int fed_by(double images_per_s, double needed_images_per_s) {
  return static_cast<int>(std::floor(std::max(0.0, images_per_s) / needed_images_per_s));
}

// Returns the profiles to consider, and whether the text names them.
std::map<std::string, bool> looked_at(const std::vector<std::string>& gpus) {
  std::map<std::string, bool> names;
  for (const std::string& name : gpus) names[name] = true;
  if (!names.empty()) return names;
  for (const std::string& name : spec::profile_names())
    names[name] = name == "v100" || name == "a100" || name == "h100";
  return names;
}

}  // namespace

Probe probe(const spec::DataSpec& data, comm::World& world, const ProbeOptions& options) {
  return Prober(data, world, options).run();
}

std::vector<FedAccelerator> fed_accelerators(double images_per_s, const std::optional<measure::Interval>& ci95,
                                             const std::vector<std::string>& gpus) {
  const measure::Interval interval = ci95.value_or(measure::Interval{images_per_s, images_per_s});
  std::vector<FedAccelerator> all;
  for (const auto& [name, named] : looked_at(gpus)) {
    const spec::AcceleratorProfile profile = spec::load_profile(name);
    const std::map<spec::Precision, double> rates = best_rates(profile);
    if (rates.empty() && !gpus.empty())
      throw SpecError(fmt::format("--gpu {}: the profile has no measured rate of resnet50 at 224 x 224", name));
    for (const auto& [precision, rate] : rates) {
      all.push_back({.name = profile.name,
                     .device = profile.device,
                     .precision = precision,
                     .images_per_s = rate,
                     .share = images_per_s / rate,
                     .count = fed_by(images_per_s, rate),
                     .count_low = fed_by(interval.low, rate),
                     .count_high = fed_by(interval.high, rate),
                     .named = named});
    }
  }
  std::ranges::stable_sort(all, {}, &FedAccelerator::images_per_s);
  return all;
}

}  // namespace chexbench::verbs
