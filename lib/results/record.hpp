// The record of a run: plain data from which every report is made. bench fills it, and reports that are read back have
// the same form. Figures are not part of it; analysis/derive.hpp computes them. See repeat.hpp for the records of a
// repeat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu_survey.hpp"
#include "measure/statistics.hpp"
#include "results/repeat.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::results {

// The version of report.json and of the journal. Files with another version are refused. It grows when a key is removed
// or renamed, or changes its meaning, but not when one is added, because readers default missing keys.
inline constexpr int kSchemaVersion = 1;

// A host of the ranks, at the start of the run.
struct HostState {
  std::string host;
  std::string cpu;
  std::string kernel;
  std::string governors;           // as Environment::governors
  double load_before = kNotKnown;  // as Environment::load_before
  // As measure::CpuLayout has them.
  std::string turbo;
  std::string smt;
  std::string mitigations;
  std::vector<measure::NetworkInterface> nics;
  std::vector<measure::Striping> striping;  // of each trial's folder of data that is on a parallel file system
};
template <class Visitor, MaybeConst<HostState> Record>
void visit_fields(Visitor&& visit, Record& host) {
  visit("host", host.host);
  visit("cpu", host.cpu);
  visit("kernel", host.kernel);
  visit("governors", host.governors);
  visit("load_before", host.load_before);
  visit("turbo", host.turbo);
  visit("smt", host.smt);
  visit("mitigations", host.mitigations);
  visit("nics", host.nics);
  visit("striping", host.striping);
}

// The machine and the build that produced a result, as seen by rank 0.
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
  std::string instruction_set;                       // used by preprocessing: baseline, avx2 or avx512
  std::vector<std::string> unused_instruction_sets;  // as measure::Machine has them
  std::string gpu_driver;                            // "580.65.06"; empty if NVML does not answer
  std::vector<std::string> gpus;                     // names of the host's GPUs, by NVML
  std::vector<std::string> command_line;
  std::string revision;            // of the sources, by git; ends in "-dirty" if they were changed; empty if unknown
  std::string compiler;            // "GCC 12.2.0"
  std::string governors;           // "performance (40)": frequency governors and number of their CPUs; empty if unknown
  double load_before = kNotKnown;  // one-minute load average at the start of the run
  std::vector<std::string> rank_cores;  // of each rank: "node1: 0 1 2 3", the cores that the launcher gave it
  std::vector<HostState> hosts;         // of all ranks, each once, in the order of ranks
  std::vector<measure::LibraryVersion> libraries;  // for measuring and training; those loaded by rank 0 have a version
  std::string spec_file;  // to repeat the run if its command line has no --config; empty if there is none
  std::vector<std::string> spec_overrides;  // of spec_file
};
template <class Visitor, MaybeConst<Environment> Record>
void visit_fields(Visitor&& visit, Record& environment) {
  visit("chexbench_version", environment.chexbench_version);
  visit("date_utc", environment.date_utc);
  visit("host", environment.host);
  visit("cpu", environment.cpu);
  visit("cpu_kind", environment.cpu_kind);
  visit("cores", environment.cores);
  visit("memory_bytes", environment.memory_bytes);
  visit("kernel", environment.kernel);
  visit("mpi", environment.mpi);
  visit("instruction_set", environment.instruction_set);
  visit("unused_instruction_sets", environment.unused_instruction_sets);
  visit("command_line", environment.command_line);
  visit("gpu_driver", environment.gpu_driver);
  visit("gpus", environment.gpus);
  visit("revision", environment.revision);
  visit("compiler", environment.compiler);
  visit("governors", environment.governors);
  visit("load_before", environment.load_before);
  visit("rank_cores", environment.rank_cores);
  visit("hosts", environment.hosts);
  visit("libraries", environment.libraries);
  visit("spec_file", environment.spec_file);
  visit("spec_overrides", environment.spec_overrides);
}

// Facts about the data set of a trial.
struct DataFacts {
  std::uint64_t images = 0;  // of the split
  std::uint64_t files = 0;   // images, or shards
  std::uint64_t file_bytes = 0;
  std::uint64_t converted_images = 0;  // of the split, to the trial's format; 0 if no conversion is known
  double conversion_s = 0;             // how long the conversion took
  std::uint64_t converted_bytes = 0;
  std::uint64_t images_looked_at = 0;  // image files whose times were compared with the converted ones'
  std::uint64_t images_newer = 0;      // those of them that changed after the conversion
  std::optional<std::uint64_t> patients_in_both_splits;  // patients in train and in test; empty if unknown
  std::string names_key;                                 // hash of the images' names; empty if unknown
  std::string file_system;                               // type of the root's file system, "ext4"; empty for a server
};

// What the threads of one rank did in one repeat.
struct RankTrace {
  int rank = 0;
  double clock_shift_s = 0;         // seconds to add to its host's clock to get rank 0's
  std::uint64_t dropped_spans = 0;  // not kept, because the recording was full
  std::string events;               // lines of trace.json (rank_trace.hpp)
};
template <class Visitor, MaybeConst<RankTrace> Record>
void visit_fields(Visitor&& visit, Record& trace) {
  visit("rank", trace.rank);
  visit("clock_shift_s", trace.clock_shift_s);
  visit("dropped_spans", trace.dropped_spans);
  visit("events", trace.events);
}

// The trace of a trial: that of all ranks in one repeat.
struct TrialTrace {
  int repeat = 0;
  std::vector<RankTrace> ranks;
};

// One trial: its resolved spec and its measurements. Figures are derived (analysis/derive.hpp), never stored.
struct TrialResult {
  std::string name;  // the values of the swept keys, "naive images ranks=2"
  std::string key;   // hash of the resolved trial
  spec::TrialSpec spec;
  int ranks = 1;
  int cores_per_rank = 1;
  bool oversubscribed = false;  // ranks share cores
  bool emulated = false;
  bool step_time_computed = false;  // the step times of its emulated engine were computed, not measured anywhere
  // How many times slower than the scale model's full scale it was measured; 1 without a scale model. Cores, rates and
  // times of the repeats are at full scale, except for spent_s, ended_unix_s, disturbance and the times of ops.
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
// Leaves out the spec, the repeats and the trace.
template <class Visitor, MaybeConst<TrialResult> Record>
void visit_fields(Visitor&& visit, Record& trial) {
  visit("trial", trial.name);
  visit("key", trial.key);
  visit("ranks", trial.ranks);
  visit("cores_per_rank", trial.cores_per_rank);
  visit("oversubscribed", trial.oversubscribed);
  visit("emulated", trial.emulated);
  visit("step_time_computed", trial.step_time_computed);
  visit("scale_factor", trial.scale_factor);
  visit("engine_device", trial.engine_device);
  visit("engine_source", trial.engine_source);
  visit("notes", trial.notes);
  visit("unstable", trial.unstable);
  visit("partial", trial.partial);
  visit("images", trial.data.images);
  visit("files", trial.data.files);
  visit("file_bytes", trial.data.file_bytes);
  visit("converted_images", trial.data.converted_images);
  visit("conversion_s", trial.data.conversion_s);
  visit("converted_bytes", trial.data.converted_bytes);
  visit("images_looked_at", trial.data.images_looked_at);
  visit("images_newer", trial.data.images_newer);
  visit("patients_in_both_splits", trial.data.patients_in_both_splits);
  visit("image_names_key", trial.data.names_key);
  visit("file_system", trial.data.file_system);
}

// The certainty of a sentence, shared by tables, pages, JSON and exit codes (see labels.hpp for the texts).
enum class Grade {
  told_apart,        // the measurements support the sentence
  cannot_tell,       // the repeats vary too much to decide whether there is a difference
  machine_too_busy,  // interference may have caused or masked the difference
  sample_too_small,  // too few repeats, steps or images to decide
};

// Returns "told apart", "cannot be told", "machine too busy" or "sample too small".
const char* to_string(Grade grade);

// One conclusion from the numbers of the report: as a whole, and in parts for short output. Reports of old versions
// contain only the text.
struct Finding {
  std::string kind;       // "amplification", "starved", ...: see apps/chexbench/reference/README.md
  std::string text;       // one sentence or more, with its numbers
  bool emulated = false;  // depends on an emulated engine; so does the text
  Grade grade = Grade::told_apart;
  std::string trial;  // its subject; empty if it is about several
  // The trial that `trial` is compared with, if any: images/s of `trial` / images/s of `base`.
  std::string base;
  std::optional<measure::Ratio> ratio;
  // At most 12 words, with its number and without a full stop. If it is about one trial, a phrase with the trial as its
  // subject: "starves its accelerator 38 % of the time".
  std::string headline;
  std::string reason;   // one sentence; may be empty
  std::string advice;   // what to do, in one sentence; empty if nothing needs to be done
  std::string command;  // that does it, with SPEC if the spec of the run is unknown; empty if no single one does
  // Its cost: the largest share of the time, 0 to 1, that the trial, or the slower of the two, would save without its
  // cause. 1 if it makes figures unusable.
  double worth_share = 0;
};
template <class Visitor, MaybeConst<Finding> Record>
void visit_fields(Visitor&& visit, Record& finding) {
  visit("kind", finding.kind);
  visit("text", finding.text);
  visit("emulated", finding.emulated);
  visit("grade", to_string(finding.grade));
  if (!finding.trial.empty()) visit("trial", finding.trial);
  if (finding.ratio) {
    visit("base", finding.base);
    visit("ratio", finding.ratio->value);
    visit("ratio_ci95", finding.ratio->ci95);
  }
  if (finding.headline.empty()) return;
  visit("headline", finding.headline);
  visit("reason", finding.reason);
  visit("advice", finding.advice);
  visit("command", finding.command);
  visit("worth_share", finding.worth_share);
}

// One run.
struct Report {
  std::string experiment;
  Environment environment;
  std::vector<TrialResult> trials;
  std::vector<Finding> findings;
  bool interrupted = false;  // ended by a signal or an error before all trials were measured
};

}  // namespace chexbench::results
