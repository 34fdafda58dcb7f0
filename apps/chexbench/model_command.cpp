#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verbs/model/model_summary.hpp"
#include "verbs/model/op_timing.hpp"
#include "verbs/model/roofline.hpp"

namespace chexbench::app {
namespace {

struct ModelArguments {
  verbs::RooflineRequest request;  // without a profile, only the network and its image size count
  std::string profile;
  bool times_ops = false;
  std::string format = "table";
};

void print_roofline(const ModelArguments& arguments) {
  const verbs::Roofline roofline =
      verbs::compute_roofline(spec::load_profile(arguments.profile), arguments.request, verbs::built_in_profiles());
  print(arguments.format == "json" ? verbs::roofline_json(roofline) : verbs::roofline_table(roofline, stdout_width()),
        arguments.format);
}

void print_op_times(const ModelArguments& arguments) {
  const verbs::RooflineRequest& request = arguments.request;
  if (request.batch_sizes.size() != 1)
    throw SpecError("model: --time-ops trains with one local batch; give one number to --batch-sizes");
  const verbs::OpTiming timing = verbs::time_ops({.model = request.model,
                                                  .image_size = request.image_size,
                                                  .precision = request.precision,
                                                  .batch_size = request.batch_sizes.front()});
  print(arguments.format == "json" ? verbs::op_timing_json(timing) : verbs::op_timing_table(timing, stdout_width()),
        arguments.format);
}

void run(const ModelArguments& arguments) {
  if (!arguments.profile.empty()) return print_roofline(arguments);
  if (arguments.times_ops) return print_op_times(arguments);
  const verbs::ModelSummary network = verbs::summarize_model(arguments.request.model, arguments.request.image_size);
  print(arguments.format == "json" ? verbs::model_json(network) : verbs::model_table(network, stdout_width()),
        arguments.format);
}

}  // namespace

void add_model_command(CLI::App& app) {
  const auto arguments = std::make_shared<ModelArguments>();
  CLI::App* const verb =
      app.add_subcommand("model", "Lists a network's layers: shapes, parameters, FLOPs, activation bytes.");
  verbs::RooflineRequest& request = arguments->request;
  verb->add_option("name", request.model, "Print this network, named as in a spec: resnet50, densenet121, ...")
      ->required()
      ->type_name("NETWORK");
  add_in_range(*verb, "--image-size", request.image_size, 1, 4096, "Use an input of this height and width, in pixels.");
  CLI::Option* const roofline = verb->add_option("--roofline", arguments->profile,
                                                 "Compute instead how fast the device of this profile trains it, from "
                                                 "peak rates and published efficiencies.")
                                    ->type_name("PROFILE");
  CLI::Option* const time_ops =
      verb->add_flag("--time-ops", arguments->times_ops,
                     "Train it instead for seven steps on the CPU, and print how long each kind of op takes.")
          ->excludes(roofline);
  CLI::Option* const batch_sizes =
      add_in_range(*verb, "--batch-sizes", request.batch_sizes, 1, 65536,
                   "With --roofline or --time-ops: compute for these local batch sizes; --time-ops takes one.")
          ->delimiter(',');
  CLI::Option* const precision = add_precision_option(
      *verb, request.precision, "With --roofline or --time-ops: compute in this precision.", "=f32");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([=] {
    for (const CLI::Option* option : {batch_sizes, precision}) {
      if (!option->empty() && roofline->empty() && time_ops->empty())
        throw CLI::RequiresError(option->get_name(), "--roofline or --time-ops");
    }
    run(*arguments);
  });
}

}  // namespace chexbench::app
