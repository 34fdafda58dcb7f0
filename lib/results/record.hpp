// The result record: everything a report is made from. bench fills it; this room writes and reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_window.hpp"
#include "measure/op_counters.hpp"
#include "measure/statistics.hpp"
#include "measure/step_timings.hpp"
#include "measure/wait_book.hpp"
#include "spec/experiment.hpp"

namespace chexbench::results {

inline constexpr int kSchemaVersion = 1;

// The machine and build a result came from.
struct Environment {
  std::string chexbench_version;
  std::string date_utc;  // ISO 8601
  std::string host;
  std::string cpu;
  int cores = 0;
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string mpi;
  std::string instruction_set;    // baseline, avx2, avx512
  std::string gpu_driver;         // "580.65.06"; empty where NVML does not answer
  std::vector<std::string> gpus;  // names of the host's GPUs, by NVML
  std::vector<std::string> command_line;
};

// One measured step of one rank. next_s is the host's wait in pipeline.next().
struct StepRecord {
  int rank = 0;
  int step = 0;
  double next_s = 0;
  measure::StepTimings timings;
};

// One op of one rank's pipeline as a measured step ended. Queue and holdings are as they were then.
struct OpSample {
  int rank = 0;
  int step = 0;
  int op_index = 0;                // in the op list
  std::uint64_t elements_out = 0;  // since the window opened
  std::uint64_t queue_depth = 0;
  std::uint64_t images_held = 0;
  std::uint64_t bytes_held = 0;
};

// How well a trained network predicts one label of the validation images.
struct LabelScore {
  std::string label;
  std::optional<double> auroc;  // empty where all images or none have it
  std::optional<measure::Interval> auroc_ci95;
  std::uint64_t positives = 0;
  std::uint64_t negatives = 0;
};

// One epoch of a training, all ranks together.
struct EpochRecord {
  int epoch = 0;                     // from 1
  double learning_rate = 0;          // of its last step
  double training_loss = 0;          // mean over its steps
  double validation_loss = 0;        // mean over images and labels
  std::optional<double> mean_auroc;  // over the labels that have one
  std::optional<measure::Interval> mean_auroc_ci95;
  std::uint64_t validation_images = 0;
  double validation_s = 0;
  double elapsed_s = 0;  // since the training began, validations and checkpoints before included, pauses left out
  std::vector<LabelScore> scores;
};

// What NVML saw of the GPU of one rank.
struct GpuSeries {
  int rank = 0;
  std::string name;  // "NVIDIA H100 80GB HBM3"; empty where NVML does not tell
  std::string uuid;
  std::string problem;                      // why samples are missing: a sentence; empty where none are
  std::vector<measure::GpuSample> samples;  // in the measured window, the last one before it and the first one after
};

// One repeat of one trial: the journal's unit.
struct RepeatResult {
  int repeat = 0;
  double images_per_s = 0;              // local batch x ranks x steps / wall of the slowest rank
  double wall_s = 0;                    // of the slowest rank
  double spent_s = 0;                   // on rank 0, warm-up and preparation included: what measure.max_seconds bounds
  double ended_unix_s = 0;              // time of day on rank 0 as it ended
  std::uint64_t images_trained = 0;     // all ranks
  std::uint64_t images_decoded = 0;     // all ranks, in the window
  std::int64_t images_held_change = 0;  // decoded images held: at the end minus at the start, all ranks
  std::uint64_t bad_records = 0;
  bool buffer_fed = false;   // images held fell by more than 5 % of those trained
  double process_cpu_s = 0;  // CPU time of all ranks within the window
  double cpu_wait_s = 0;     // of all ranks' threads, ready to run without a core, within the window
  std::uint64_t bytes_read = 0;
  std::uint64_t storage_read_bytes = 0;     // that the kernel fetched from storage for the ranks
  std::string page_cache;                   // warm | cold | as_is | "cold (not verified)"
  std::uint64_t looked_at_bytes = 0;        // of the trial's files, on all hosts: up to 2000 of them, evenly spread
  std::uint64_t cached_bytes_before = 0;    // of those, in the page cache as the repeat began
  std::uint64_t cached_bytes_after = 0;     // and as it ended
  std::uint64_t peak_rss_bytes = 0;         // of the largest rank, since the repeat began
  std::uint64_t anonymous_rss_bytes = 0;    // largest seen after a step, of the largest rank
  double start_to_first_batch_s = 0;        // of rank 0, from the start of its process; 0 in all but its first repeat
  std::vector<StepRecord> steps;            // of all ranks
  std::vector<measure::OpCounters> ops;     // within the window, summed over ranks
  std::vector<measure::WaitBooking> waits;  // of all ranks: what the steps' wait_s is booked to
  std::vector<OpSample> op_samples;         // of all ranks; up to 200 steps each
  std::vector<GpuSeries> gpus;              // one for each rank whose engine computes on a GPU
  std::vector<EpochRecord> epochs;          // of a training over epochs
};

// What a trial's data set is.
struct DataFacts {
  std::uint64_t images = 0;  // of the split
  std::uint64_t files = 0;   // images, or shards
  std::uint64_t file_bytes = 0;
  std::uint64_t converted_images = 0;  // of the split, to the trial's format; 0 where that conversion is not known
  double conversion_s = 0;             // that it took
  std::uint64_t converted_bytes = 0;
  std::uint64_t patients_in_both_splits = 0;  // train and test
  std::string names_key;                      // hash of the images' names; empty where it is not known
};

// What the threads of one rank did in one repeat.
struct RankTrace {
  int rank = 0;
  double clock_shift_s = 0;         // from its host's clock to rank 0's
  std::uint64_t dropped_spans = 0;  // that came when its recording was full
  std::string events;               // of trace.json (trace.hpp)
};

struct TrialTrace {
  int repeat = 0;
  std::vector<RankTrace> ranks;
};

// One trial: its resolved spec and what was measured. Figures are derived (derive.hpp), never stored twice.
struct TrialResult {
  std::string trial;  // short name: the values of the swept keys, "naive png ranks=2"
  std::string key;    // hash of the resolved trial
  spec::Experiment spec;
  int ranks = 1;
  int cores_per_rank = 1;
  bool oversubscribed = false;  // ranks x cores_per_rank > cores
  bool emulated = false;
  std::string engine_device;
  std::string engine_source;
  std::vector<std::string> notes;
  bool unstable = false;
  bool partial = false;  // ended by a signal or an error before all repeats
  DataFacts data;
  std::vector<RepeatResult> repeats;
  std::optional<TrialTrace> trace;  // where the spec asks for one; in trace.json alone
};

// A sentence with its numbers.
struct Finding {
  std::string kind;  // "amplification", "pipeline_ratio", "starved", ... (findings.hpp)
  std::string text;
  bool emulated = false;  // rests on an emulated engine; the text says so, too
};

struct Report {
  std::string experiment;
  Environment environment;
  std::vector<TrialResult> trials;
  std::vector<Finding> findings;
  bool interrupted = false;
};

}  // namespace chexbench::results
