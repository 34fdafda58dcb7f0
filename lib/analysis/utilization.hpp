// Accelerator utilization (AU) as MLPerf Storage and DLIO judge it, and what of the input it is bound by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr double kUsualTargetAu = 0.9;  // DLIO's default (utils/config.py: au)

// Returns the AU over some repeats of a trial: the computing time of the emulated accelerators / the time that the
// steps took on all of them, which includes that for which ranks waited for the slowest one. So DLIO 2.0.0 computes it
// (utils/statscounter.py: compute_metrics_train), which leaves out the first step of an epoch as a repeat leaves out
// its warm-up. Empty if the trial is not emulated or has no steps.
std::optional<double> accelerator_utilization(const results::TrialResult& trial,
                                              const std::vector<const results::RepeatResult*>& repeats);

// Returns the AU of each repeat that counts, in their order, as DLIO has one of each epoch; its mean is what is judged.
std::vector<double> utilization_of_repeats(const results::TrialResult& trial);

// Returns whether the mean AU reaches measure.target_au, or DLIO's default without it. Empty without an AU.
std::optional<bool> passes(const results::TrialResult& trial);

// Returns what holds a trial up that waits: "decode-bound, not storage-bound" if threads decode and resize an image for
// longer than they read it, "storage-bound, not decode-bound" if not, or "bound by shuffle" if most waits are for an op
// that does neither; "" if the waits were not attributed or may not be the trial's own doing.
std::string input_bound(const results::Figures& figures);

// Returns the sentence about an AU that measure.target_au asks for, whose subject is `name`; "" if it does not.
std::string utilization_sentence(const results::TrialResult& trial, const results::Figures& figures,
                                 const std::string& name);

// Returns the finding of that sentence, of kind "au"; empty if there is none.
std::vector<results::Finding> utilization_findings(const results::TrialResult& trial, const results::Figures& figures);

// The sentences that say whether an accelerator waits for its input. The verdict of a trial uses them, and so does
// `chexbench diagnose` for trainings of other programs.

// An accelerator starves if it waits for batches for at least this share of its time.
inline constexpr double kStarvedShare = 0.10;

// The numbers of one sentence.
struct Waiting {
  std::string name;  // of the trial or training, the subject of the sentence
  double wait_share = 0;
  double images_per_s = 0;
  double images_per_s_without_wait = 0;
  std::string why;                   // ", because of map (decode) 18 %", or empty
  std::optional<double> busy_share;  // empty if it was not measured
  std::string unit = "images";       // what the rates count
};

// Returns the sentence for a wait_share of kStarvedShare or more, with `why`.
std::string starved_sentence(const Waiting& waiting);
// Returns the sentence for an accelerator that hardly waits, with `busy_share`.
std::string fed_sentence(const Waiting& waiting);

// Formats images/s with one decimal below 100 and none from there: "3.8" for a CPU that trains, "812" for a pipeline.
std::string rate(double images_per_s);

// Formats a share as "38 %".
std::string whole_percent(double share);

}  // namespace chexbench::analysis
