#include "analysis/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/commands.hpp"
#include "analysis/derive.hpp"
#include "analysis/epoch_waits.hpp"
#include "analysis/findings.hpp"
#include "analysis/trust.hpp"
#include "analysis/utilization.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

using results::LimitedBy;

// The ratio of a rank's own time to the median of the others, for each rank and repeat. Empty with one rank.
using RankFactors = std::map<int, std::vector<double>>;

RankFactors rank_factors(const results::TrialResult& trial) {
  RankFactors factors;
  for (const results::RepeatResult* repeat : results::counted_repeats(trial)) {
    const std::map<int, double> times_s = own_times_s(*repeat);
    for (const auto& [rank, own_s] : times_s) {
      std::vector<double> others_s;
      for (const auto& [other, time_s] : times_s) {
        if (other != rank) others_s.push_back(time_s);
      }
      if (others_s.empty() || measure::median(others_s) <= 0) continue;
      factors[rank].push_back(own_s / measure::median(others_s));
    }
  }
  return factors;
}

bool is_slow(const std::vector<double>& factors) {
  const auto slow = std::ranges::count_if(factors, [](double factor) { return factor >= kSlowRank; });
  return slow >= kFewestSlowRepeats &&
         static_cast<double>(slow) >= kSlowRepeatsShare * static_cast<double>(factors.size());
}

// Returns the rank that is slow by the largest factor (the median over repeats); the limit itself stays empty.
Limit slow_rank(const RankFactors& all) {
  Limit slowest;
  for (const auto& [rank, factors] : all) {
    const double factor = measure::median(factors);
    if (is_slow(factors) && factor > slowest.rank_factor) slowest = {.rank = rank, .rank_factor = factor};
  }
  return slowest;
}

// Returns whether a rank took longer in most repeats, even if these are too few to call it slow. The others then wait
// for it in the all-reduce, which is not the network's fault.
bool are_uneven(const RankFactors& all) {
  return std::ranges::any_of(all, [](const auto& rank) { return measure::median(rank.second) >= kSlowRank; });
}

// Returns the slow rank's extra time as a share of its time.
double slow_share(const Limit& limit) { return limit.rank < 0 ? 0 : 1 - 1 / limit.rank_factor; }

// Returns the share of the time that steps wait for batches, without the extra waits of a small data set: that of
// steady steps if known, else that of the steps between the starts of epochs if the starts matter.
double judged_wait_share(const results::TrialResult& trial, const results::Figures& figures) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits) return *figures.wait_share;
  if (waits->steady_wait_share) return *waits->steady_wait_share;
  return matters(*waits) ? waits->other_wait_share : *figures.wait_share;
}

// Returns whether the measured steps do not represent a large data set. Steps that wait without starting an epoch do
// represent it, because a shuffle that no longer fills can only shorten their waits.
bool is_sample_too_small(const results::TrialResult& trial, const results::Figures& figures) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (judged_wait_share(trial, figures) >= kStarvedShare) return false;
  if (figures.buffer_fed) return true;
  if (!waits || waits->steady_wait_share) return false;
  const bool saw_whole_epoch = waits->starts > 0 && !matters(*waits);
  return !saw_whole_epoch;
}

// Returns whether a share of the time might be below the threshold `least` on an idle machine. Other processes may have
// affected the share by up to `held_up` times their mean over ranks: the number of ranks if all of it hit one rank, for
// which the others waited.
bool may_be_of_others(const results::TrialResult& trial, double share, double least, int held_up) {
  double most = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial))
    most = std::max(most, results::disturbed_share(*repeat));
  return most > results::kDisturbedShare && share - held_up * most < least;
}

}  // namespace

bool cores_are_missing(const results::Figures& figures) {
  return figures.cores_busy_share.value_or(0) + figures.cpu_wait_share.value_or(0) >= kFullCores;
}

Limit find_limit(const results::TrialResult& trial, const results::Figures& figures) {
  if (figures.images_per_s.value_or(0) <= 0 || !figures.wait_share) return {};
  const RankFactors factors = rank_factors(trial);
  Limit limit = slow_rank(factors);
  limit.wait_share = judged_wait_share(trial, figures);
  const auto decide = [&](LimitedBy by, const char* what, double share, double least, int held_up) {
    const bool of_others = may_be_of_others(trial, share, least, held_up);
    limit.by = of_others ? LimitedBy::machine : by;
    if (of_others) limit.suspected = what, limit.suspected_share = share;
  };
  const bool starves = spec::has_engine(trial.spec) && limit.wait_share >= kStarvedShare;
  if (limit.rank >= 0 && !(starves && limit.wait_share > slow_share(limit))) {
    decide(LimitedBy::slow_rank, "waits for its slowest rank", slow_share(limit), 1 - 1 / kSlowRank, trial.ranks);
  } else if (!spec::has_engine(trial.spec)) {
    limit.by = LimitedBy::nothing;
  } else if (is_sample_too_small(trial, figures)) {
    limit.by = LimitedBy::sample;
  } else if (starves) {
    decide(cores_are_missing(figures) ? LimitedBy::cpu : LimitedBy::input, "waits for batches", limit.wait_share,
           kStarvedShare, 1);
  } else if (figures.exposed_communication_share.value_or(0) >= kCommunicationShare && !are_uneven(factors)) {
    decide(LimitedBy::communication, "communicates", *figures.exposed_communication_share, kCommunicationShare,
           trial.ranks);
  } else if (figures.upload_share.value_or(0) >= kUploadShare) {
    limit.by = LimitedBy::upload;
  } else {
    limit.by = LimitedBy::compute;
  }
  return limit;
}

namespace {

// Returns "map (decode) 18 %, map (resize) 6 %, shuffle 2 %": the ops that make up at least a tenth of the wait.
std::string awaited(const results::Figures& figures) {
  std::string text;
  for (const results::WaitShare& wait : figures.waits) {
    if (wait.share < 0.1 * *figures.wait_share) continue;
    const std::string name = wait.part.empty() ? wait.op : fmt::format("{} ({})", wait.op, wait.part);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, whole_percent(wait.share));
  }
  return text;
}

// Returns "the 2 cores of a rank are full (97 % busy)", or how long threads waited for cores used by others, or for a
// CPU limit.
std::string missing_cores(const results::TrialResult& trial, const results::Figures& figures) {
  if (std::string limit = limit_text(trial); !limit.empty()) return limit;
  if (figures.cores_busy_share.value_or(0) < kFullCores)
    return fmt::format("its threads are ready without a free core for {} of it",
                       whole_percent(*figures.cpu_wait_share));
  return trial.cores_per_rank == 1
             ? fmt::format("the one core of a rank is full ({} busy)", whole_percent(*figures.cores_busy_share))
             : fmt::format("the {} cores of a rank are full ({} busy)", trial.cores_per_rank,
                           whole_percent(*figures.cores_busy_share));
}

// Makes the findings about what limits one trial.
class Verdict {
 public:
  Verdict(const results::TrialResult& trial, const results::Figures& figures)
      : trial_(trial), figures_(figures), limit_(find_limit(trial, figures)), name_(results::marked(trial)) {}

  std::vector<results::Finding> findings() {
    switch (limit_.by) {
      case LimitedBy::slow_rank:
        add_slow_rank();
        if (spec::has_engine(trial_.spec) && limit_.wait_share >= kStarvedShare) add_starvation();
        break;
      case LimitedBy::cpu:
      case LimitedBy::input:
        add_starvation();
        if (limit_.rank >= 0) add_slow_rank();
        break;
      case LimitedBy::machine:
        add_busy_machine();
        break;
      case LimitedBy::sample:
        add_small_sample();
        break;
      case LimitedBy::communication:
        add_communication();
        break;
      case LimitedBy::upload:
        add_upload();
        break;
      case LimitedBy::compute:
        if (*figures_.wait_share <= results::kFedShare) add_fed();
        break;
      case LimitedBy::nothing:
        break;
    }
    add_epoch_starts();
    return std::move(findings_);
  }

 private:
  void add(const char* kind, std::string text, FindingParts parts, results::Grade grade = results::Grade::told_apart) {
    findings_.push_back(finding_about(trial_, kind, std::move(text), std::move(parts), grade));
  }

  void add_starvation() {
    const bool of_cores = cores_are_missing(figures_);
    const std::string cause = wait_cause(trial_, figures_);
    const std::string why = cause.empty() ? "" : (of_cores ? ", because " : ", because of ") + cause;
    add(of_cores ? "cpu_starved" : "starved",
        starved_sentence({.name = name_,
                          .wait_share = *figures_.wait_share,
                          .images_per_s = *figures_.images_per_s,
                          .images_per_s_without_wait = rate_without(*figures_.wait_share),
                          .why = why}),
        {.headline = fmt::format("starves its accelerator {} of the time", whole_percent(*figures_.wait_share)),
         .reason = of_cores || cause.empty() ? sentence_of(cause) : fmt::format("It waits for {}.", cause),
         .advice = "Try what makes its input faster: advise measures one edit after the other.",
         .command = advise_command(trial_),
         .worth_share = *figures_.wait_share});
  }

  void add_slow_rank() {
    const bool averages = spec::has_engine(trial_.spec) && trial_.spec.comm.model != spec::CommModel::none;
    add("slow_rank",
        fmt::format("{}: rank {} takes {:.2f} x the time of the others for its own part of a step; {} images/s.", name_,
                    limit_.rank, limit_.rank_factor, rate_text(*figures_.images_per_s)),
        {.headline = fmt::format("{} rank {}, which takes {:.2f} x the others' time",
                                 averages ? "waits for" : "is as fast as", limit_.rank, limit_.rank_factor),
         .reason = averages ? "Averaging gradients makes all ranks wait for the slowest."
                            : "No rank waits for another one, but images/s count until the slowest is done.",
         .advice = fmt::format("See what slows rank {} down: doctor checks cores, hosts and GPUs.", limit_.rank),
         .command = fmt::format("mpirun -np {} chexbench doctor", trial_.ranks),
         .worth_share = 1 - 1 / limit_.rank_factor});
  }

  void add_busy_machine() {
    const std::string effect =
        fmt::format("It {} for {} of the time", limit_.suspected, whole_percent(limit_.suspected_share));
    add("busy_machine",
        fmt::format("The machine was too busy to say what limits {}: {}. {}; {} images/s.", name_,
                    disturbance_text(trial_), effect, rate_text(*figures_.images_per_s)),
        {.headline = fmt::format("cannot be judged: other processes used up to {} of cores",
                                 whole_percent(most_disturbed_share(trial_))),
         .reason = fmt::format("{}, which other load may explain.", effect),
         .advice = "Measure again when the machine is free.",
         .command = run_again(trial_),
         .worth_share = limit_.suspected_share},
        results::Grade::machine_too_busy);
  }

  void add_small_sample() {
    const std::optional<EpochWaits> waits = epoch_waits(trial_);
    const auto add_small = [&](std::string text, FindingParts parts) {
      parts.worth_share = *figures_.wait_share;
      add("sample_too_small", std::move(text), std::move(parts), results::Grade::sample_too_small);
    };
    if (!waits || figures_.buffer_fed) {
      add_small(
          fmt::format("Too few steps to say whether the input of {} keeps up, because they used batches "
                      "buffered before timing: raise measure.steps.",
                      name_),
          {.headline = fmt::format("measured too few steps ({}) to judge its input", results::measured_steps(trial_)),
           .reason = "They used batches buffered before timing.",
           .advice = "Measure more steps.",
           .command = run_again(trial_, more_steps(trial_))});
      return;
    }
    constexpr double kWantedBuffers = 10;  // images per rank that represent a large set, in shuffle buffers
    const double wanted = kWantedBuffers * waits->shuffled_images;
    add_small(
        fmt::format("Too few images to say whether the input of {} keeps up: it shuffles {:.0f} of a rank's {:.0f} "
                    "images, so that it either fills its buffer or drains it, and it waits for {} of the time. {:.0f} "
                    "images a rank, or a smaller shuffle, would show it.",
                    name_, waits->shuffled_images, waits->images, whole_percent(*figures_.wait_share), wanted),
        {.headline = fmt::format("has too few images ({:.0f} a rank) to judge its input", waits->images),
         .reason = fmt::format("It shuffles {:.0f} of them, so that it either fills its buffer or drains it.",
                               waits->shuffled_images),
         .advice = fmt::format("Measure {:.0f} images a rank, or shuffle fewer.", wanted)});
  }

  // Names what holds the trial back for a share of its time.
  std::string bound(const char* what, double share) const {
    return fmt::format("{} is held back by {}: {} of the time; {} images/s; at most {} without it.", name_, what,
                       whole_percent(share), rate_text(*figures_.images_per_s), rate_text(rate_without(share)));
  }

  void add_communication() {
    const double share = *figures_.exposed_communication_share;
    add("communication", bound("communication not overlapped with backward", share),
        {.headline = fmt::format("loses {} of the time to communication", whole_percent(share)),
         .reason = fmt::format("It is not overlapped with backward; without it, {} images/s at most.",
                               rate_text(rate_without(share))),
         .advice = "Compare update schemes (comm.update), or average less often (training.accumulate_steps).",
         .worth_share = share});
  }

  void add_upload() {
    const double share = *figures_.upload_share;
    const bool of_floats = trial_.spec.data.deliver == Deliver::f32;
    add("upload", bound("uploads", share),
        {.headline = fmt::format("loses {} of the time to uploads", whole_percent(share)),
         .reason = fmt::format("Batches are copied to the device; without it, {} images/s at most.",
                               rate_text(rate_without(share))),
         .advice =
             of_floats
                 ? "Upload bytes instead of floats: one channel of u8 is a twelfth of three of f32 (in rgb a quarter)."
                 : "",
         .command = of_floats ? run_again(trial_, "data.deliver=u8") : "",
         .worth_share = share});
  }

  void add_fed() {
    add("fed",
        fed_sentence({.name = name_,
                      .wait_share = *figures_.wait_share,
                      .images_per_s = *figures_.images_per_s,
                      .busy_share = figures_.busy_share.value_or(0)}),
        {.headline = fmt::format("keeps its accelerator fed: waits {:.1f} % of the time", 100 * *figures_.wait_share),
         .reason = figures_.busy_share
                       ? fmt::format("The accelerator is busy {} of the time.", whole_percent(*figures_.busy_share))
                       : ""});
  }

  // Adds a finding if the starts of epochs matter and the steps between them are known.
  void add_epoch_starts() {
    const std::optional<EpochWaits> waits = epoch_waits(trial_);
    if (!waits || !matters(*waits) || !waits->steady_wait_share) return;
    const double share = waits->start_share;
    add("epoch_starts",
        fmt::format(
            "{} waits for {} of the time, and {} of the time is at the starts of epochs ({} of {} steps), where its "
            "shuffle fills again; between them it waits for {:.1f} %. A set of {} images has such a start far less "
            "often than these {}, and would give about {} images/s.",
            name_, whole_percent(*figures_.wait_share), whole_percent(share), waits->starts, waits->steps,
            100 * *waits->steady_wait_share, kWholeSetImages, trial_.data.images,
            rate_text(images_per_s_over(trial_, *waits, static_cast<double>(kWholeSetImages)))),
        {.headline = fmt::format("spends {} of the time waiting at epoch starts", whole_percent(share)),
         .reason = "Its shuffle fills again there, which a large data set has far less often.",
         .advice = "Judge a large data set by the steps between the starts, or measure more images.",
         .worth_share = share});
  }

  double rate_without(double share) const { return results::typical_rate(trial_) / (1 - share); }

  const results::TrialResult& trial_;
  const results::Figures& figures_;
  const Limit limit_;
  const std::string name_;
  std::vector<results::Finding> findings_;
};

}  // namespace

std::string wait_cause(const results::TrialResult& trial, const results::Figures& figures) {
  std::string ops = awaited(figures);
  if (!cores_are_missing(figures)) return ops;
  return missing_cores(trial, figures) + (ops.empty() ? "" : ": " + ops);
}

std::vector<results::Finding> verdicts(const results::TrialResult& trial, const results::Figures& figures) {
  return Verdict(trial, figures).findings();
}

}  // namespace chexbench::analysis
