// Forecasts how long a run takes, for `--dry-run`, from the speed of decoding its images here, and from the profiles of
// its accelerators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/rank_layout.hpp"
#include "results/record.hpp"
#include "verbs/advise/input_model.hpp"

namespace chexbench::verbs {

// Measures the cost of the images of the trial's data set here, in a repeat of three steps on all cores of this
// process, until `stop_at_s` by now_s() at the latest. Returns std::nullopt if that fails: the images are missing, or
// reading them takes too long. Not collective.
std::optional<InputCosts> measure_input_costs(const spec::TrialSpec& trial, double stop_at_s);

// Measures how many images/s the trial's network trains on one core of this process, in the second of two steps of two
// ready-made images, if its engine trains on CPUs. Returns std::nullopt at once for other engines, because those of
// GPUs first tune for minutes, and if it would last beyond `stop_at_s` by now_s(). Not collective.
std::optional<double> measure_training_rate(const spec::TrialSpec& trial, double stop_at_s);

// How long one repeat of a trial takes.
struct RepeatForecast {
  double repeat_s = 0;
  std::string unknown;  // what it leaves out, or empty: "what engine onednn computes"
};

// The basis of a trial's forecasts.
struct Tried {
  InputCosts costs;
  std::size_t images = 0;                               // of its split
  std::size_t validation_images = 0;                    // of Dataset::validation; 0: it is a share of the split
  std::optional<double> trained_images_per_s_per_core;  // as measure_training_rate()
};

// Forecasts a repeat of the trial by the model of `advise`. For a trial over epochs it is a training from its
// beginning, with a validation after each epoch. Pure, except for reading profiles. @throws SpecError as
// spec::load_profile()
RepeatForecast forecast_repeat(const results::TrialResult& trial, const Tried& tried, const bench::HostCores& host);

// A trial's forecast; empty if there is none.
struct TrialForecast {
  const spec::TrialSpec& spec;
  std::optional<RepeatForecast> repeat;
};

// Returns one sentence or a few about all trials: the approximate time, possible additions, and omissions. Pure.
std::string time_text(const std::vector<TrialForecast>& trials);

}  // namespace chexbench::verbs
