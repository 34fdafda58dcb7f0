// Runs against earlier ones: which arms became better or worse. Why the rules are what they are: README.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "report/record.hpp"

namespace chexbench::report {

// One side: a run, or several of one experiment.
struct Side {
  std::string name;  // as messages call it, e.g. its path
  std::vector<Report> runs;
};

struct CompareOptions {
  double threshold = 0.05;  // of images/s, from which a change counts; in (0, 1)
  bool across_machines = false;
};

enum class Verdict { better, same, worse, not_comparable };
std::string to_string(Verdict verdict);  // "not comparable"

// What is not alike; several values on a side are joined by " | ".
struct Difference {
  std::string key;  // "training.batch_size" of the spec, "cpu" of the environment
  std::string base;
  std::string other;
};

// What one side measured of an arm: images/s of each repeat, or the median of each run's repeats.
struct Sample {
  std::vector<double> images_per_s;
  double median() const { return measure::median(images_per_s); }
};

struct ComparedArm {
  std::string trial;
  bool emulated = false;
  Verdict verdict = Verdict::not_comparable;
  Sample base;
  Sample other;
  std::optional<measure::Ratio> ratio;  // other / base, unpaired; empty where not comparable
  std::optional<double> cpu_ratio;      // of CPU seconds an image, new / base; empty where either was not measured
  std::vector<Difference> differences;  // of the spec, and of what the arm ran on
  std::vector<Difference> allowed;      // by across_machines: of what the arm ran on
  std::string note;                     // a sentence, or empty
};

struct RunComparison {
  std::string base;
  std::string other;
  CompareOptions options;
  bool by_runs = false;                 // a value is a run's median, not a repeat
  std::vector<Difference> environment;  // of the machine and its libraries: arms can't be compared, unless asked to
  std::vector<Difference> remarks;      // of host, kernel and version, which never stand in the way
  std::vector<ComparedArm> arms;        // in the order of the base
  std::vector<std::string> only_in_base;
  std::vector<std::string> only_in_other;
};

// Whether a change is one: the ratio lies beyond the threshold, and the whole interval on its side of 1. Without an
// interval the threshold decides alone.
Verdict judge(const measure::Ratio& ratio, double threshold);

// Each side needs a run, each run of one experiment. Pure; milliseconds an arm.
// @throws DataError where a side measured nothing, holds several experiments, or rates that nobody can have measured;
// SpecError for a threshold out of range
RunComparison compare_runs(const Side& base, const Side& other, const CompareOptions& options);

// "table", "json" or "markdown". @throws SpecError for another format
std::string format_comparison(const RunComparison& comparison, const std::string& format);

}  // namespace chexbench::report
