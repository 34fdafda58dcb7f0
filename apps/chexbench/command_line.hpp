// The command line: all commands and options of chexbench. Each command has a source file, whose function adds it with
// its options to `app`, and a callback that prints results to stdout and throws chexbench's typed errors. A `session`
// must outlive the parsing of `app`; a `command_line` is recorded in reports.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI
namespace chexbench::bench {
class Session;
}

namespace chexbench::app {

// Adds every command and option to `app`. Their callbacks do the work while `app` parses.
void describe(CLI::App& app, bench::Session& session, const std::vector<std::string>& command_line);

// Parses `command_line`, the program's name first, which runs the verb. `help VERB` is `VERB --help`, and a first word
// that is a path but not a verb is the folder of `probe`.
// @throws CLI::ParseError if words are wrong, and also for --help and --version
// @throws the verb's errors
void parse(CLI::App& app, const std::vector<std::string>& command_line);

// Returns the message for a usage error. If a verb or an option is unknown, it suggests the nearest valid name.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

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

// `chexbench dev calibrate`: measures the engine of this machine and writes an accelerator profile.
void add_calibrate_command(CLI::App& app, bench::Session& session);

// `chexbench dev`: tests and times the engines, for developers. `selftest` throws ComparisonError if a result of this
// machine differs from golden values.
void add_dev_commands(CLI::App& app, bench::Session& session);

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

// Predicts images/s, and their limit, on more ranks than the machine has.
void add_predict_command(CLI::App& app);

// Hidden: the process that a run starts during a trial (bench/second_job).
void add_second_job_command(CLI::App& app);

}  // namespace chexbench::app
