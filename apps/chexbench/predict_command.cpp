#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "results/read.hpp"
#include "spec/document.hpp"
#include "spec/parse.hpp"
#include "spec/shipped.hpp"
#include "spec/sweep.hpp"
#include "verbs/comm/comm_result.hpp"
#include "verbs/predict/prediction_request.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::app {
namespace {

struct PredictArguments {
  verbs::PredictionRequest request;
  std::string config;
  std::vector<std::string> overrides;
  std::vector<std::string> reports;
  std::string comm;
  std::string input_rate;
  std::string scaling = "weak";
  std::vector<std::string> fit;
  std::vector<std::string> check;
  bool explain = false;
  std::string format = "table";
};

// Parses "16:1913", which means 1913 images/s on 16 ranks. `option` is for the message.
// @throws SpecError if `text` has another form or a number is out of range
verbs::ScalingPoint parse_point(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto ranks = parse_number<int>(text.substr(0, colon));
  const auto images_per_s = colon == std::string::npos ? std::nullopt : parse_number<double>(text.substr(colon + 1));
  if (!ranks || *ranks < 1 || *ranks > verbs::kMostRanks || !images_per_s || !(*images_per_s > 0)) {
    throw SpecError(
        fmt::format("{}: '{}' is not RANKS:IMAGES_PER_S, with 1 to {} ranks", option, text, verbs::kMostRanks));
  }
  return {.ranks = *ranks, .images_per_s = *images_per_s};
}

std::vector<verbs::ScalingPoint> parse_points(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<verbs::ScalingPoint> points;
  for (const std::string& text : texts) points.push_back(parse_point(option, text));
  return points;
}

// Returns the images/s of --input-rate, or std::nullopt if it comes from the reports.
// @throws SpecError if it is neither a positive number nor "measured", or if "measured" is given without a report
std::optional<double> parse_input_rate(const PredictArguments& arguments) {
  if (arguments.input_rate.empty()) return std::nullopt;
  if (arguments.input_rate == "measured") {
    if (arguments.reports.empty())
      throw SpecError("--input-rate measured: needs --report DIR of a run that measured it");
    return std::nullopt;
  }
  const auto rate = parse_number<double>(arguments.input_rate);
  if (!rate || !(*rate > 0)) {
    throw SpecError(fmt::format("--input-rate: '{}' is neither images/s above 0 nor 'measured'", arguments.input_rate));
  }
  return rate;
}

// Reads --comm: the name or path of a profile, or the path of an output of `chexbench comm`.
void read_comm(const std::string& comm, verbs::PredictionRequest& request) {
  if (comm.empty()) return;
  const std::vector<std::string> profiles = spec::names_of(spec::embedded_communication());
  if (std::ranges::find(profiles, comm) != profiles.end()) {
    request.comm_profile = comm;
    return;
  }
  std::error_code unknown;  // read_text_file() reports what is neither absent nor readable
  if (std::filesystem::status(comm, unknown).type() == std::filesystem::file_type::not_found) {
    throw SpecError(
        fmt::format("--comm: no communication profile or file '{}'{}", spec::shown(comm), suggestion(comm, profiles)));
  }
  const std::string text = spec::read_text_file(comm, "communication profile or result of chexbench comm");
  if (text.find("\"description\"") != std::string::npos) {  // a profile's, which an output of comm does not have
    request.comm_profile = comm;
    return;
  }
  request.measured_link = verbs::link_fit_from_json(text, comm);
}

std::string in_format(const PredictArguments& arguments, const verbs::Prediction& prediction) {
  if (arguments.format == "json") return verbs::prediction_json(prediction);
  if (arguments.format == "csv") return verbs::prediction_csv(prediction);
  return verbs::prediction_table(prediction, arguments.explain, stdout_width());
}

void run(const PredictArguments& arguments) {
  if (arguments.format == "csv" && arguments.request.for_ranks) {
    throw SpecError("--for-ranks: CSV has no row for what these ranks need; use --format table or json");
  }
  verbs::PredictionRequest request = arguments.request;
  request.input_images_per_s = parse_input_rate(arguments);
  request.fit = parse_points("--fit", arguments.fit);
  request.check = parse_points("--check", arguments.check);
  request.scaling = arguments.scaling == "weak" ? verbs::Scaling::weak : verbs::Scaling::strong;
  if (!arguments.config.empty()) request.trials = spec::expand(spec::load_spec(arguments.config, arguments.overrides));
  for (const std::string& folder : arguments.reports) {
    for (results::TrialResult& trial : results::read_report(folder).trials)
      request.measured.push_back(std::move(trial));
  }
  read_comm(arguments.comm, request);
  print(in_format(arguments, verbs::predict_all(request)), arguments.format);
}

void add_sources(CLI::App& verb, PredictArguments& arguments) {
  verbs::PredictionRequest& request = arguments.request;
  CLI::Option* const config =
      verb.add_option("--config", arguments.config, "Read the training from this spec of an experiment.");
  config->type_name("SPEC");
  add_set_option(verb, arguments.overrides, "Override a key of the spec.")->needs(config);
  verb.add_option("--report", arguments.reports,
                  "Take the images/s per core and the bytes per image from these runs (engine none).")
      ->type_name("DIR");
  verb.add_option("--accelerator", request.accelerator,
                  "Use this accelerator profile, given by its path or by its name in configs/accelerators.")
      ->type_name("PROFILE");
  add_precision_option(verb, request.precision, "Train in this precision (default: that of the spec or of the report).",
                       "");
  verb.add_option("--input-rate", arguments.input_rate,
                  "Assume this many images/s of input per rank; 'measured' takes them from --report.")
      ->type_name("RATE");
  verb.add_option("--cores-per-rank", request.cores_per_rank,
                  "Assume this many decoding cores per rank (default: as measured).")
      ->check(CLI::Range(1, 4096));
  verb.add_option("--storage-bytes-s", request.storage_bytes_per_s,
                  "Assume that the storage delivers this many bytes/s to all ranks together.")
      ->check(CLI::PositiveNumber);
}

void add_network(CLI::App& verb, PredictArguments& arguments) {
  verbs::PredictionRequest& request = arguments.request;
  verb.add_option("--alpha", request.alpha_s,
                  "Assume this latency of a message, in seconds (default: the spec's comm.alpha_s).")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--beta", request.beta_bytes_per_s,
                  "Assume this bandwidth of a link, in bytes/s (default: the spec's comm.beta_bytes_per_s).")
      ->check(CLI::PositiveNumber);
  verb.add_option("--launch", request.launch_s,
                  "Assume this fixed cost per gradient bucket, in seconds (default: the spec's comm.launch_s).")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--comm", arguments.comm,
                  "Add the cost of this communication software (a name from `chexbench list`, or a profile's file), or "
                  "take alpha and beta from a file that `chexbench comm --format json` printed.")
      ->type_name("PROFILE|FILE");
  verb.add_option("--link", request.link,
                  "Assume this link between hosts, by name: edr, fdr, 25gbe, ... (`chexbench list`).")
      ->type_name("LINK");
  verb.add_option("--host-link", request.host_link, "Assume this link between the ranks of a host, by name.")
      ->type_name("LINK");
  verb.add_option("--ranks-per-host", request.ranks_per_host, "Assume this many ranks on each host.")
      ->check(CLI::Range(1, verbs::kMostRanks).description(""));
  verb.add_option("--step-spread", request.step_spread,
                  "Assume this relative standard deviation of a rank's compute time per step (default: that of "
                  "--report's runs on real devices, else 0).")
      ->check(CLI::Range(0.0, 1.0));
  verb.add_option("--fit", arguments.fit,
                  "Fit alpha and beta to training runs, given as ranks and images/s, e.g. 2:315,4:589.")
      ->type_name("RANKS:RATE,...")
      ->delimiter(',');
  verb.add_option("--check", arguments.check,
                  "Compare the prediction with these training runs, without fitting to them.")
      ->type_name("RANKS:RATE,...")
      ->delimiter(',');
}

}  // namespace

void add_predict_command(CLI::App& app) {
  const auto arguments = std::make_shared<PredictArguments>();
  verbs::PredictionRequest& request = arguments->request;
  CLI::App* const verb =
      app.add_subcommand("predict", "Predicts images/s on 1 to 1,024 ranks, what limits them, and what they need.");
  add_sources(*verb, *arguments);
  add_network(*verb, *arguments);
  add_ranks_list(*verb, request.ranks, "Predict for these numbers of ranks, e.g. 1,2,4 (default: 1, 2, 4, ... 1024).")
      ->check(CLI::Range(1, verbs::kMostRanks).description(""));
  verb->add_option("--scaling", arguments->scaling,
                   "How to scale: weak gives each rank a whole batch, strong divides one batch among all ranks.")
      ->check(CLI::IsMember({"weak", "strong"}))
      ->capture_default_str();
  CLI::Option* const for_ranks =
      add_rank_count(*verb, "--for-ranks", request.for_ranks, verbs::kMostRanks,
                     "Also compute what this many ranks need.", "ask for one after the other");
  verb->add_option("--efficiency", request.efficiency,
                   "Compute what --for-ranks needs for this efficiency, relative to one rank that never waits.")
      ->check(CLI::Range(0.01, 1.0))
      ->needs(for_ranks)
      ->capture_default_str();
  verb->add_flag("--explain", arguments->explain,
                 "Show all rows, each limit at each number of ranks, and the assumptions.");
  add_format_option(*verb, arguments->format, {"table", "json", "csv"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
