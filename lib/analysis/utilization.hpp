// Accelerator utilization (AU) as defined by MLPerf Storage and DLIO, and the part of the input that bounds it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr double kUsualTargetAu = 0.9;  // DLIO's default (utils/config.py: au)

// Returns the AU over some repeats of a trial: the computing time of the emulated accelerators / the time of the steps
// on all of them, including waits for the slowest rank. This is DLIO 2.0.0's definition (utils/statscounter.py:
// compute_metrics_train), which leaves out the first step of an epoch; a repeat leaves out its warm-up. Empty if the
// trial is not emulated or has no steps.
std::optional<double> accelerator_utilization(const results::TrialResult& trial,
                                              const std::vector<const results::RepeatResult*>& repeats);

// Returns the AU of each repeat that counts, in order, corresponding to DLIO's AU per epoch; their mean is judged.
std::vector<double> utilization_of_repeats(const results::TrialResult& trial);

// Returns whether the mean AU reaches measure.target_au, or DLIO's default without it. Empty without an AU.
std::optional<bool> passes(const results::TrialResult& trial);

// Returns the bottleneck of a trial that waits: "decode-bound, not storage-bound" if threads decode and resize an image
// for longer than they read it, "storage-bound, not decode-bound" if not, or "bound by shuffle" if most waits are for
// an op that does neither; "" if the waits were not attributed or may have outside causes.
std::string input_bound(const results::Figures& figures);

// Returns the sentence about the AU, with the subject `name`, if measure.target_au is set; else "".
std::string utilization_sentence(const results::TrialResult& trial, const results::Figures& figures,
                                 const std::string& name);

// Returns the finding of that sentence, of kind "au"; empty if there is none.
std::vector<results::Finding> utilization_findings(const results::TrialResult& trial, const results::Figures& figures);

// The sentences about whether an accelerator waits for its input, for the verdict of a trial and for `chexbench
// diagnose` of other programs' trainings.

// An accelerator starves if it waits for batches for at least this share of its time.
inline constexpr double kStarvedShare = 0.10;

// The numbers of one sentence.
struct Waiting {
  std::string name;  // the trial or training, subject of the sentence
  double wait_share = 0;
  double images_per_s = 0;
  double images_per_s_without_wait = 0;
  std::string why;                   // ", because of map (decode) 18 %", or empty
  std::optional<double> busy_share;  // empty if it was not measured
  std::string unit = "images";       // unit of the rates
};

// Returns the sentence for a wait_share of kStarvedShare or more, with `why`.
std::string starved_sentence(const Waiting& waiting);
// Returns the sentence for an accelerator that hardly waits, with `busy_share`.
std::string fed_sentence(const Waiting& waiting);

// Formats a share as "38 %".
std::string whole_percent(double share);

}  // namespace chexbench::analysis
