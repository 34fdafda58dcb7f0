#include "data_set_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/errors.hpp"
#include "spec/parse.hpp"
#include "spec/sweep.hpp"

namespace chexbench::app {

namespace {

bool is_of_store(const std::string& override) { return override.starts_with("store."); }

}  // namespace

std::vector<std::string> DataSetArguments::store_overrides() const {
  std::vector<std::string> kept;
  std::ranges::copy_if(overrides, std::back_inserter(kept), is_of_store);
  return kept;
}

std::vector<std::string> DataSetArguments::layout_overrides() const {
  std::vector<std::string> kept = overrides;
  std::erase_if(kept, is_of_store);
  return kept;
}

spec::DataSpec DataSetArguments::spec() const {
  std::vector<std::string> all = {spec::text_override("data.root", root)};
  for (const std::string& override : overrides) {
    if (!override.starts_with("data.layout=") && !override.starts_with("data.labels.") && !is_of_store(override)) {
      throw SpecError(fmt::format("--set {}: only data.layout, data.labels and store apply here", override));
    }
    all.push_back(override);
  }
  return spec::expand(spec::parse_spec("{}", "--set", all)).front().spec.data;
}

std::shared_ptr<DataSetArguments> add_data_set(CLI::App& verb, const std::string& name) {
  auto arguments = std::make_shared<DataSetArguments>();
  verb.add_option(name, arguments->root, "Read the data set in this folder or at this URL.")
      ->required()
      ->type_name("ROOT");
  verb.add_option("--set", arguments->overrides,
                  "Set a key of the spec that says how the data set is laid out, e.g. --set data.layout=csv "
                  "--set data.labels.columns='Mass,Nodule'.")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  return arguments;
}

}  // namespace chexbench::app
