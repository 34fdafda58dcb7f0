#include "bench/gpu_affinity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/numbers.hpp"
#include "core/text.hpp"

namespace chexbench::bench {
namespace {

std::size_t common(const std::vector<int>& a, const std::vector<int>& b) {
  return static_cast<std::size_t>(std::ranges::count_if(a, [&](int cpu) { return std::ranges::count(b, cpu) > 0; }));
}

// Returns the index of the free GPU that most of the rank's cores are near, or -1 if none is free.
int nearest_free(const RankView& rank, const std::set<std::string>& taken) {
  int best = -1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < rank.gpus.size(); ++i) {
    if (taken.contains(rank.gpus[i].gpu.uuid)) continue;
    const std::size_t near = common(rank.cores, rank.gpus[i].cpus);
    if (best >= 0 && near <= most) continue;
    best = static_cast<int>(i);
    most = near;
  }
  return best;
}

bool take_index(std::string_view& text, int& index) {
  index = take_number<int>(text).value_or(-1);
  return index >= 0;
}

std::vector<int> numbers(const std::string& text) {
  std::istringstream words(text);
  std::vector<int> result;
  for (int number = 0; words >> number;) result.push_back(number);
  return result;
}

}  // namespace

std::vector<int> assign_gpus(const std::vector<RankView>& ranks) {
  std::set<std::string> taken;
  std::map<std::string, int> before;  // ranks of each host
  std::vector<int> assigned;
  for (const RankView& rank : ranks) {
    const int local_rank = before[rank.host]++;
    const int free = nearest_free(rank, taken);
    assigned.push_back(free >= 0 ? free : local_rank % static_cast<int>(rank.gpus.size()));
    taken.insert(rank.gpus[static_cast<std::size_t>(assigned.back())].gpu.uuid);
  }
  return assigned;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int kMostCpus = 1 << 16;
  std::vector<int> cpus;
  while (!text.empty() && text.front() != '\n') {
    int first = 0;
    if (!take_index(text, first)) return {};
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!take_index(text, last)) return {};
    }
    if (last < first || last >= kMostCpus) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return cpus;
}

std::vector<int> cpus_near(const std::string& pci_bus_id, const std::string& folder) {
  std::ifstream file(folder + "/" + lower_case(pci_bus_id) + "/local_cpulist");
  std::string list;
  std::getline(file, list);
  return parse_cpu_list(list);
}

std::string to_text(const RankView& view) {
  std::string text = fmt::format("{}\n{}\n", view.host, fmt::join(view.cores, " "));
  for (const auto& [gpu, cpus] : view.gpus)
    text += fmt::format("{}\n{}\n{}\n{}\n", gpu.name, gpu.uuid, gpu.pci_bus_id, fmt::join(cpus, " "));
  return text;
}

RankView rank_view_from_text(const std::string& text) {
  std::istringstream lines(text);
  RankView view;
  std::string cores;
  std::getline(lines, view.host);
  std::getline(lines, cores);
  view.cores = numbers(cores);
  NearGpu near;
  while (std::getline(lines, near.gpu.name)) {
    std::string cpus;
    std::getline(lines, near.gpu.uuid);
    std::getline(lines, near.gpu.pci_bus_id);
    std::getline(lines, cpus);
    near.cpus = numbers(cpus);
    view.gpus.push_back(near);
  }
  return view;
}

}  // namespace chexbench::bench
