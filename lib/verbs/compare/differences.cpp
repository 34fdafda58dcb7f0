#include "verbs/compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "measure/data_place.hpp"
#include "measure/network.hpp"
#include "report/text_table.hpp"
#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"

namespace chexbench::verbs {
namespace {

using spec::Node;

template <class Record>
using Fields = std::vector<std::pair<std::string, std::function<std::string(const Record&)>>>;

enum class Empty { is_a_value, is_unknown };

// Returns the distinct values of a field, sorted.
template <class Record>
std::set<std::string> values_of(const std::vector<const Record*>& records,
                                const std::function<std::string(const Record&)>& get, Empty empty) {
  std::set<std::string> values;
  for (const Record* record : records) values.insert(get(*record));
  if (empty == Empty::is_unknown) values.erase("");
  return values;
}

// Returns the fields with more than one value over both sides. Several values on one side also count, because they make
// its rates incomparable.
template <class Record>
std::vector<Difference> differing(const Fields<Record>& fields, const std::vector<const Record*>& base,
                                  const std::vector<const Record*>& other, Empty empty = Empty::is_a_value) {
  std::vector<Difference> differences;
  for (const auto& [key, get] : fields) {
    const std::set<std::string> before = values_of(base, get, empty);
    const std::set<std::string> after = values_of(other, get, empty);
    if (before.empty() || after.empty() || (before == after && before.size() == 1)) continue;
    differences.push_back({.key = key,
                           .base = fmt::format("{}", fmt::join(before, " | ")),
                           .other = fmt::format("{}", fmt::join(after, " | "))});
  }
  return differences;
}

std::string striping_of(const results::HostState& host) {
  std::vector<std::string> all;
  for (const measure::Striping& one : host.striping)
    if (one.problem.empty()) all.push_back(one.system + " " + measure::stripes_text(one));
  return fmt::format("{}", fmt::join(all, "; "));
}

using results::Environment;
using results::HostState;
using results::TrialResult;

const Fields<Environment> kMachine{
    {"cpu", [](const Environment& one) { return one.cpu; }},
    {"cores", [](const Environment& one) { return std::to_string(one.cores); }},
    {"instruction_set", [](const Environment& one) { return one.instruction_set; }},
    {"gpus", [](const Environment& one) { return fmt::format("{}", fmt::join(one.gpus, ", ")); }},
    {"gpu_driver", [](const Environment& one) { return one.gpu_driver; }},
    {"mpi", [](const Environment& one) { return one.mpi; }}};
const Fields<Environment> kBuild{
    {"host", [](const Environment& one) { return one.host; }},
    {"hosts", [](const Environment& one) { return one.hosts.empty() ? "" : std::to_string(one.hosts.size()); }},
    {"chexbench_version", [](const Environment& one) { return one.chexbench_version; }},
    {"revision", [](const Environment& one) { return one.revision; }},
    {"compiler", [](const Environment& one) { return one.compiler; }},
    {"memory",
     [](const Environment& one) { return one.memory_bytes == 0 ? "" : report::gigabytes(one.memory_bytes); }}};
const Fields<HostState> kHost{{"cpu", [](const HostState& one) { return one.cpu; }},
                              {"kernel", [](const HostState& one) { return one.kernel; }},
                              {"governor", [](const HostState& one) { return one.governors; }},
                              {"turbo", [](const HostState& one) { return one.turbo; }},
                              {"smt", [](const HostState& one) { return one.smt; }},
                              {"mitigations", [](const HostState& one) { return one.mitigations; }},
                              {"nic", [](const HostState& one) { return measure::to_string(one.nics); }},
                              {"striping", striping_of}};
const Fields<TrialResult> kPlace{
    {"engine_device", [](const TrialResult& one) { return one.engine_device; }},
    {"cores_per_rank", [](const TrialResult& one) { return std::to_string(one.cores_per_rank); }},
    {"data.root", [](const TrialResult& one) { return one.spec.data.root; }}};
const Fields<TrialResult> kSource{{"engine_source", [](const TrialResult& one) { return one.engine_source; }}};

std::vector<const Environment*> environments(const Side& side) {
  std::vector<const Environment*> all;
  for (const results::Report& run : side.runs) all.push_back(&run.environment);
  return all;
}

// Returns a field for the version of each library that a run names. MPI is a field of the machine.
Fields<Environment> libraries_of(std::initializer_list<const Side*> sides) {
  std::set<std::string> names;
  for (const Side* side : sides)
    for (const Environment* one : environments(*side))
      for (const measure::LibraryVersion& library : one->libraries)
        if (library.name != "MPI") names.insert(library.name);
  Fields<Environment> fields;
  for (const std::string& name : names) {
    fields.emplace_back(name, [name](const Environment& one) {
      const auto found = std::ranges::find(one.libraries, name, &measure::LibraryVersion::name);
      return found == one.libraries.end() ? "" : found->version.value_or("");
    });
  }
  return fields;
}

// The states of each host in the runs of a side, in the order of ranks.
using Hosts = std::vector<std::pair<std::string, std::vector<HostState>>>;

Hosts::iterator find_host(const std::string& name, Hosts& hosts) {
  return std::ranges::find(hosts, name, &Hosts::value_type::first);
}

Hosts hosts_of(const Side& side) {
  Hosts hosts;
  for (const Environment* one : environments(side)) {
    std::vector<HostState> states = one->hosts;
    if (states.empty())  // older versions recorded only that of rank 0
      states.push_back({.host = one->host, .cpu = one->cpu, .kernel = one->kernel, .governors = one->governors});
    for (HostState& state : states) {
      auto known = find_host(state.host, hosts);
      if (known == hosts.end()) known = hosts.insert(known, {state.host, {}});
      known->second.push_back(std::move(state));
    }
  }
  return hosts;
}

std::vector<const HostState*> pointers(const std::vector<HostState>& states) {
  std::vector<const HostState*> all;
  for (const HostState& state : states) all.push_back(&state);
  return all;
}

std::vector<const HostState*> all_of(const Hosts& hosts) {
  std::vector<const HostState*> all;
  for (const auto& [name, states] : hosts)
    for (const HostState* state : pointers(states)) all.push_back(state);
  return all;
}

// Returns the host of that name, or else the first one whose name the base does not have.
Hosts::iterator partner_of(const std::string& name, const Hosts& base, Hosts& others) {
  const auto same = find_host(name, others);
  if (same != others.end()) return same;
  return std::ranges::find_if(others, [&](const auto& other) {
    return std::ranges::find(base, other.first, &Hosts::value_type::first) == base.end();
  });
}

// Hosts that differ alike share one difference.
void add_of_host(const std::string& host, Difference one, std::vector<Difference>& differences) {
  const auto alike = std::ranges::find_if(differences, [&](const Difference& known) {
    return known.key == one.key && known.base == one.base && known.other == one.other;
  });
  (alike == differences.end() ? differences.emplace_back(std::move(one)) : *alike).hosts.push_back(host);
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
  return differing(kMachine, environments(base), environments(other));
}

std::vector<Difference> remarkable_differences(const Side& base, const Side& other) {
  std::vector<Difference> found = differing(kBuild, environments(base), environments(other), Empty::is_unknown);
  const auto of_libraries =
      differing(libraries_of({&base, &other}), environments(base), environments(other), Empty::is_unknown);
  found.insert(found.end(), of_libraries.begin(), of_libraries.end());
  const Hosts before = hosts_of(base), after = hosts_of(other);
  const auto compare = [&found](const std::string& host, const auto& one, const auto& another) {
    for (Difference& difference : differing(kHost, one, another, Empty::is_unknown))
      add_of_host(host, std::move(difference), found);
  };
  const std::vector<const HostState*> all_before = all_of(before), all_after = all_of(after);
  Hosts unpaired = after;
  for (const auto& [host, states] : before) {
    const auto partner = partner_of(host, before, unpaired);
    compare(host, pointers(states), partner == unpaired.end() ? all_after : pointers(partner->second));
    if (partner != unpaired.end()) unpaired.erase(partner);
  }
  for (const auto& [host, states] : unpaired) compare(host, all_before, pointers(states));
  return found;
}

std::vector<Difference> place_differences(const ArmTrials& base, const ArmTrials& other) {
  return differing(kPlace, base, other);
}

std::vector<Difference> source_differences(const ArmTrials& base, const ArmTrials& other) {
  return differing(kSource, base, other);
}

bool is_declared(const std::vector<std::string>& vary, const std::string& key) {
  return std::ranges::any_of(vary, [&](const std::string& one) {
    if (!lower_case(key).starts_with(lower_case(one))) return false;
    const std::string rest = key.substr(one.size());
    return rest.empty() || rest.front() == '.' || rest.front() == '[' ||
           (lower_case(one) == "engine" && rest.front() == '_');
  });
}

void check_declared(const std::vector<std::string>& vary, const Side& base, const Side& other) {
  std::vector<std::string> known;
  const auto add = [&known](const auto& fields) {
    for (const auto& [key, get] : fields) known.push_back(key);
  };
  add(kMachine), add(kHost), add(kBuild), add(kPlace), add(kSource), add(libraries_of({&base, &other}));
  for (const spec::KeyRule& rule : spec::key_rules()) known.push_back(rule.path);
  known.emplace_back("pipeline.ops");
  for (const std::string& one : vary) {
    const std::size_t bracket = one.find('[');  // an op's parameter is a key only where the op is
    const bool is_op = bracket != std::string::npos && one.substr(0, bracket) == "pipeline.ops";
    const auto is_known = [&](const std::string& key) { return is_op || is_declared({one}, key); };
    if (std::ranges::any_of(known, is_known)) continue;
    const auto leaf = std::ranges::find_if(known, [&](const std::string& key) { return key.ends_with("." + one); });
    throw SpecError(
        fmt::format("--vary: nothing is called '{}'{}", one,
                    leaf == known.end() ? suggestion(one, known) : fmt::format(" (did you mean '{}'?)", *leaf)));
  }
}

}  // namespace chexbench::verbs
