#include "results_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace chexbench::app {

std::string default_results_folder(const std::string& name, std::string date_utc) {
  std::ranges::replace(date_utc, ':', '-');
  return (std::filesystem::path("results") / name / std::move(date_utc)).string();
}

}  // namespace chexbench::app
