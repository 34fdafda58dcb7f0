// Pairs of trials: which arms of a run can be compared, in which setting they differ, and what the comparison says.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/verdict.hpp"
#include "results/figures.hpp"
#include "results/record.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"

namespace chexbench::analysis {

// A measured trial and its figures. The trial must outlive it.
struct Measured {
  const results::TrialResult& trial;
  results::Figures figures;

  double images_per_s() const { return *figures.images_per_s; }
  bool has_engine() const { return spec::has_engine(trial.spec); }
  std::string name() const;  // with the mark of an emulated trial
};
using Trials = std::vector<Measured>;

// Returns the measured trials in their order, with their figures; `figures` contains those of all trials.
Trials measured_trials(const std::vector<results::TrialResult>& trials, std::vector<results::Figures> figures);
Trials measured_trials(const std::vector<results::TrialResult>& trials);

// Returns the trial with the most ranks of each arm. Readers who want to scale care about these.
Trials widest(const Trials& trials);

// A setting in which arms are compared.
struct Aspect {
  const char* kind;                                     // the kind of its findings
  spec::LeaveOut leave_out;                             // sets it to its default
  std::string (*name_of)(const spec::TrialSpec& spec);  // its value, in a word or two
};

// Returns the settings of the input, "pipeline_ratio" first: pipeline, format and storage.
std::span<const Aspect> input_aspects();

// Finds trials that differ in one setting alone, which `leave_out` leaves out. The trials must outlive it.
class Rivals {
 public:
  Rivals(const Trials& trials, spec::LeaveOut leave_out);

  // Returns the first of the trials that differs from `trial` in that setting alone and satisfies `accepts`; null if
  // there is none.
  template <class Accepts>
  const Measured* first(const Measured& trial, Accepts accepts) {
    for (const std::size_t index : alike_.with(trial.trial.spec)) {
      const Measured& other = trials_[index];
      if (accepts(other) && !(other.trial.spec == trial.trial.spec)) return &other;
    }
    return nullptr;
  }

 private:
  const Trials& trials_;
  spec::Alike alike_;
};

// A trial, the first one before it that differs from it in one aspect alone, and images/s of one / images/s of the
// other, over rounds in which both were measured.
struct Pair {
  const Measured& trial;
  const Measured& base;
  measure::Ratio ratio;
  results::Grade grade;

  // Return the value of the aspect in which the two differ, or their names if the values look the same.
  std::string trial_name(const Aspect& aspect) const;
  std::string base_name(const Aspect& aspect) const;
};

// Returns the two as a pair; nothing if they share no round.
std::optional<Pair> pair_of(const Measured& trial, const Measured& base);

// Returns the pairs of each of `trials` with one of `all`, in their order. They point into both arguments.
std::vector<Pair> pairs(const Trials& trials, const Trials& all, const Aspect& aspect);

// Returns the arms that an answer compares: none over ready-made batches if others have a pipeline, and none without
// training if others train.
Trials competitors(const Trials& arms);

// A pair and the setting in which its trials differ.
struct Choice {
  Pair pair;
  const Aspect* aspect = nullptr;
};

// Returns the pair that matters most: arms that differ in their pipeline alone, or else in their format, their storage
// or other settings; and of these the fastest that differs from the first. Points into the arguments.
std::optional<Choice> choose_pair(const Trials& chosen, const Trials& all);

// Returns why the order of the pair is unknown, with the figures `measured` and what disturbed it, without a full stop;
// empty if it is known.
std::string why_unclear(const Pair& pair, const std::string& trial, const std::string& base,
                        const std::string& measured, const std::string& disturbances = "");

// Returns "A delivers 3.45 x the images/s of B (95 % interval 3.30 to 3.61): 812 against 235", without a full stop, or
// why the two cannot be told apart.
std::string compared(const Pair& pair);

// Returns the finding of a pair. Its headline calls the base `base_name`.
results::Finding comparison(const char* kind, const Pair& pair, std::string text, const std::string& base_name);

}  // namespace chexbench::analysis
