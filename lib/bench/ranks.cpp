#include "bench/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bench/trial_data.hpp"
#include "comm/communicator.hpp"
#include "comm/launcher.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "dataset/dataset.hpp"
#include "spec/resolved.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {
namespace {

// Returns the line without indent and comma, cut to a readable length.
std::string in_quotes(std::string_view line) {
  constexpr std::size_t kLongest = 120;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(begin);
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.empty()) return "nothing";
  return fmt::format("'{}{}'", line.substr(0, kLongest), line.size() > kLongest ? "..." : "");
}

std::string name_of(int rank, const std::vector<RankCores>& rank_cores) {
  return fmt::format("rank {} ({})", rank, rank_cores[static_cast<std::size_t>(rank)].host);
}

std::string names_of(const std::vector<int>& some, const std::vector<RankCores>& rank_cores) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(some.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + name_of(some[i], rank_cores);
  if (some.size() > kMostNamed) text += fmt::format(" and {} more", some.size() - kMostNamed);
  return text;
}

// Returns the ranks whose digest is not the most frequent one; of equally frequent ones, the lowest rank's counts as
// the most frequent. Ranks without a digest are ignored.
std::vector<int> ranks_unlike_most(const std::vector<std::string>& digests) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& digest : digests) {
    if (!digest.empty()) ++counts[digest];
  }
  const auto usual = std::ranges::max_element(digests, {}, [&](const std::string& digest) {
    return digest.empty() ? std::size_t{0} : counts[digest];
  });  // the first of the largest
  std::vector<int> unlike;
  for (std::size_t rank = 0; rank < digests.size(); ++rank) {
    if (!digests[rank].empty() && digests[rank] != *usual) unlike.push_back(static_cast<int>(rank));
  }
  return unlike;
}

// Compares a text of every rank, ignoring empty ones. Returns a sentence about which ranks differ and how, the same on
// all ranks, or nothing if all are equal. Collective; if they differ, it waits for rank 0.
std::string find_difference(const std::string& text, comm::Communicator& ranks,
                            const std::vector<RankCores>& rank_cores) {
  const std::string digest = text.empty() ? "" : fmt::format("{:016x}", fnv1a64(text));
  const std::vector<int> unlike = ranks_unlike_most(comm::all_gather(ranks, digest));
  if (unlike.empty()) return {};
  const std::string of_root = comm::broadcast_text(ranks, text);
  const std::vector<std::string> differences =
      comm::all_gather(ranks, text.empty() ? "" : describe_difference(text, of_root));
  wait_for_root(ranks);
  const auto first = std::ranges::find_if(differences, [](const std::string& one) { return !one.empty(); });
  const auto rank = static_cast<int>(std::distance(differences.begin(), first));
  return fmt::format("{} differ{} from the others; {}, compared with {}: {}", names_of(unlike, rank_cores),
                     unlike.size() == 1 ? "s" : "", name_of(rank, rank_cores), name_of(0, rank_cores),
                     first == differences.end() ? "its texts have equal lines" : *first);
}

std::string text_of(const std::vector<results::TrialResult>& trials) {
  std::string text = fmt::format("{} trials\n", trials.size());
  for (const results::TrialResult& trial : trials)
    text += fmt::format("trial {}\n{}\n", trial.name, spec::to_json(trial.spec));
  return text;
}

std::string text_of(const dataset::Dataset& dataset) {  // NOLINT(misc-no-recursion): once at most
  // Other stores may not report sizes, so ranks may estimate them differently.
  const bool knows_bytes = dataset.store->is_local() || spec::reads_shards(dataset.format);
  std::string text = fmt::format("{} images in {} files{}\n", dataset.images.size(), dataset.files(),
                                 knows_bytes ? fmt::format(" of {} bytes", dataset.total_bytes) : "");
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{} labels: {}\n", dataset.labels(), fmt::join(dataset.label_names, ", "));
  for (const dataset::ImageEntry& image : dataset.images) {
    fmt::format_to(out, "{} of patient {}, labels", image.name, image.patient);
    image.labels.for_each([&](std::size_t label) { fmt::format_to(out, " {}", label); });
    text += '\n';
  }
  for (std::size_t i = 0; i < dataset.shards.size(); ++i) {
    fmt::format_to(out, "{}", dataset.shards[i]);
    if (i < dataset.shard_bytes.size()) fmt::format_to(out, " of {} bytes", dataset.shard_bytes[i]);
    text += '\n';
  }
  fmt::format_to(out, "partial: {}, compressed: {}\n", dataset.partial, dataset.compressed);
  if (dataset.validation) text += "validation: " + text_of(*dataset.validation);
  return text;
}

// Compares the commands of the ranks: collectives of different commands would be mixed up, or wait forever.
void check_same_command(const std::string& command, comm::World& world) {
  if (world.communicator().world() == 1) return;
  const std::string difference = find_difference(command, world.communicator(), gather_rank_cores(world));
  if (difference.empty()) return;
  throw SpecError(
      fmt::format("the ranks were started with different commands: {}. Start all ranks with the same one", difference));
}

}  // namespace

void wait_for_root(const comm::Communicator& ranks) {
  constexpr double kGraceS = 8;
  static const double until_s = now_s() + kGraceS;  // one wait, even if the caller's handler waits again
  if (ranks.rank() != 0) sleep_until_s(until_s);
}

std::string describe_difference(const std::string& own, const std::string& of_root) {
  std::istringstream mine(own), theirs(of_root);
  std::string text;
  for (std::size_t line = 0; mine || theirs; ++line) {
    std::string a, b;
    std::getline(mine, a);
    std::getline(theirs, b);
    if (a == b) continue;
    text +=
        fmt::format("{}{} instead of {}", text.empty() ? "" : "; the first that differs: ", in_quotes(a), in_quotes(b));
    if (line > 0) break;
  }
  return text;
}

void check_same_trials(const std::vector<results::TrialResult>& trials, comm::Communicator& ranks,
                       const std::vector<RankCores>& rank_cores) {
  if (ranks.world() == 1) return;
  const std::string difference = find_difference(text_of(trials), ranks, rank_cores);
  if (difference.empty()) return;
  throw SpecError(fmt::format(
      "the ranks have different specs: {}. Give all ranks the same --config and --set, and hosts the same files",
      difference));
}

void check_same_data(const std::vector<results::TrialResult>& trials, OpenedDatasets& datasets,
                     comm::Communicator& ranks, const std::vector<RankCores>& rank_cores) {
  if (ranks.world() == 1) return;
  std::unordered_map<spec::TrialSpec, int, spec::TrialSpecHash> readers, seen;  // ranks, by what they read
  for (const results::TrialResult& trial : trials) {
    int& most = readers[OpenedDatasets::data_part(trial.spec)];
    most = std::max(most, trial.ranks);
  }
  for (const results::TrialResult& trial : trials) {
    const spec::TrialSpec& spec = trial.spec;
    const spec::TrialSpec part = OpenedDatasets::data_part(spec);
    int& most_seen = seen[part];
    if (trial.ranks <= std::exchange(most_seen, std::max(most_seen, trial.ranks))) continue;
    datasets.read_together(spec, ranks, readers[part]);
    const std::string text = ranks.rank() < trial.ranks ? text_of(datasets.of(spec)) : "";
    const std::string difference = find_difference(text, ranks, rank_cores);
    if (difference.empty()) continue;
    throw DataError(fmt::format(
        "the ranks do not see the same data in '{}' (split {}, format {}): {}. Bring the same files to every "
        "host, for example by `chexbench data stage` from one source",
        spec.data.root, spec::to_string(spec.data.split), spec::to_string(spec.data.format), difference));
  }
}

comm::World& Session::world() {
  if (world_) return *world_;
  world_ = comm::join_world();
  if (world_->communicator().world() > 1) {
    mapping_watch_.emplace([this] { world_->abort(static_cast<int>(ExitCode::data)); });
  }
  check_same_command(command_, *world_);
  return *world_;
}

void Session::wait_for_root() const { bench::wait_for_root(world_->communicator()); }

int Session::leave(int exit_code) {
  if (exit_code != 0 && world_ && world_->communicator().world() > 1) {
    if (interrupt_requested()) wait_for_root();  // rank 0 still has to write the results
    world_->abort(exit_code);
  }
  if (exit_code != 0 && !world_) abort_ranks(exit_code);
  mapping_watch_.reset();
  world_.reset();
  return exit_code;
}

void abort_ranks(int exit_code) { comm::abort_ranks(std::getenv, exit_code); }

}  // namespace chexbench::bench
