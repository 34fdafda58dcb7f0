// The record of a run: plain data from which every report is made. bench fills it, and reports that are read back have
// the same form. Figures are not part of it; analysis/derive.hpp computes them.
//
// Durations are in seconds, sizes in bytes. Times of steps and samples (end_s, time_s) are from CLOCK_MONOTONIC of the
// rank's host, so they can be compared between the ranks of one host, but not between hosts.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "measure/auroc.hpp"
#include "measure/gpu_libraries.hpp"
#include "measure/gpu_window.hpp"
#include "measure/scores.hpp"
#include "measure/statistics.hpp"
#include "measure/step_timings.hpp"
#include "measure/wait_book.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::results {

// The version of report.json and of the journal. Files with another version are refused. It grows when a key is
// removed, renamed or gets another meaning; a key that is added leaves it, because readers keep the default of a
// missing one.
inline constexpr int kSchemaVersion = 1;

// A measurement that was not made; report.json has null there, and what an older version wrote has no such key.
inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// One of the hosts that ranks ran on, as the run began.
struct HostState {
  std::string host;
  std::string cpu;
  std::string kernel;
  std::string governors;           // as Environment::governors
  double load_before = kNotKnown;  // as Environment::load_before
};

// The machine and the build that a result came from, as rank 0 saw them.
struct Environment {
  std::string chexbench_version;
  std::string date_utc;  // ISO 8601
  std::string host;
  std::string cpu;
  int cores = 0;
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string mpi;
  std::string cpu_kind;                              // as measure::Machine has it
  std::string instruction_set;                       // that preprocessing uses: baseline, avx2 or avx512
  std::vector<std::string> unused_instruction_sets;  // as measure::Machine has them
  std::string gpu_driver;                            // "580.65.06"; empty if NVML does not answer
  std::vector<std::string> gpus;                     // names of the host's GPUs, by NVML
  std::vector<std::string> command_line;
  std::string revision;   // of the sources, by git; "-dirty" behind it if they were changed; empty if not known
  std::string compiler;   // "GCC 12.2.0"
  std::string governors;  // "performance (40)": frequency governors and the CPUs that they control; empty if not known
  double load_before = kNotKnown;       // one-minute load average as the run began
  std::vector<std::string> rank_cores;  // of each rank: "node1: 0 1 2 3", the cores that the launcher left to it
  std::vector<HostState> hosts;         // of all ranks, each once, in the order of ranks
  std::vector<measure::LibraryVersion> libraries;  // that measure or train: those that rank 0 loaded have a version
  std::string spec_file;  // that runs the same again, where the command line has no --config; empty if there is none
  std::vector<std::string> spec_overrides;  // of spec_file
};

// One measured step of one rank.
struct StepRecord {
  int rank = 0;
  int step = 0;       // from 0, without the warm-up steps
  double next_s = 0;  // the host's wait in pipeline.next(); the device may still compute meanwhile
  measure::StepTimings timings;
};

// The state of one op of one rank's pipeline when a measured step ended.
struct OpSample {
  int rank = 0;
  int step = 0;
  int op_index = 0;                // position in the op list, from 0
  std::uint64_t elements_out = 0;  // since the measured window began
  std::uint64_t queue_depth = 0;   // elements that were ready
  std::uint64_t images_held = 0;   // decoded images in its buffers and queue
  std::uint64_t bytes_held = 0;
};

// A value of a parameter that was tried.
struct TuningPoint {
  std::int64_t value = 0;
  double images_per_s = 0;  // of all ranks, in the best of the windows in which it was tried
  double gain = 1;          // its rate over that of the value that was chosen, measured in turn
};

// The value that was found for a parameter of an op that is "auto" (bench/tuning.hpp).
struct OpTuning {
  int op_index = 0;       // position in the op list, from 0
  std::string op;         // "map"
  std::string parameter;  // "parallel_calls"
  std::int64_t value = 0;
  std::string reason;               // "6 added 0.8 %, 3 lost 5.1 %"
  std::vector<TuningPoint> points;  // by value; empty if there was nothing to choose
};

// How well a trained network predicts one label of the validation images.
struct LabelScore {
  std::string label;
  std::optional<double> auroc;  // empty if all images or none have it
  std::optional<measure::Interval> auroc_ci95;
  std::uint64_t positives = 0;  // images that have it
  std::uint64_t negatives = 0;
};

// How well the probabilities of one label separate the validation images, and whether they mean what they say.
struct LabelCurves {
  std::string label;
  measure::RocCurve roc;
  measure::Reliability reliability = {};
};

// One epoch of a training, all ranks together.
struct EpochRecord {
  int epoch = 0;                     // from 1
  double learning_rate = 0;          // of its last step
  double training_loss = 0;          // mean over its steps
  double validation_loss = 0;        // mean over images and labels, or over images if an image has one class
  std::optional<double> mean_auroc;  // over the labels that have one
  std::optional<measure::Interval> mean_auroc_ci95;
  std::optional<double> top1;  // of exclusive classes, in place of mean_auroc
  std::optional<measure::Interval> top1_ci95;
  std::optional<double> top5;
  std::uint64_t validation_images = 0;
  double validation_s = 0;  // time that the validation took
  double elapsed_s = 0;     // since the training began: validations and earlier checkpoints count, pauses do not
  std::vector<LabelScore> scores;
  std::vector<LabelCurves> curves;  // of the best epoch of a repeat so far; empty for the others
};

// What NVML saw of the GPU of one rank.
struct GpuSeries {
  int rank = 0;
  std::string name;  // "NVIDIA H100 80GB HBM3"; empty if NVML does not report it
  std::string uuid;
  std::string problem;                      // a sentence that says why samples are missing; empty if none are
  std::vector<measure::GpuSample> samples;  // in the measured window, with the nearest one before it and after it
};

// What kept the ranks' cores from them in a repeat, warm-up steps included: sums over ranks.
struct Disturbance {
  double core_s = 0;          // cores x time; 0 if it was not measured: ranks share cores, or the kernel does not tell
  double others_s = 0;        // of core_s: other processes, and the kernel's own threads
  double steal_s = 0;         // of core_s: a hypervisor ran something else
  double own_cpu_s = 0;       // of core_s: the ranks themselves
  double own_wait_s = 0;      // of the ranks' threads: ready to run, but without a core
  double span_s = 0;          // time
  double throttled_s = 0;     // of the cores of the rank's cgroup: its CPU limit stopped them
  double lost_core_s = 0;     // cores that had left the rank's CPU mask by the end x time
  double memory_stall_s = 0;  // of span_s: threads of the host waited for memory to be reclaimed
};

// What a second job (spec second_job) did in a repeat: beside the trial in its measured window, and alone for as long
// right after it. Sums over hosts. Rates are empty where there was none, or where its kind has no such rate.
struct SecondJobResult {
  std::optional<double> images_per_s;        // beside the trial; kinds input, training and both
  std::optional<double> alone_images_per_s;  // alone
  std::optional<double> bytes_per_s;         // beside the trial; kinds memory and storage
  std::optional<double> alone_bytes_per_s;   // alone
  double cpu_s = 0;                          // of the job beside the trial
  double span_s = 0;                         // for which it was measured there
};

// One repeat of one trial, which is the unit of the journal. Counts and times cover the measured window, which begins
// after the warm-up steps, unless a comment says otherwise.
struct RepeatResult {
  int repeat = 0;
  double images_per_s = 0;  // local batch x ranks x steps / wall of the slowest rank
  double wall_s = 0;        // of the slowest rank
  double spent_s = 0;       // on rank 0, with warm-up and preparation; measure.max_seconds limits the sum over repeats
  double ended_unix_s = 0;  // Unix time on rank 0 when the repeat ended
  std::uint64_t images_trained = 0;     // all ranks
  std::uint64_t images_decoded = 0;     // all ranks
  std::int64_t images_held_change = 0;  // decoded images that pipelines hold: at the end minus at the start, all ranks
  std::uint64_t bad_records = 0;        // images or records that could not be read and were skipped
  bool buffer_fed = false;              // images_held_change is below -5 % of images_trained
  double process_cpu_s = 0;             // CPU time of all ranks
  double cpu_wait_s = 0;                // of all ranks' threads: ready to run, but without a core
  Disturbance disturbance;
  SecondJobResult second_job;
  std::uint64_t bytes_read = 0;             // by the ops of all ranks, page cache hits included
  std::uint64_t storage_read_bytes = 0;     // fetched by the kernel from storage for the ranks
  std::string page_cache;                   // warm | cold | as_is | "cold (not verified)"
  std::uint64_t looked_at_bytes = 0;        // of up to 2000 of the trial's files, evenly spread; sum over hosts
  std::uint64_t cached_bytes_before = 0;    // part of looked_at_bytes in the page cache when the repeat began
  std::uint64_t cached_bytes_after = 0;     // and when it ended
  std::uint64_t peak_rss_bytes = 0;         // of the largest rank, since the repeat began
  std::uint64_t anonymous_rss_bytes = 0;    // largest value after a step, of the largest rank
  double start_to_first_batch_s = 0;        // of rank 0, from the start of its process; 0 except in its first repeat
  std::vector<StepRecord> steps;            // of all ranks; one of the last rank is last
  std::vector<measure::OpCounters> ops;     // within the window, summed over ranks
  std::vector<measure::WaitBooking> waits;  // of all ranks: the ops that the steps' wait_s is attributed to
  std::vector<OpSample> op_samples;         // of all ranks; up to 200 steps each
  std::vector<GpuSeries> gpus;              // one for each rank whose engine computes on a GPU
  std::vector<EpochRecord> epochs;          // of a training over epochs
  std::vector<OpTuning> tunings;            // what it ran with where the spec says "auto"; of all ranks
};

// Facts about the data set of a trial.
struct DataFacts {
  std::uint64_t images = 0;  // of the split
  std::uint64_t files = 0;   // images, or shards
  std::uint64_t file_bytes = 0;
  std::uint64_t converted_images = 0;  // of the split, to the trial's format; 0 if no conversion is known
  double conversion_s = 0;             // how long the conversion took
  std::uint64_t converted_bytes = 0;
  std::uint64_t images_looked_at = 0;  // image files beside the converted ones whose time was compared with theirs
  std::uint64_t images_newer = 0;      // of them, those that changed after the conversion
  std::optional<std::uint64_t> patients_in_both_splits;  // patients in train and in test; empty if unknown
  std::string names_key;                                 // hash of the images' names; empty if unknown
  std::string file_system;                               // type of the root's file system, "ext4"; empty for a server
};

// What the threads of one rank did in one repeat.
struct RankTrace {
  int rank = 0;
  double clock_shift_s = 0;         // added to its host's clock gives rank 0's, in seconds
  std::uint64_t dropped_spans = 0;  // not kept, because the recording was full
  std::string events;               // lines of trace.json (rank_trace.hpp)
};

// The trace of a trial: that of all ranks in one repeat.
struct TrialTrace {
  int repeat = 0;
  std::vector<RankTrace> ranks;
};

// One trial: its resolved spec and what was measured of it. Figures are derived (analysis/derive.hpp), never stored.
struct TrialResult {
  std::string name;  // the values of the swept keys, "naive png ranks=2"
  std::string key;   // hash of the resolved trial
  spec::TrialSpec spec;
  int ranks = 1;
  int cores_per_rank = 1;
  bool oversubscribed = false;  // ranks share cores
  bool emulated = false;
  bool step_time_computed = false;  // the step times of its emulated engine were computed, not measured anywhere
  // How many times slower than the scale model's full scale it was measured; 1 if it is none. Cores, rates and times of
  // the repeats are at full scale, except for spent_s, ended_unix_s, disturbance and the times of ops.
  double scale_factor = 1;
  std::string engine_device;       // "NVIDIA H100 80GB HBM3", or the CPU
  std::string engine_source;       // where the step times of an emulated engine come from
  std::vector<std::string> notes;  // sentences of the engine for readers of the report
  bool unstable = false;           // the repeats differ too much for a reliable median (bench/stopping.hpp)
  bool partial = false;            // a signal, an error or measure.max_seconds ended it before all repeats
  DataFacts data;
  std::vector<RepeatResult> repeats;
  std::optional<TrialTrace> trace;  // if measure.trace is set; written to trace.json only
};

// How sure a sentence is, in the words that tables, pages, JSON and exit codes share (labels.hpp has their texts).
enum class Grade {
  told_apart,        // what was measured suffices for what the sentence says
  cannot_tell,       // the repeats differ too much to say whether there is a difference
  machine_too_busy,  // interference may have caused or masked the difference
  sample_too_small,  // too few repeats, steps or images to say
};

// One thing that the numbers of the report mean: as a whole, and in parts for those who want it short. Reports of
// versions before the parts have the text alone.
struct Finding {
  std::string kind;       // "amplification", "starved", ...: apps/chexbench/reference/README.md lists all
  std::string text;       // one sentence or more, with its numbers
  bool emulated = false;  // depends on an emulated engine; the text says so, too
  Grade grade = Grade::told_apart;
  std::string trial;  // that it is about; empty if it is about several
  // What it compares `trial` with, if it does: images/s of `trial` / images/s of `base`.
  std::string base;
  std::optional<measure::Ratio> ratio;
  // At most 12 words, with its number and without a full stop. If it is about one trial, a phrase that has the trial as
  // its subject: "starves its accelerator 38 % of the time".
  std::string headline;
  std::string reason;   // one sentence; may be empty
  std::string advice;   // one sentence that says what to do; empty if nothing needs to be done
  std::string command;  // that does it, with SPEC where the spec of the run is not known; empty if no single one does
  // What it costs: the share of the time, 0 to 1, that the trial, or the slower of the two, would save at most without
  // its cause. 1 if figures must not be used because of it.
  double worth_share = 0;
};

// One run.
struct Report {
  std::string experiment;
  Environment environment;
  std::vector<TrialResult> trials;
  std::vector<Finding> findings;
  bool interrupted = false;  // ended by a signal or an error before all trials were measured
};

}  // namespace chexbench::results
