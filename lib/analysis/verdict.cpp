#include "analysis/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/rank_spread.hpp"
#include "analysis/starvation.hpp"
#include "measure/statistics.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"

namespace chexbench::analysis {
namespace {

// The ratio of a rank's own time to the median of the others', for each rank and repeat. Empty if there is one rank.
using RankFactors = std::map<int, std::vector<double>>;

RankFactors rank_factors(const results::TrialResult& trial) {
  RankFactors factors;
  for (const results::RepeatResult& repeat : trial.repeats) {
    const std::map<int, double> times_s = own_times_s(repeat);
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

}  // namespace

Limit find_limit(const results::TrialResult& trial, const results::Figures& figures) {
  if (figures.images_per_s.value_or(0) <= 0 || !figures.wait_share) return {};
  const RankFactors factors = rank_factors(trial);
  Limit limit = slow_rank(factors);
  const bool starves = trains(trial) && *figures.wait_share >= kStarvedShare;
  if (limit.rank >= 0 && !(starves && *figures.wait_share > slow_share(limit))) {
    limit.word = "slow_rank";
  } else if (!trains(trial)) {
    limit.word = "";
  } else if (starves) {
    limit.word = cores_are_missing(figures) ? "cpu" : "input";
  } else if (figures.exposed_communication_share.value_or(0) >= kCommunicationShare && !are_uneven(factors)) {
    limit.word = "communication";
  } else if (figures.upload_share.value_or(0) >= kUploadShare) {
    limit.word = "upload";
  } else {
    limit.word = "compute";
  }
  return limit;
}

std::vector<results::Finding> verdicts(const results::TrialResult& trial, const results::Figures& figures) {
  const Limit limit = find_limit(trial, figures);
  const std::string name = results::marked(trial.trial, trial.emulated);
  const auto finding = [&](const char* kind, std::string text) {
    return results::Finding{.kind = kind, .text = std::move(text), .emulated = trial.emulated};
  };
  const auto starvation = [&] {
    return cores_are_missing(figures) ? finding("cpu_starved", starved(trial, figures, name, true))
                                      : finding("starved", starved(trial, figures, name, false));
  };
  if (limit.word == "slow_rank") {
    std::vector<results::Finding> both{finding("slow_rank", slow(limit, figures, name))};
    if (trains(trial) && *figures.wait_share >= kStarvedShare) both.push_back(starvation());
    return both;
  }
  if (limit.word == "cpu" || limit.word == "input") {
    std::vector<results::Finding> both{starvation()};
    if (limit.rank >= 0) both.push_back(finding("slow_rank", slow(limit, figures, name)));
    return both;
  }
  if (limit.word == "communication") {
    return {finding("communication", bound(trial, figures, name, "communication that backward does not hide",
                                           *figures.exposed_communication_share))};
  }
  if (limit.word == "upload") return {finding("upload", bound(trial, figures, name, "uploads", *figures.upload_share))};
  if (limit.word == "compute" && *figures.wait_share <= results::kFedShare) return {finding("fed", fed(figures, name))};
  return {};
}

}  // namespace chexbench::analysis
