#include "analysis/flags.hpp"

#include <algorithm>
#include <cstdint>

#include "measure/page_cache.hpp"
#include "results/disturbance.hpp"
#include "results/figures.hpp"

namespace chexbench::analysis {
namespace {

std::uint64_t bad_records(const results::TrialResult& trial) {
  std::uint64_t sum = 0;
  for (const results::RepeatResult& repeat : trial.repeats) sum += repeat.bad_records;
  return sum;
}

bool cache_not_verified(const results::TrialResult& trial) {
  return std::any_of(trial.repeats.begin(), trial.repeats.end(),
                     [](const results::RepeatResult& repeat) { return measure::is_doubtful(repeat.page_cache); });
}

}  // namespace

const std::vector<Flag>& flags() {
  static const std::vector<Flag> instance{
      {"(emulated)", "no arithmetic was done: a step takes the time that the source below gives for it",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.emulated; }},
      {"(computed speed)",
       "no source gives the time of such a step: it was computed from the layers and the peak rates of the device, as "
       "the source below says",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.step_time_computed; }},
      {"(scale model)",
       "measured slower by the factor in the notes below, with as many fewer cores a rank; cores, rates and times are "
       "at "
       "full scale",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.scale_factor != 1; }},
      {"unstable",
       "the repeats differ too much for a reliable median: half of its 95 % interval is above 5 % (or above "
       "measure.relative_error), or a repeat is more than 15 % away from it",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.unstable; }},
      {"disturbed",
       "other processes, a hypervisor or the reclaim of memory took more than 10 % of the ranks' cores or "
       "time, or the ranks' CPU mask became smaller, in too many repeats to leave them out: measure again when the "
       "machine is free",
       [](const results::TrialResult& trial, const results::Figures&) { return results::is_disturbed(trial); }},
      {"partial", "ended before all its repeats or steps were measured",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.partial; }},
      {"buffer_fed",
       "the pipeline drained buffers filled earlier (images held fell by over 5 % of those trained): its true rate is "
       "lower",
       [](const results::TrialResult&, const results::Figures& figures) { return figures.buffer_fed; }},
      {"oversubscribed", "ranks x cores_per_rank exceeds the cores of this host: ranks slow each other down",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.oversubscribed; }},
      {"bad_records", "images or records could not be read and were skipped; trials.csv has their number",
       [](const results::TrialResult& trial, const results::Figures&) { return bad_records(trial) > 0; }},
      {"cache?", "the state of the page cache could not be verified (files of another owner, or in memory)",
       [](const results::TrialResult& trial, const results::Figures&) { return cache_not_verified(trial); }},
  };
  return instance;
}

std::vector<std::string> flags_of(const results::TrialResult& trial, const results::Figures& figures) {
  std::vector<std::string> words;
  for (const Flag& flag : flags()) {
    if (flag.applies(trial, figures)) words.emplace_back(flag.word);
  }
  return words;
}

}  // namespace chexbench::analysis
