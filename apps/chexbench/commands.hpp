// The commands of chexbench, a source file each. Each function adds a command with its options to `app`, and a callback
// that prints results to stdout and throws chexbench's typed errors. A `session` must outlive the parsing of `app`, and
// a `command_line` is recorded in reports.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace chexbench::bench {
class Session;
}

namespace chexbench::app {

// The heading in --help above commands that are not about measuring and training.
inline constexpr const char* kOtherCommands = "Other commands";

// `chexbench --config SPEC`, which runs an experiment and has no verb.
void add_run_options(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

// `chexbench probe DIR`, also run by `chexbench DIR`: an answer about a folder of images in a minute.
void add_probe_command(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

// `chexbench data index | check | synth | convert | stage`.
void add_data_commands(CLI::App& app);

// Tries ways to make a trial's input faster.
void add_advise_command(CLI::App& app, bench::Session& session);

// Measures the engine of this machine and writes an accelerator profile.
void add_calibrate_command(CLI::App& app, bench::Session& session);

// `chexbench dev selftest engine | updates | preprocess | interleave`: compares the results of this machine with golden
// values. ComparisonError if one differs.
void add_selftest_commands(CLI::App& app);

// Measures the cost of averaging gradients over ranks, by size.
void add_comm_command(CLI::App& app, bench::Session& session);

// Compares a run with an earlier one. ComparisonError if a trial became worse.
void add_compare_command(CLI::App& app);

// Prints scripts for shells and, hidden, the man page: both from the commands and options of `app`.
void add_completion_command(CLI::App& app);

// Explains why a training of another program is slow.
void add_diagnose_command(CLI::App& app);

// Reports what this machine and this build offer for training, mismatches, and anything that makes measurements
// invalid. DeviceError if something does not fit.
void add_doctor_command(CLI::App& app, bench::Session& session);

// Scores images with a trained network.
void add_evaluate_command(CLI::App& app, bench::Session& session);

// Makes experiments from files of other benchmarks.
void add_import_commands(CLI::App& app);

// Lists the built-in names.
void add_list_command(CLI::App& app);

// Prints the layers of a network.
void add_model_command(CLI::App& app);

// Prints the result of an earlier run as a table with the answer before it, an HTML page, Markdown, JSON or CSV.
void add_report_command(CLI::App& app);

// Measures and checks engine cuda's own kernels on this machine's GPU.
void add_kernel_sweep_command(CLI::App& app);

// Times cuDNN's convolution plans on this machine's GPU.
void add_plan_sweep_command(CLI::App& app);

// Predicts images/s, and their limit, on more ranks than the machine has.
void add_predict_command(CLI::App& app);

// Hidden: the process that a run starts during a trial (bench/second_job).
void add_second_job_command(CLI::App& app);

}  // namespace chexbench::app
