#include "verbs/list/list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys below, for readers

std::string section(const char* heading, const std::vector<spec::ShippedFile>& files) {
  std::string text = fmt::format("{}\n", heading);
  for (const spec::ShippedFile& file : files) text += fmt::format("  {:<20}  {}\n", file.name, file.description);
  return text;
}

Json files_to_json(const std::vector<spec::ShippedFile>& files) {
  Json list = Json::array();
  for (const spec::ShippedFile& file : files) list.push_back({{"name", file.name}, {"description", file.description}});
  return list;
}

}  // namespace

ShippedList list_shipped() {
  return {.chexbench_version = {},
          .experiments = spec::shipped_experiments(),
          .pipelines = spec::shipped_pipelines(),
          .accelerators = spec::shipped_accelerators()};
}

std::string shipped_table(const ShippedList& list) {
  return section("Experiments, for `chexbench --config NAME`:", list.experiments) + "\n" +
         section("Pipelines, for --set pipeline=NAME:", list.pipelines) + "\n" +
         section("Accelerators, for --set engine=emulated:NAME:", list.accelerators);
}

std::string shipped_json(const ShippedList& list) {
  const Json object{{"chexbench_version", list.chexbench_version},
                    {"experiments", files_to_json(list.experiments)},
                    {"pipelines", files_to_json(list.pipelines)},
                    {"accelerators", files_to_json(list.accelerators)}};
  return object.dump(2) + "\n";
}

}  // namespace chexbench::verbs
