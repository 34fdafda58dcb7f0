#include "measure/system_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/numbers.hpp"

namespace chexbench::measure {
namespace {

constexpr int kMostCpus = 65536;  // more than any machine has: a damaged list must not fill memory

}  // namespace

std::optional<std::string> read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return {};
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line;
}

std::optional<long long> read_number(const std::string& path) {
  const std::optional<std::string> line = read_line(path);
  return line ? parse_number<long long>(*line) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& folder) {
  try {
    std::vector<std::string> names = list_folder(folder);
    std::ranges::sort(names);
    return names;
  } catch (const DataError&) {
    return {};
  }
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const std::optional<int> first = parse_number<int>(range.substr(0, dash));
    const std::optional<int> last = dash == std::string::npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMostCpus) continue;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[begin]);
    if (end - begin > 1) text += fmt::format("-{}", cpus[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace chexbench::measure
