#include "results_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/output_file.hpp"

namespace chexbench::app {

std::string make_results_folder(const std::string& name, std::string date_utc) {
  std::ranges::replace(date_utc, ':', '-');
  return make_new_folder((std::filesystem::path("results") / name / std::move(date_utc)).string());
}

}  // namespace chexbench::app
