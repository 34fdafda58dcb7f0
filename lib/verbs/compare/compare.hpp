// Compares runs with earlier runs: which arms became better or worse, and what else differs between them. See README.md
// for the reasons behind the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "report/text_table.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// One side of the comparison: one run, or several runs of one experiment.
struct Side {
  std::string name;  // used in messages, e.g. its path
  std::vector<results::Report> runs;
};

struct CompareOptions {
  double threshold = 0.05;        // the relative change of images/s that counts; in (0, 1)
  bool across_machines = false;   // compare even if the machines differ
  std::vector<std::string> vary;  // keys that were meant to differ; nothing else may, unless it is empty
};

// The verdict on the new side of an arm. Undecided: the repeats vary too much to tell whether there is a change that
// counts.
enum class Verdict { better, same, worse, undecided, not_comparable };
// Returns the verdict in words: "not comparable".
std::string to_string(Verdict verdict);

// A value that differs between the sides. Several values on one side are joined by " | ".
struct Difference {
  std::string key;  // "training.batch_size" in the spec, "cpu" in the environment
  std::string base;
  std::string other;
  std::vector<std::string> hosts;  // with these values; empty if it is not about single hosts
  friend bool operator==(const Difference&, const Difference&) = default;
};

// The measurements of an arm on one side: the images/s of each valid repeat, or the median of each run's repeats.
struct Sample {
  std::vector<double> images_per_s;
  std::vector<double> free;  // the same by results::free_rate()
  double median() const { return measure::median(images_per_s); }
};

// One arm that is on both sides, and its verdict.
struct ComparedArm {
  std::string trial;
  bool emulated = false;
  Verdict verdict = Verdict::not_comparable;
  results::Grade grade = results::Grade::told_apart;  // how sure the verdict is, and why it is undecided
  Sample base;
  Sample other;
  std::optional<measure::Ratio> ratio;  // other / base, unpaired; empty if not comparable
  std::optional<double> cpu_ratio;      // CPU seconds per image, other / base; empty if not comparable or not measured
  std::vector<Difference> differences;  // in the spec or the platform: the arm is not comparable
  std::vector<Difference> allowed;      // if across_machines or vary allow them
  std::string note;                     // a sentence, or empty
};

// Two arms that differ in the fewest settings.
struct NearestArms {
  std::string base, other;
  std::vector<Difference> differences;
};

// The whole comparison.
struct RunComparison {
  std::string base;
  std::string other;
  CompareOptions options;
  bool by_runs = false;                 // each value is the median of a run, not one repeat
  std::vector<Difference> environment;  // of machine and libraries: comparable with across_machines only
  std::vector<Difference> remarks;      // others of hosts and builds, which never prevent a comparison
  std::vector<Difference> declared;     // those of the environment that vary allows
  std::vector<ComparedArm> arms;        // in the order of the base
  std::vector<std::string> only_in_base;
  std::vector<std::string> only_in_other;
  std::optional<NearestArms> nearest;  // if no trial is on both sides
};

// Decides whether a ratio is a change: it must differ from 1 by more than the threshold, and its whole interval must be
// on the same side of 1. Arms are the same only if the whole interval is within the threshold of 1, and undecided
// otherwise. Without an interval the threshold alone decides, and the grade of the arm says so. Never returns
// not_comparable.
Verdict judge(const measure::Ratio& ratio, double threshold);

// Compares the two sides trial by trial. Each side needs at least one run, and its runs must be of one experiment. A
// pure function; takes milliseconds per arm.
// @throws DataError if a side has no measured trial, has runs of several experiments, or has a rate that is not a
// positive finite number
// @throws SpecError if the threshold is out of range, or vary has an unknown key
RunComparison compare_runs(const Side& base, const Side& other, const CompareOptions& options);

// Returns the differences that options.vary should have named; none if it is empty.
std::vector<Difference> undeclared_differences(const RunComparison& comparison);

// Returns the comparison as "table", which is at most `width` wide where possible, "json" or "markdown".
std::string format_comparison(const RunComparison& comparison, const std::string& format,
                              const report::LineWidth& width = {});

// Returns the trial's spec as JSON without the settings that do not affect the measurement: the names of the experiment
// and the pipeline, the root of the data, and the limits on the repeats. It also leaves out cores_per_rank, which
// place_differences() compares by the cores that the ranks got. Trials with the same text are the same arm.
std::string arm_key(const results::TrialResult& trial);

// Compares the specs of two arms key by key: "pipeline.ops[2].parallel_calls".
std::vector<Difference> spec_differences(const results::TrialResult& base, const results::TrialResult& other);

// Compares the machines and libraries of all runs of the two sides.
std::vector<Difference> environment_differences(const Side& base, const Side& other);

// Compares what never prevents a comparison: the build, the libraries, and the state of each host. Hosts of other names
// are compared in the order of their ranks. What a side did not record, or did not load, is no difference.
std::vector<Difference> remarkable_differences(const Side& base, const Side& other);

// Returns whether `vary` names the key, a group that it belongs to, or the engine that it depends on.
bool is_declared(const std::vector<std::string>& vary, const std::string& key);

// @throws SpecError with the nearest name if `vary` has a key that is neither one of the spec nor of these runs'
// environments
void check_declared(const std::vector<std::string>& vary, const Side& base, const Side& other);

using ArmTrials = std::vector<const results::TrialResult*>;
// Compares the platforms of one arm's trials: the device, the cores of a rank, and the root of the data.
std::vector<Difference> place_differences(const ArmTrials& base, const ArmTrials& other);

// Compares the sources of an emulated engine's step times.
std::vector<Difference> source_differences(const ArmTrials& base, const ArmTrials& other);

}  // namespace chexbench::verbs
