#include "predict_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/prediction_request.hpp"
#include "core/errors.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "report/comm.hpp"
#include "report/prediction.hpp"
#include "report/read.hpp"
#include "spec/parse.hpp"
#include "spec/sweep.hpp"
#include "spec/text_file.hpp"

namespace chexbench::app {
namespace {

struct PredictArguments {
  bench::PredictionRequest request;
  std::string config;
  std::vector<std::string> overrides;
  std::vector<std::string> reports;
  std::string comm;
  std::string input_rate;
  std::string scaling = "weak";
  std::vector<std::string> fit;
  std::vector<std::string> check;
  std::string format = "table";
};

template <class Value>
std::optional<Value> parse(std::string_view text) {
  Value value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "16:1913": images/s of so many ranks. @throws SpecError
bench::ScalingPoint parse_point(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto ranks = parse<int>(text.substr(0, colon));
  const auto images_per_s = colon == std::string::npos ? std::nullopt : parse<double>(text.substr(colon + 1));
  if (!ranks || *ranks < 1 || *ranks > bench::kMostRanks || !images_per_s || !(*images_per_s > 0)) {
    throw SpecError(
        fmt::format("{}: '{}' is not RANKS:IMAGES_PER_S, with 1 to {} ranks", option, text, bench::kMostRanks));
  }
  return {.ranks = *ranks, .images_per_s = *images_per_s};
}

std::vector<bench::ScalingPoint> parse_points(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<bench::ScalingPoint> points;
  for (const std::string& text : texts) points.push_back(parse_point(option, text));
  return points;
}

// @throws SpecError
std::optional<double> parse_input_rate(const PredictArguments& arguments) {
  if (arguments.input_rate.empty()) return std::nullopt;
  if (arguments.input_rate == "measured") {
    if (arguments.reports.empty())
      throw SpecError("--input-rate measured: needs --report DIR of a run that measured it");
    return std::nullopt;
  }
  const auto rate = parse<double>(arguments.input_rate);
  if (!rate || !(*rate > 0)) {
    throw SpecError(fmt::format("--input-rate: '{}' is neither images/s above 0 nor 'measured'", arguments.input_rate));
  }
  return rate;
}

void run(const PredictArguments& arguments) {
  bench::PredictionRequest request = arguments.request;
  request.input_images_per_s = parse_input_rate(arguments);
  request.fit = parse_points("--fit", arguments.fit);
  request.check = parse_points("--check", arguments.check);
  request.scaling = arguments.scaling == "weak" ? bench::Scaling::weak : bench::Scaling::strong;
  if (!arguments.config.empty()) request.trials = spec::expand(spec::load_spec(arguments.config, arguments.overrides));
  for (const std::string& folder : arguments.reports) {
    for (report::TrialResult& trial : report::read_report(folder).trials) request.measured.push_back(std::move(trial));
  }
  if (!arguments.comm.empty()) {
    request.link =
        report::link_fit_from_json(spec::read_text_file(arguments.comm, "result of chexbench comm"), arguments.comm);
  }
  report::Prediction prediction = bench::predict_all(request);
  prediction.chexbench_version = CHEXBENCH_VERSION;
  print(arguments.format == "json" ? report::prediction_json(prediction) : report::prediction_table(prediction));
}

void add_sources(CLI::App& verb, PredictArguments& arguments) {
  bench::PredictionRequest& request = arguments.request;
  CLI::Option* const config = verb.add_option("--config", arguments.config, "The training: an experiment's spec");
  config->type_name("SPEC");
  verb.add_option("--set", arguments.overrides, "Override a key of the spec")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(config);
  verb.add_option("--report", arguments.reports, "Runs with engine none: what a core delivers, bytes of an image")
      ->type_name("DIR");
  verb.add_option("--accelerator", request.accelerator, "A profile, by name or path (configs/accelerators)")
      ->type_name("PROFILE");
  verb.add_option("--input-rate", arguments.input_rate, "Images/s that the input of one rank delivers, or 'measured'")
      ->type_name("RATE");
  verb.add_option("--cores-per-rank", request.cores_per_rank, "Cores that decode (default: as measured)")
      ->check(CLI::Range(1, 4096));
  verb.add_option("--storage-bytes-s", request.storage_bytes_per_s, "What the storage delivers to all ranks together")
      ->check(CLI::PositiveNumber);
}

void add_network(CLI::App& verb, PredictArguments& arguments) {
  bench::PredictionRequest& request = arguments.request;
  verb.add_option("--alpha", request.alpha_s, "Latency of a message, s (default: the spec's comm.alpha_s)")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--beta", request.beta_bytes_per_s, "Bandwidth of a link, bytes/s")->check(CLI::PositiveNumber);
  verb.add_option("--launch", request.launch_s, "Fixed cost of a bucket, s")->check(CLI::NonNegativeNumber);
  verb.add_option("--comm", arguments.comm, "What `chexbench comm --format json` wrote: alpha and beta")
      ->type_name("FILE");
  verb.add_option("--fit", arguments.fit, "Fit alpha and beta to known trainings, 2:315,4:589")
      ->type_name("RANKS:RATE,...")
      ->delimiter(',');
  verb.add_option("--check", arguments.check, "Known trainings to compare with, not fitted")
      ->type_name("RANKS:RATE,...")
      ->delimiter(',');
}

}  // namespace

void add_predict_command(CLI::App& app) {
  const auto arguments = std::make_shared<PredictArguments>();
  bench::PredictionRequest& request = arguments->request;
  CLI::App* const verb = app.add_subcommand(
      "predict", "Images/s on 1 to 1024 ranks and what limits them, from measured input, a profile and a network");
  add_sources(*verb, *arguments);
  add_network(*verb, *arguments);
  verb->add_option("--ranks", request.ranks, "Numbers of ranks (default: 1, 2, 4, ... 1024)")
      ->delimiter(',')
      ->check(CLI::Range(1, bench::kMostRanks));
  verb->add_option("--scaling", arguments->scaling, "weak: a batch for each rank; strong: one batch shared by all")
      ->check(CLI::IsMember({"weak", "strong"}))
      ->capture_default_str();
  CLI::Option* const for_ranks = verb->add_option("--for-ranks", request.for_ranks, "What so many ranks need")
                                     ->check(CLI::Range(1, bench::kMostRanks));
  verb->add_option("--efficiency", request.efficiency, "Of --for-ranks, against one rank that never waits")
      ->check(CLI::Range(0.01, 1.0))
      ->needs(for_ranks)
      ->capture_default_str();
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
