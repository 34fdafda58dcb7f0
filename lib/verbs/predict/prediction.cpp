#include "verbs/predict/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "core/errors.hpp"
#include "results/labels.hpp"
#include "spec/comm_profile.hpp"
#include "spec/keys.hpp"

namespace chexbench::verbs {
namespace {

constexpr double kFastestLink = 1e15;  // bytes/s; faster than any link

// Returns the batch of the slowest rank.
int local_batch(const Training& training, int ranks) {
  const int images = training.training.batch_size;
  if (training.scaling == Scaling::weak) return images;
  if (ranks > images) {
    throw SpecError(
        fmt::format("strong scaling: {} ranks cannot share a batch of {} images; ask for fewer --ranks, or "
                    "set a larger training.batch_size",
                    ranks, images));
  }
  return (images + ranks - 1) / ranks;
}

double global_batch(const Training& training, int ranks) {
  return training.training.batch_size * training.training.accumulate_steps *
         (training.scaling == Scaling::weak ? static_cast<double>(ranks) : 1.0);
}

double compute_s(const engine::StepPlan& plan) { return plan.compute_s() + plan.update_s; }

// Returns the images decoded by all ranks together per image that they train on.
double amplification(const InputSide& input, int ranks) { return input.every_rank_decodes_all ? ranks : 1; }

bool other_cores(const InputSide& input) {
  return input.measured_cores_per_rank && input.cores_per_rank &&
         *input.measured_cores_per_rank != *input.cores_per_rank;
}

void add_limits(const Training& training, PredictionRow& row) {
  const InputSide& input = training.input;
  const auto measured = input.measured_images_per_s.find(row.ranks);
  if (measured != input.measured_images_per_s.end() && !other_cores(input)) {
    row.decode_images_per_s = measured->second;
    row.decode_measured = true;
  } else if (input.images_per_s_per_rank) {
    row.decode_images_per_s = *input.images_per_s_per_rank * row.ranks / amplification(input, row.ranks);
  }
  if (input.storage_bytes_per_s && input.bytes_per_image) {
    row.storage_images_per_s = *input.storage_bytes_per_s / *input.bytes_per_image / amplification(input, row.ranks);
  }
}

void choose_limit(PredictionRow& row) {
  row.images_per_s = row.network_images_per_s;
  row.limit = row.network_images_per_s < analysis::kLinearEfficiency * row.compute_images_per_s ? "network" : "compute";
  const auto lower_to = [&row](const std::optional<double>& images_per_s, const char* name) {
    if (!images_per_s || *images_per_s >= row.images_per_s) return;
    row.images_per_s = *images_per_s;
    row.limit = name;
  };
  lower_to(row.decode_images_per_s, "decode");
  lower_to(row.storage_images_per_s, "storage");
}

bool buckets_known(const Training& training, int ranks) {
  const Network& network = training.network;
  if (ranks == 1 || !network.known_min_bytes || !network.known_max_bytes) return true;
  const engine::StepPlan plan = plan_step(training, ranks);
  return std::ranges::all_of(plan.buckets, [&](const engine::PlannedBucket& bucket) {
    const std::uint64_t bytes = bucket.elements * bytes_of(network.comm.gradient_dtype);
    return *network.known_min_bytes <= bytes && bytes <= *network.known_max_bytes;
  });
}

bool input_known(const InputSide& input, int ranks) {
  return (!input.known || input.known->covers(ranks)) && !other_cores(input);
}

bool network_known(const Network& network, int ranks) {
  return ranks == 1 || !network.known || network.known->covers(ranks);
}

// Returns the time that ranks of equal speed wait for the slowest of them in a step.
double straggling_s(const Training& training, const engine::StepPlan& plan, int ranks) {
  if (training.step_spread == 0) return 0;
  return training.step_spread * compute_s(plan) * expected_maximum(ranks);
}

PredictionRow predict_at(const Training& training, int ranks) {
  const engine::StepPlan plan = plan_step(training, ranks);
  const double whole_s = overlapped_step_s(plan, ranks, training.network.comm) + straggling_s(training, plan, ranks);
  PredictionRow row{.ranks = ranks, .local_batch = local_batch(training, ranks)};
  row.compute_images_per_s = global_batch(training, ranks) / compute_s(plan);
  row.network_images_per_s = global_batch(training, ranks) / whole_s;
  row.exposed_communication_share = 1 - compute_s(plan) / whole_s;
  add_limits(training, row);
  choose_limit(row);
  const spec::ProfileEntry speed = speed_of(training, ranks);
  row.step_time_computed = speed.computed;
  row.extrapolated = !input_known(training.input, ranks) || !network_known(training.network, ranks) ||
                     !buckets_known(training, ranks) || row.local_batch != speed.batch_size;
  return row;
}

// States how much the storage, which is not modelled, would have to deliver, so that nobody takes it for granted.
std::string storage_note(const InputSide& input, const std::vector<PredictionRow>& rows) {
  const std::string note = "Storage is not modelled: assumed to be fast enough";
  if (!input.bytes_per_image || rows.empty()) return note + ".";
  const PredictionRow& most = std::ranges::max(rows, {}, &PredictionRow::ranks);
  const double bytes_per_s = most.images_per_s * amplification(input, most.ranks) * *input.bytes_per_image;
  return fmt::format("{}, which is {:.3g} GB/s at {} ranks.", note, bytes_per_s / 1e9, most.ranks);
}

void note_input(const Training& training, const std::vector<PredictionRow>& rows, std::vector<std::string>& notes) {
  const InputSide& input = training.input;
  if (!input.images_per_s_per_rank) notes.emplace_back("Input is not modelled: assumed to be fast enough.");
  if (input.grade != results::Grade::told_apart) {
    notes.push_back(fmt::format("The rate of the input is not sure ({}): see the flags of the run.",
                                results::to_string(input.grade)));
  }
  if (input.images_per_s_per_rank && !input.known) notes.emplace_back("The input rate was given, not measured.");
  if (!input.storage_bytes_per_s) notes.push_back(storage_note(input, rows));
  if (input.every_rank_decodes_all) {
    notes.emplace_back("The pipeline shards after it decodes, so every rank decodes all images.");
  }
}

void note_extrapolation(const Training& training, const std::vector<PredictionRow>& rows,
                        std::vector<std::string>& notes) {
  const InputSide& input = training.input;
  const Network& network = training.network;
  const auto any = [&rows](const auto& holds) { return std::ranges::any_of(rows, holds); };
  if (any([&](const auto& row) { return input.known && !input.known->covers(row.ranks); })) {
    notes.push_back(
        fmt::format("* beyond the {} to {} ranks on which the input was measured: images/s of a core are "
                    "assumed to stay the same.",
                    input.known->min, input.known->max));
  }
  if (other_cores(input)) {
    notes.push_back(
        fmt::format("* cores a rank: the input was measured with {}, not {}; it is assumed to grow with cores.",
                    *input.measured_cores_per_rank, *input.cores_per_rank));
  }
  if (any([&](const auto& row) { return !network_known(network, row.ranks); })) {
    notes.push_back(fmt::format("* beyond the {} to {} ranks that the network's figures were fitted to.",
                                network.known->min, network.known->max));
  }
  if (any([&](const auto& row) { return !buckets_known(training, row.ranks); })) {
    notes.push_back(fmt::format("* buckets outside of the {} to {} bytes that the network's figures were fitted to.",
                                *network.known_min_bytes, *network.known_max_bytes));
  }
  std::set<int> computed;  // batches whose step times no source gives
  for (const PredictionRow& row : rows) {
    if (row.step_time_computed) computed.insert(row.local_batch);
  }
  if (!computed.empty()) {
    notes.push_back(fmt::format("The step's time at batch {} was computed, not measured: see its source.",
                                fmt::join(computed, ", ")));
  }
  std::set<int> scaled;  // batches of the profile whose times are scaled to other batches
  for (const PredictionRow& row : rows) {
    const int known = speed_of(training, row.ranks).batch_size;
    if (row.local_batch != known) scaled.insert(known);
  }
  if (!scaled.empty()) {
    notes.push_back(fmt::format("* the step's time is known for batch {}, and scaled linearly to others.",
                                fmt::join(scaled, " and ")));
  }
}

void note_unknown_needs(const InputSide& input, std::vector<std::string>& notes) {
  if (!input.images_per_s_per_core && !input.bytes_per_image) {
    notes.emplace_back("cores and storage: unknown; --report gives the images/s of a core and the bytes of an image");
  } else if (!input.images_per_s_per_core) {
    notes.emplace_back("cores: unknown without the images/s of a core, which --report gives");
  } else if (!input.bytes_per_image) {
    notes.emplace_back("storage: unknown without the bytes of an image, which --report gives");
  }
}

}  // namespace

spec::ProfileEntry speed_of(const Training& training, int ranks) {
  return spec::find_entry(training.profile, training.model, training.training.precision, local_batch(training, ranks));
}

engine::StepPlan plan_step(const Training& training, int ranks) {
  engine::EngineConfig config{.model = training.model,
                              .training = training.training,
                              .comm = training.network.comm,
                              .outputs = training.outputs,
                              .world = ranks};
  config.training.batch_size = local_batch(training, ranks);
  config.comm.model = spec::CommModel::alpha_beta;
  if (config.comm.update == spec::UpdateScheme::hierarchical && config.comm.ranks_per_group == 0) {
    throw SpecError(
        "comm.update is hierarchical, but a modelled network does not know its groups: set comm.ranks_per_group");
  }
  return engine::plan_step(speed_of(training, ranks), config);
}

double expected_maximum(int n) {
  // The mean is the integral of 1 - F over positive values minus that of F over negative ones, F being Phi^n.
  constexpr double kEnd = 9;
  constexpr int kSteps = 2000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = kEnd * (i + 0.5) / kSteps;
    sum += 1 - std::pow(0.5 * std::erfc(-x / std::numbers::sqrt2), n) -
           std::pow(0.5 * std::erfc(x / std::numbers::sqrt2), n);
  }
  return sum * kEnd / kSteps;
}

std::vector<PredictionRow> predict(const Training& training, const std::vector<int>& ranks) {
  const double single = predict_at(training, 1).images_per_s;
  std::vector<PredictionRow> rows;
  for (const int n : ranks) {
    PredictionRow& row = rows.emplace_back(predict_at(training, n));
    row.efficiency = row.images_per_s / (n * single);
  }
  return rows;
}

std::vector<std::string> prediction_notes(const Training& training, const std::vector<PredictionRow>& rows) {
  std::vector<std::string> notes;
  note_input(training, rows, notes);
  if (!training.network.known) notes.emplace_back("The network's figures were given, not measured.");
  note_extrapolation(training, rows, notes);
  if (training.step_spread > 0) {
    notes.push_back(fmt::format(
        "Each step waits for its slowest rank: the time that a rank computes varies by {:.1f} % (standard deviation).",
        100 * training.step_spread));
  } else {
    notes.emplace_back("Stragglers are not modelled: no report measured the steps of this training on real devices.");
  }
  return notes;
}

Requirement require(const Training& training, int ranks, double efficiency) {
  const double alone = global_batch(training, 1) / compute_s(plan_step(training, 1));
  Requirement needed{.ranks = ranks, .efficiency = efficiency, .images_per_s = alone * ranks * efficiency};
  const InputSide& input = training.input;
  const double decoded_per_s = needed.images_per_s * amplification(input, ranks);
  if (input.images_per_s_per_core) {
    needed.cores_per_rank = static_cast<int>(std::ceil(decoded_per_s / ranks / *input.images_per_s_per_core - 1e-9));
  }
  if (input.bytes_per_image) {
    needed.storage_bytes_per_s = decoded_per_s * *input.bytes_per_image;
    if (input.every_rank_decodes_all && ranks > 1) {
      needed.notes.push_back(
          fmt::format("storage: {:.3g} GB/s would suffice if each rank read only its images, with a "
                      "shard op after list_files",
                      needed.images_per_s * *input.bytes_per_image / 1e9));
    }
  }
  note_unknown_needs(input, needed.notes);
  if (ranks == 1) return needed;
  const engine::StepPlan plan = plan_step(training, ranks);
  const double allowed_s = global_batch(training, ranks) / needed.images_per_s;
  spec::CommSpec comm = training.network.comm;
  if (!comm.link.empty()) comm.alpha_s = spec::find_link(comm.link).alpha_s;
  comm.link.clear();  // so that its bandwidth can be varied
  const auto reaches = [&](double beta_bytes_per_s) {
    comm.beta_bytes_per_s = beta_bytes_per_s;
    return overlapped_step_s(plan, ranks, comm) + straggling_s(training, plan, ranks) <= allowed_s;
  };
  if (!reaches(kFastestLink)) {
    needed.notes.emplace_back(
        "network: no bandwidth is enough; latency, software, the links of a host or smaller batches take too much");
    return needed;
  }
  double low = 1;
  if (reaches(low)) return needed;  // all ranks are on one host, so nothing crosses the link
  double high = kFastestLink;
  while (high / low > 1 + 1e-6) (reaches(std::sqrt(low * high)) ? high : low) = std::sqrt(low * high);
  needed.link_bytes_per_s = high;
  return needed;
}

}  // namespace chexbench::verbs
