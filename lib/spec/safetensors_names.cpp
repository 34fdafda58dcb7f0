#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/errors.hpp"
#include "spec/document.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::spec {
namespace {

// The parts that DistributedDataParallel, torch.compile and FSDP put into the names of what they wrap, at any level.
constexpr std::string_view kWrappers[] = {"module.", "_orig_mod.", "_fsdp_wrapped_module."};

std::string unwrapped(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, std::min(name.find('.'), name.size() - 1) + 1);
    if (std::ranges::find(kWrappers, part) == std::end(kWrappers)) plain += part;
    name.remove_prefix(part.size());
  }
  return plain;
}

// Counts under each prefix how many of the parameters are there.
template <typename Entries>
std::map<std::string, std::size_t> count_prefixes(const Entries& entries, const std::vector<std::string>& parameters) {
  const std::set<std::string, std::less<>> wanted(parameters.begin(), parameters.end());
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, entry] : entries) {
    for (std::size_t at = 0; at < name.size(); at = std::min(name.find('.', at), name.size() - 1) + 1) {
      if (wanted.contains(std::string_view(name).substr(at))) ++counts[name.substr(0, at)];
    }
  }
  return counts;
}

}  // namespace

Safetensors Safetensors::named_as(const std::vector<std::string>& parameters) const {
  Safetensors named = *this;
  std::erase_if(named.tensors_, [](const auto& one) { return unwrapped(one.first) != one.first; });
  for (const auto& [name, entry] : tensors_) named.tensors_.try_emplace(unwrapped(name), entry);
  const std::map<std::string, std::size_t> counts = count_prefixes(named.tensors_, parameters);
  const auto plain = counts.find("");
  if (plain != counts.end() && 2 * plain->second >= parameters.size()) return named;
  const auto best = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  if (best == counts.end() || 2 * best->second < parameters.size()) return named;
  const auto other =
      std::find_if(std::next(best), counts.end(), [&](const auto& one) { return one.second == best->second; });
  if (other != counts.end()) {
    throw DataError(fmt::format("{}: it has the network twice, under '{}' and under '{}': keep one of them", where_,
                                shown(best->first), shown(other->first)));
  }
  const std::map<std::string, Entry> prefixed = named.tensors_;
  for (const auto& [name, entry] : prefixed) {
    if (name.starts_with(best->first)) named.tensors_[name.substr(best->first.size())] = entry;
  }
  return named;
}

}  // namespace chexbench::spec
