#include "model_command.hpp"

#include <memory>
#include <string>

#include "format_option.hpp"
#include "output.hpp"
#include "verbs/model/summarize_model.hpp"

namespace chexbench::app {
namespace {

struct ModelArguments {
  std::string name;
  int image_size = 224;
  std::string format = "table";
};

void run(const ModelArguments& arguments) {
  verbs::ModelSummary network = verbs::summarize_model(arguments.name, arguments.image_size);
  network.chexbench_version = CHEXBENCH_VERSION;
  print(arguments.format == "json" ? verbs::model_json(network) : verbs::model_table(network));
}

}  // namespace

void add_model_command(CLI::App& app) {
  const auto arguments = std::make_shared<ModelArguments>();
  CLI::App* const verb = app.add_subcommand(
      "model", "Print the layers of a network: output shapes, parameters, FLOPs and activation bytes of one image.");
  verb->add_option("name", arguments->name, "Print this network, named as in a spec: resnet50, densenet121, ...")
      ->required()
      ->type_name("NAME");
  verb->add_option("--image-size", arguments->image_size, "Use an input of this height and width, in pixels.")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
