#include "model_command.hpp"

#include <memory>
#include <string>

#include "format_option.hpp"
#include "output.hpp"
#include "precisions.hpp"
#include "verbs/model/roofline.hpp"
#include "verbs/model/summarize_model.hpp"

namespace chexbench::app {
namespace {

struct ModelArguments {
  verbs::RooflineRequest request;  // without a profile, only the network and its image size count
  std::string profile;
  std::string format = "table";
};

void print_roofline(const ModelArguments& arguments) {
  verbs::Roofline roofline =
      verbs::compute_roofline(spec::load_profile(arguments.profile), arguments.request, verbs::built_in_profiles());
  roofline.chexbench_version = CHEXBENCH_VERSION;
  print(arguments.format == "json" ? verbs::roofline_json(roofline) : verbs::roofline_table(roofline, stdout_width()),
        arguments.format);
}

void run(const ModelArguments& arguments) {
  if (!arguments.profile.empty()) return print_roofline(arguments);
  verbs::ModelSummary network = verbs::summarize_model(arguments.request.model, arguments.request.image_size);
  network.chexbench_version = CHEXBENCH_VERSION;
  print(arguments.format == "json" ? verbs::model_json(network) : verbs::model_table(network, stdout_width()),
        arguments.format);
}

}  // namespace

void add_model_command(CLI::App& app) {
  const auto arguments = std::make_shared<ModelArguments>();
  CLI::App* const verb = app.add_subcommand(
      "model", "Print the layers of a network: output shapes, parameters, FLOPs and activation bytes of one image.");
  verbs::RooflineRequest& request = arguments->request;
  verb->add_option("name", request.model, "Print this network, named as in a spec: resnet50, densenet121, ...")
      ->required()
      ->type_name("NETWORK");
  verb->add_option("--image-size", request.image_size, "Use an input of this height and width, in pixels.")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  CLI::Option* const roofline =
      verb->add_option(
              "--roofline", arguments->profile,
              "Compute instead how fast the device of this profile trains the network, from its peak rates and "
              "the efficiency of its sourced entries.")
          ->type_name("PROFILE");
  verb->add_option("--batch-sizes", request.batch_sizes, "Compute for these local batches.")
      ->delimiter(',')
      ->check(CLI::Range(1, 65536))
      ->needs(roofline)
      ->capture_default_str();
  verb->add_option("--precision", request.precision, "Compute in this precision.")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->needs(roofline)
      ->option_text("TEXT:{f32,tf32,fp16,bf16}=f32");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
