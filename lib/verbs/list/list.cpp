#include "verbs/list/list.hpp"

#include <fmt/format.h>

#include "spec/shipped.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

std::string section(const char* heading, const std::vector<spec::ShippedFile>& files) {
  std::string text = fmt::format("{}\n", heading);
  for (const spec::ShippedFile& file : files) text += fmt::format("  {:<20}  {}\n", file.name, file.description);
  return text;
}

Json file_to_json(const spec::ShippedFile& file) { return {{"name", file.name}, {"description", file.description}}; }

}  // namespace

std::string shipped_table() {
  return section("Experiments, for `chexbench --config NAME`:", spec::shipped_experiments()) + "\n" +
         section("Pipelines, for --set pipeline=NAME:", spec::shipped_pipelines()) + "\n" +
         section("Accelerators, for --set engine=emulated:NAME:", spec::shipped_accelerators()) + "\n" +
         section("Communication software, for predict --comm NAME and --set comm.profile=NAME:",
                 spec::shipped_communication()) +
         "\n" + section("Links, for predict --link NAME and --set comm.link=NAME:", spec::known_links());
}

std::string shipped_json() {
  return indented_json({{"chexbench_version", CHEXBENCH_VERSION},
                        {"experiments", list_of(spec::shipped_experiments(), file_to_json)},
                        {"pipelines", list_of(spec::shipped_pipelines(), file_to_json)},
                        {"accelerators", list_of(spec::shipped_accelerators(), file_to_json)},
                        {"communication", list_of(spec::shipped_communication(), file_to_json)},
                        {"links", list_of(spec::known_links(), file_to_json)}});
}

}  // namespace chexbench::verbs
