#include "analysis/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/disturbance.hpp"
#include "analysis/epoch_waits.hpp"
#include "analysis/rank_spread.hpp"
#include "analysis/starvation.hpp"
#include "measure/statistics.hpp"
#include "results/disturbance.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"

namespace chexbench::analysis {
namespace {

// The ratio of a rank's own time to the median of the others', for each rank and repeat. Empty if there is one rank.
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

// Returns the rank that is slow by the largest factor (the median over repeats), without a word.
Limit slow_rank(const RankFactors& all) {
  Limit slowest;
  for (const auto& [rank, factors] : all) {
    const double factor = measure::median(factors);
    if (is_slow(factors) && factor > slowest.rank_factor) slowest = {.word = "", .rank = rank, .rank_factor = factor};
  }
  return slowest;
}

// Returns whether a rank took longer in most repeats, even if they are too few to call it slow. The others then wait
// for it in the all-reduce, which says nothing about the network.
bool are_uneven(const RankFactors& all) {
  return std::ranges::any_of(all, [](const auto& rank) { return measure::median(rank.second) >= kSlowRank; });
}

// Returns the share of the slow rank's time that it takes longer than the others.
double slow_share(const Limit& limit) { return limit.rank < 0 ? 0 : 1 - 1 / limit.rank_factor; }

bool trains(const results::TrialResult& trial) { return trial.spec.engine != "none"; }

bool cores_are_missing(const results::Figures& figures) {
  return figures.cores_busy_share.value_or(0) + figures.cpu_wait_share.value_or(0) >= kFullCores;
}

// Returns the share of the time that steps wait for batches, without what a small data set adds to it: the wait of the
// steps between the starts of epochs, if the starts matter, and of steady ones if these are known.
double judged_wait_share(const results::TrialResult& trial, const results::Figures& figures) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits) return *figures.wait_share;
  if (waits->steady_wait_share) return *waits->steady_wait_share;
  return matters(*waits) ? waits->other_wait_share : *figures.wait_share;
}

// Returns whether the measured steps cannot say what a large data set would give. Steps that wait although they begin
// no epoch do say it, because a shuffle that no longer fills only makes them wait less.
bool is_sample_too_small(const results::TrialResult& trial, const results::Figures& figures) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (judged_wait_share(trial, figures) >= kStarvedShare) return false;
  if (figures.buffer_fed) return true;
  if (!waits || waits->steady_wait_share) return false;
  const bool saw_whole_epoch = waits->starts > 0 && !matters(*waits);
  return !saw_whole_epoch;
}

// Returns whether a share of the time might be below the least that counts on a machine of its own. `held_up` says how
// many times the mean over ranks others may have taken from what the share is about: as often as there are ranks if one
// of them, from which they took everything, held up the others.
bool may_be_of_others(const results::TrialResult& trial, double share, double least, int held_up = 1) {
  double most = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial))
    most = std::max(most, results::disturbed_share(*repeat));
  return most > results::kDisturbedShare && share - held_up * most < least;
}

std::string whole_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

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

// Returns "the 2 cores of a rank are full (97 % busy)", or says how long threads waited for cores that others used.
std::string missing_cores(const results::TrialResult& trial, const results::Figures& figures) {
  if (figures.cores_busy_share.value_or(0) < kFullCores)
    return fmt::format("its threads are ready without a free core for {} of it",
                       whole_percent(*figures.cpu_wait_share));
  return trial.cores_per_rank == 1
             ? fmt::format("the one core of a rank is full ({} busy)", whole_percent(*figures.cores_busy_share))
             : fmt::format("the {} cores of a rank are full ({} busy)", trial.cores_per_rank,
                           whole_percent(*figures.cores_busy_share));
}

std::string starved(const results::TrialResult& trial, const results::Figures& figures, const std::string& name,
                    bool of_cores) {
  std::string why = awaited(figures);
  if (of_cores) {
    why = fmt::format(", because {}{}", missing_cores(trial, figures), why.empty() ? "" : ": " + why);
  } else if (!why.empty()) {
    why = ", because of " + why;
  }
  return starved_sentence({.name = name,
                           .wait_share = *figures.wait_share,
                           .images_per_s = *figures.images_per_s,
                           .images_per_s_without_wait = results::typical_rate(trial) / (1 - *figures.wait_share),
                           .why = why});
}

std::string slow(const Limit& limit, const results::Figures& figures, const std::string& name) {
  return fmt::format("{}: rank {} takes {:.2f} x the time of the others for its own part of a step; {} images/s.", name,
                     limit.rank, limit.rank_factor, rate(*figures.images_per_s));
}

std::string bound(const results::TrialResult& trial, const results::Figures& figures, const std::string& name,
                  const char* what, double share) {
  return fmt::format("{} is held back by {}: {} of the time; {} images/s, of at most {} without it.", name, what,
                     whole_percent(share), rate(*figures.images_per_s),
                     rate(results::typical_rate(trial) / (1 - share)));
}

std::string fed(const results::Figures& figures, const std::string& name) {
  return fed_sentence({.name = name,
                       .wait_share = *figures.wait_share,
                       .images_per_s = *figures.images_per_s,
                       .busy_share = figures.busy_share.value_or(0)});
}

std::string busy_machine(const results::TrialResult& trial, const Limit& limit, const results::Figures& figures,
                         const std::string& name) {
  return fmt::format("The machine was too busy to say what limits {}: {}. It waits for {} of the time; {} images/s.",
                     name, disturbance_text(trial), whole_percent(limit.wait_share), rate(*figures.images_per_s));
}

std::string too_few(const results::TrialResult& trial, const results::Figures& figures, const std::string& name) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits || figures.buffer_fed) {
    return fmt::format(
        "Too few steps to say whether the input of {} keeps up, because they lived off what had been "
        "buffered before: raise measure.steps.",
        name);
  }
  constexpr double kWanted = 10;  // times the shuffle's buffer, in images
  return fmt::format(
      "Too few images to say whether the input of {} keeps up: it shuffles {:.0f} of a rank's {:.0f} "
      "images, so that it either fills its buffer or lives off it, and it waits for {} of the time. {:.0f} "
      "images a rank, or a smaller shuffle, would tell.",
      name, waits->shuffled_images, waits->images, whole_percent(*figures.wait_share),
      kWanted * waits->shuffled_images);
}

// Returns a sentence if the starts of epochs matter and the steps between them are known.
std::optional<std::string> epoch_starts(const results::TrialResult& trial, const results::Figures& figures,
                                        const std::string& name) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits || !matters(*waits) || !waits->steady_wait_share) return {};
  return fmt::format(
      "{} waits for {} of the time, {} of it at the starts of epochs ({} of {} steps), where its shuffle "
      "fills again; between them it waits for {:.1f} %. A set of {} images has such a start far less "
      "often than these {}, and would give about {} images/s.",
      name, whole_percent(*figures.wait_share), whole_percent(waits->start_share), waits->starts, waits->steps,
      100 * *waits->steady_wait_share, kWholeSetImages, trial.data.images,
      rate(images_per_s_over(trial, *waits, static_cast<double>(kWholeSetImages))));
}

}  // namespace

Limit find_limit(const results::TrialResult& trial, const results::Figures& figures) {
  if (figures.images_per_s.value_or(0) <= 0 || !figures.wait_share) return {};
  const RankFactors factors = rank_factors(trial);
  Limit limit = slow_rank(factors);
  limit.wait_share = judged_wait_share(trial, figures);
  const bool starves = trains(trial) && limit.wait_share >= kStarvedShare;
  if (limit.rank >= 0 && !(starves && limit.wait_share > slow_share(limit))) {
    const bool of_others = may_be_of_others(trial, slow_share(limit), 1 - 1 / kSlowRank, trial.ranks);
    limit.word = of_others ? "machine" : "slow_rank";
  } else if (!trains(trial)) {
    limit.word = "";
  } else if (is_sample_too_small(trial, figures)) {
    limit.word = "sample";
  } else if (starves) {
    const bool of_others = may_be_of_others(trial, limit.wait_share, kStarvedShare);
    limit.word = of_others ? "machine" : cores_are_missing(figures) ? "cpu" : "input";
  } else if (figures.exposed_communication_share.value_or(0) >= kCommunicationShare && !are_uneven(factors)) {
    const double share = *figures.exposed_communication_share;
    limit.word = may_be_of_others(trial, share, kCommunicationShare, trial.ranks) ? "machine" : "communication";
  } else if (figures.upload_share.value_or(0) >= kUploadShare) {
    limit.word = "upload";
  } else {
    limit.word = "compute";
  }
  return limit;
}

std::vector<results::Finding> verdicts(const results::TrialResult& trial, const results::Figures& figures) {
  const Limit limit = find_limit(trial, figures);
  const std::string name = results::marked(trial);
  std::vector<results::Finding> findings;
  const auto add = [&](const char* kind, std::string text, results::Grade grade = results::Grade::told_apart) {
    findings.push_back({.kind = kind, .text = std::move(text), .emulated = trial.emulated, .grade = grade});
  };
  const auto add_starvation = [&] {
    const bool of_cores = cores_are_missing(figures);
    add(of_cores ? "cpu_starved" : "starved", starved(trial, figures, name, of_cores));
  };
  if (limit.word == "slow_rank") {
    add("slow_rank", slow(limit, figures, name));
    if (trains(trial) && limit.wait_share >= kStarvedShare) add_starvation();
  } else if (limit.word == "cpu" || limit.word == "input") {
    add_starvation();
    if (limit.rank >= 0) add("slow_rank", slow(limit, figures, name));
  } else if (limit.word == "machine") {
    add("busy_machine", busy_machine(trial, limit, figures, name), results::Grade::machine_too_busy);
  } else if (limit.word == "sample") {
    add("sample_too_small", too_few(trial, figures, name), results::Grade::sample_too_small);
  } else if (limit.word == "communication") {
    add("communication",
        bound(trial, figures, name, "communication that backward does not hide", *figures.exposed_communication_share));
  } else if (limit.word == "upload") {
    add("upload", bound(trial, figures, name, "uploads", *figures.upload_share));
  } else if (limit.word == "compute" && *figures.wait_share <= results::kFedShare) {
    add("fed", fed(figures, name));
  }
  if (auto text = epoch_starts(trial, figures, name)) add("epoch_starts", std::move(*text));
  return findings;
}

}  // namespace chexbench::analysis
