#include "verbs/compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "spec/document.hpp"
#include "spec/resolved.hpp"

namespace chexbench::verbs {
namespace {

using spec::Node;

template <class Record>
using Fields = std::vector<std::pair<const char*, std::function<std::string(const Record&)>>>;

// Returns the distinct values of a field, sorted and joined.
template <class Record>
std::string values_of(const std::vector<const Record*>& records, const std::function<std::string(const Record&)>& get) {
  std::vector<std::string> values;
  for (const Record* record : records) {
    const std::string value = get(*record);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  std::ranges::sort(values);
  return fmt::format("{}", fmt::join(values, " | "));
}

// Returns the fields with more than one value over both sides. Several values on one side also count, because they make
// its rates incomparable.
template <class Record>
std::vector<Difference> differing(const Fields<Record>& fields, const std::vector<const Record*>& base,
                                  const std::vector<const Record*>& other) {
  std::vector<const Record*> all = base;
  all.insert(all.end(), other.begin(), other.end());
  std::vector<Difference> differences;
  for (const auto& [key, get] : fields) {
    if (values_of(all, get) == get(*all.front())) continue;
    differences.push_back({.key = key, .base = values_of(base, get), .other = values_of(other, get)});
  }
  return differences;
}

std::vector<const results::Environment*> environments(const Side& side) {
  std::vector<const results::Environment*> all;
  for (const results::Report& run : side.runs) all.push_back(&run.environment);
  return all;
}

spec::TrialSpec comparable(spec::TrialSpec spec) {
  const spec::MeasureSpec any;
  spec.name.clear();
  spec.pipeline.name.clear();
  spec.data.root.clear();
  spec.cores_per_rank.reset();  // place_differences() compares the cores that the ranks got
  spec.measure.repeats = any.repeats;
  spec.measure.extra_repeats = any.extra_repeats;
  spec.measure.max_seconds.reset();
  spec.measure.max_total_seconds.reset();
  spec.measure.relative_error.reset();
  return spec;
}

std::string text_of(const Node* node) { return node == nullptr ? "" : spec::to_text(*node); }

void walk(const std::string& path, const Node* base, const Node* other, std::vector<Difference>& differences);

void walk_members(const std::string& path, const spec::Object& base, const spec::Object& other,
                  std::vector<Difference>& differences) {
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& [key, node] : base) walk(prefix + key, &node, spec::find_member(other, key), differences);
  for (const auto& [key, node] : other) {
    if (spec::find_member(base, key) == nullptr) walk(prefix + key, nullptr, &node, differences);
  }
}

// Descends as long as both sides have the same shape. Where the shapes differ, it reports both values as a whole.
void walk(const std::string& path, const Node* base, const Node* other, std::vector<Difference>& differences) {
  if (text_of(base) == text_of(other)) return;
  if (base != nullptr && other != nullptr) {
    if (base->object() && other->object()) return walk_members(path, *base->object(), *other->object(), differences);
    if (base->list() && other->list() && base->list()->size() == other->list()->size()) {
      for (std::size_t i = 0; i < base->list()->size(); ++i) {
        walk(fmt::format("{}[{}]", path, i), &(*base->list())[i], &(*other->list())[i], differences);
      }
      return;
    }
  }
  differences.push_back({.key = path, .base = text_of(base), .other = text_of(other)});
}

}  // namespace

std::string arm_key(const results::TrialResult& trial) { return spec::to_json(comparable(trial.spec)); }

std::vector<Difference> spec_differences(const results::TrialResult& base, const results::TrialResult& other) {
  const Node one = spec::parse_document(arm_key(base), "spec of the base");
  const Node two = spec::parse_document(arm_key(other), "spec of the other side");
  std::vector<Difference> differences;
  walk("", &one, &two, differences);
  return differences;
}

std::vector<Difference> environment_differences(const Side& base, const Side& other) {
  static const Fields<results::Environment> fields{
      {"cpu", [](const results::Environment& one) { return one.cpu; }},
      {"cores", [](const results::Environment& one) { return std::to_string(one.cores); }},
      {"instruction_set", [](const results::Environment& one) { return one.instruction_set; }},
      {"gpus", [](const results::Environment& one) { return fmt::format("{}", fmt::join(one.gpus, ", ")); }},
      {"gpu_driver", [](const results::Environment& one) { return one.gpu_driver; }},
      {"mpi", [](const results::Environment& one) { return one.mpi; }}};
  return differing(fields, environments(base), environments(other));
}

std::vector<Difference> remarkable_differences(const Side& base, const Side& other) {
  static const Fields<results::Environment> fields{
      {"host", [](const results::Environment& one) { return one.host; }},
      {"kernel", [](const results::Environment& one) { return one.kernel; }},
      {"chexbench_version", [](const results::Environment& one) { return one.chexbench_version; }}};
  return differing(fields, environments(base), environments(other));
}

std::vector<Difference> place_differences(const ArmTrials& base, const ArmTrials& other) {
  static const Fields<results::TrialResult> fields{
      {"engine_device", [](const results::TrialResult& one) { return one.engine_device; }},
      {"cores_per_rank", [](const results::TrialResult& one) { return std::to_string(one.cores_per_rank); }},
      {"data.root", [](const results::TrialResult& one) { return one.spec.data.root; }}};
  return differing(fields, base, other);
}

std::vector<Difference> source_differences(const ArmTrials& base, const ArmTrials& other) {
  static const Fields<results::TrialResult> fields{
      {"engine_source", [](const results::TrialResult& one) { return one.engine_source; }}};
  return differing(fields, base, other);
}

}  // namespace chexbench::verbs
