#include "pipeline/tunable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "storage/range_stream.hpp"

namespace chexbench::pipeline {
namespace {

// More calls or files at once are not tried: each has its own buffers.
constexpr std::int64_t kMostCalls = 64;
constexpr std::int64_t kMostFiles = 160;

std::int64_t cores_of(const PipelineContext& context) {
  return static_cast<std::int64_t>(std::max<std::size_t>(context.cores.size(), 1));
}

std::int64_t start_of_calls(const PipelineContext& context) { return std::int64_t{kCallsPerCore} * cores_of(context); }

// Returns 1, 2, 3, 4, 6, 8, 12, ...: doublings with one value between, one call a core, and two.
std::vector<std::int64_t> calls_to_try(std::int64_t cores) {
  std::vector<std::int64_t> values = {1};
  const std::int64_t most = std::max(kMostCalls, 2 * cores);
  for (std::int64_t power = 2; power <= most; power *= 2) {
    values.push_back(power);
    if (power + power / 2 <= most) values.push_back(power + power / 2);
  }
  for (const std::int64_t value : {cores, std::int64_t{kCallsPerCore} * cores}) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  std::ranges::sort(values);
  return values;
}

void tune_calls(Tunable& tunable, const PipelineContext& context) {
  tunable.values = calls_to_try(cores_of(context));
  tunable.start = start_of_calls(context);
}

// Returns how many files the op with this index gets in a row: its rank's files of an epoch, or after a repeat those of
// all epochs, because the next epoch's files may be opened while this one's are read.
double files_in_a_row(const PipelineContext& context, std::size_t op_index) {
  auto files = static_cast<double>(context.dataset.files());
  for (const spec::OpSpec& op : std::span(context.pipeline.ops).first(op_index)) {
    if (op.rule().shards) files = std::floor(files / context.world);
    if (!op.rule().repeats) continue;
    files *=
        op.holds_text("epochs") ? std::numeric_limits<double>::infinity() : static_cast<double>(op.integer("epochs"));
  }
  return files;
}

void tune_cycle(Tunable& tunable, const PipelineContext& context) {
  tunable.values = {kAutoCycle};
  tunable.start = kAutoCycle;
  if (!reads_files(context)) {
    tunable.why_fixed = "nothing to overlap, the op that decodes reads the files";
    return;
  }
  tunable.values.insert(tunable.values.begin(), 1);  // one file after the other, without threads
  const double files = files_in_a_row(context, tunable.op_index);
  for (std::int64_t value = 2 * kAutoCycle; value <= kMostFiles; value *= 2) {
    if (static_cast<double>(files_open(context, static_cast<std::size_t>(tunable.values.back()))) >= files) break;
    tunable.values.push_back(value);
  }
}

}  // namespace

bool reads_files(const PipelineContext& context) {
  return spec::reads_shards(context.dataset.format) || context.dataset.store->is_distant();
}

std::size_t files_open(const PipelineContext& context, std::size_t cycle_length) {
  return spec::reads_shards(context.dataset.format) ? cycle_length + 1 : 3 * cycle_length;
}

std::int64_t images_read_ahead(const PipelineContext& context, const Tunable& tunable, std::int64_t value) {
  const dataset::Dataset& dataset = context.dataset;
  if (!spec::op_rule(tunable.op).reads() || !reads_files(context) || dataset.files() == 0) return 0;
  const auto images = static_cast<double>(dataset.images.size());
  double of_file = images / static_cast<double>(dataset.files());
  if (spec::reads_shards(dataset.format)) {
    const storage::RangePlan plan;
    const double bytes = std::accumulate(dataset.shard_bytes.begin(), dataset.shard_bytes.end(), 0.0);
    const bool is_copied = !dataset.store->gives_views() && bytes > 0;
    const double in_ranges = is_copied ? static_cast<double>(plan.bytes * plan.ahead) / (bytes / images) : 0;
    of_file = std::min(of_file, static_cast<double>(kBlocksAhead) + in_ranges);
  }
  return std::llround(of_file * static_cast<double>(files_open(context, static_cast<std::size_t>(value))));
}

std::vector<Tunable> tunables(const PipelineContext& context) {
  std::vector<Tunable> found;
  if (context.data.format == spec::DataFormat::ready) return found;
  for (std::size_t i = 0; i < context.pipeline.ops.size(); ++i) {
    const spec::OpSpec& op = context.pipeline.ops[i];
    const std::string* const parameter = spec::parameter_to_tune(op);
    if (parameter == nullptr) continue;
    found.push_back({.op_index = i, .op = op.op, .parameter = *parameter, .values = {}, .why_fixed = ""});
    if (op.rule().reads()) {
      tune_cycle(found.back(), context);
    } else {
      tune_calls(found.back(), context);
    }
  }
  return found;
}

std::size_t value_of(const OpSetup& setup, const std::string& name) {
  const PipelineContext& context = setup.resources.context;
  if (!setup.spec.holds_text(name)) return static_cast<std::size_t>(setup.spec.integer(name));
  if (const auto tuned = context.tuned.find(setup.index); tuned != context.tuned.end())
    return static_cast<std::size_t>(tuned->second);
  return static_cast<std::size_t>(setup.spec.rule().reads() ? kAutoCycle : start_of_calls(context));
}

}  // namespace chexbench::pipeline
