#include "verbs/list/list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/text_table.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for people who read it

void add_rows(const std::string& kind, const std::vector<spec::ShippedFile>& files, report::TextTable& table) {
  for (const spec::ShippedFile& file : files) table.rows.push_back({kind, file.name, file.description});
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
  report::TextTable table{.header = {"kind", "name", "description"}, .rows = {}, .left_columns = 3};
  add_rows("experiment", list.experiments, table);
  add_rows("pipeline", list.pipelines, table);
  add_rows("accelerator", list.accelerators, table);
  return fmt::format(
      "{}\nAn experiment runs with `chexbench --config NAME`, --set pipeline=NAME changes its pipeline, and\n"
      "--set engine=emulated:NAME gives it an accelerator's speed.\n",
      report::render(table));
}

std::string shipped_json(const ShippedList& list) {
  const Json object{{"chexbench_version", list.chexbench_version},
                    {"experiments", files_to_json(list.experiments)},
                    {"pipelines", files_to_json(list.pipelines)},
                    {"accelerators", files_to_json(list.accelerators)}};
  return object.dump(2) + "\n";
}

}  // namespace chexbench::verbs
