// What `chexbench DIR` measures: the possible ways to read a data set, and how long each is measured. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "dataset/index_report.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// A way to read the data set: a trial that drops its batches.
struct WayToRead {
  std::string name;      // ProbedWay::name
  std::string settings;  // ProbedWay::settings
  spec::TrialSpec trial;
};

// Returns the original images, if there are any, then JPEGs decoded at a scale if most are JPEGs, then the readable
// shards of each format. If shards have one split only, all ways read that one, so that they are comparable.
// @throws DataError with the remedy, if nothing can be read
std::vector<WayToRead> ways_to_read(const dataset::IndexReport& index, const spec::DataSpec& data);

// The result of a short first repeat of a way.
struct FirstLook {
  double images_per_s = 0;
  double repeat_s = 0;    // of the whole repeat
  double measured_s = 0;  // of its warm-up steps and measured steps
};

// Returns steps, repeats and batch for `ways` ways that take turns for `left_s` seconds, so that five repeats of each
// end in time: repeats of up to 3 s if there is time, smaller batches if there is hardly any. They end once half of the
// 95 % interval is within 2 % of the median, or at the end of the way's share of the time.
struct ProbePlan {
  spec::MeasureSpec measure;
  int batch_size = 0;
};
ProbePlan plan_probe(const FirstLook& slowest, std::size_t ways, double left_s, int ranks);

// Returns the settings of the first look itself.
spec::MeasureSpec first_look_measure();

// Returns a name for the folder of results and the experiment: that of the data set's folder, with other characters
// than letters, digits and -_. replaced.
std::string probe_name(const std::string& root);

}  // namespace chexbench::verbs
