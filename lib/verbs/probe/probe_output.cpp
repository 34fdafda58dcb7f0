#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "report/text_table.hpp"
#include "results/labels.hpp"
#include "verbs/probe/probe_result.hpp"

namespace chexbench::verbs {
namespace {

using analysis::rate;
using analysis::whole_percent;

std::string name_of(const FedAccelerator& accelerator) {
  return fmt::format("{} ({})", upper_case(accelerator.name), spec::to_string(accelerator.precision));
}

// Returns "2", or "1 to 2" where the interval leaves it open.
std::string count_of(const FedAccelerator& accelerator) {
  if (accelerator.count_low == accelerator.count_high) return fmt::to_string(accelerator.count_low);
  return fmt::format("{} to {}", accelerator.count_low, accelerator.count_high);
}

std::string cores_of(const ProbeResult& result) {
  return result.cores == 1 ? "this machine's one core" : fmt::format("this machine's {} cores", result.cores);
}

// Returns whether the rate is that of image files, and not of shards that may be all there is.
bool reads_files(const ProbeResult& result) {
  const std::string& way = result.ways.front().name;
  return way == "png" || way == "jpeg" || way == "dicom";
}

std::string what_of(const ProbeResult& result) {
  const std::string& way = result.ways.front().name;
  const bool are_files = reads_files(result);
  const std::string kind = are_files ? upper_case(way) : "image";
  const std::string number = result.images == 1 ? "one " + kind : fmt::format("{} {}s", result.images, kind);
  const std::string detail = !are_files               ? fmt::format(" of the {} shards", way)
                             : result.mean_file_bytes ? fmt::format(" of {:.0f} kB", *result.mean_file_bytes / 1e3)
                                                      : "";
  return fmt::format("the {}{} in {}", number, detail, printable(result.root));
}

// Returns whether shards are all that there is by the layout, so that nothing can be converted or compared with them.
bool is_own_index(const ProbeResult& result) { return result.layout == spec::DataLayout::imagenet; }

std::string rate_line(const ProbeResult& result) {
  const ProbedWay& way = result.ways.front();
  const std::string interval =
      way.ci95
          ? fmt::format("95 % interval {} to {}, {} repeats", rate(way.ci95->low), rate(way.ci95->high), way.repeats)
          : fmt::format("no interval: {} repeat{}", way.repeats, way.repeats == 1 ? "" : "s");
  std::string text = fmt::format("{} deliver{} {} images/s ({}) of {}, as 224 x 224", cores_of(result),
                                 result.cores == 1 ? "s" : "", rate(way.images_per_s), interval, what_of(result));
  if (!result.disturbance.empty())
    text += fmt::format("; {}, and a free machine gives up to {}", result.disturbance, rate(result.free_images_per_s));
  if (!result.cpu_limit.empty()) text += "; " + result.cpu_limit;
  if (result.stopped_after_s) {
    text += fmt::format("; it was stopped after {} of {}", duration_text(*result.stopped_after_s),
                        duration_text(result.time_s));
  }
  if (result.bad_records > 0) {
    const bool are_few = result.bad_share < 0.005;  // 0 % in whole numbers
    text += fmt::format("; {} of the reads failed and were skipped: {}",
                        are_few ? "under 1 %" : "about " + whole_percent(result.bad_share),
                        is_own_index(result)
                            ? "--set data.on_bad_record=stop lets a run name them"
                            : fmt::format("`chexbench data check {}` names the files", shell_word(result.root)));
  }
  if (!result.passed_over.empty()) text += fmt::format("; without {}", result.passed_over);
  return text + ".";
}

// Returns the accelerators of which the rate feeds at least one, the fastest first, each in the precision that trains
// fastest of those that are fed.
std::vector<const FedAccelerator*> fed(const ProbeResult& result) {
  std::vector<const FedAccelerator*> all;
  for (const FedAccelerator& accelerator : result.accelerators) {
    if (accelerator.count_high == 0) continue;
    std::erase_if(all, [&](const FedAccelerator* slower) { return slower->name == accelerator.name; });
    all.insert(all.begin(), &accelerator);
  }
  return all;
}

std::string feeds_line(const ProbeResult& result) {
  constexpr std::size_t kMostShown = 4;
  std::vector<std::string> fully, partly;
  for (const FedAccelerator* const accelerator : fed(result)) {
    if (fully.size() < kMostShown) fully.push_back(fmt::format("{} {}", count_of(*accelerator), name_of(*accelerator)));
  }
  for (const FedAccelerator& accelerator : result.accelerators) {
    if (accelerator.count_high == 0 && partly.size() < kMostShown)
      partly.push_back(fmt::format("{} {}", name_of(accelerator), whole_percent(accelerator.share)));
  }
  const std::string first = fully.empty() ? "that feeds none of the known accelerators training ResNet50 fully"
                                          : fmt::format("that feeds {} training ResNet50", fmt::join(fully, " or "));
  const std::string second =
      partly.empty() ? "" : fmt::format("; of what one takes, it gives: {}", fmt::join(partly, ", "));
  return first + second + ".";
}

// Returns where the files came from, as a fast store and the memory would look alike.
std::string source_of(const ProbeResult& result) {
  if (result.is_distant) return "from the server";
  if (!result.cached_share) return "";
  constexpr double kAll = 0.95;
  if (*result.cached_share >= kAll) return "from memory, so the disk was not measured";
  if (*result.cached_share <= 1 - kAll) return "from disk";
  return fmt::format("{} of it from memory", whole_percent(*result.cached_share));
}

std::string op_of(const ProbeResult& result) {
  if (result.wait_op.empty()) return "";
  return fmt::format(" Batches wait for op {}{}.", result.wait_op,
                     result.wait_part.empty() ? "" : fmt::format(" ({})", result.wait_part));
}

std::string limit_line(const ProbeResult& result) {
  const WorkShares& work = result.work;
  const std::string source = source_of(result);
  const std::string shares = fmt::format("decoding is {} of the work, resizing {}, reading {}{}",
                                         whole_percent(work.decode), whole_percent(work.resize),
                                         whole_percent(work.read), source.empty() ? "" : fmt::format(" ({})", source));
  const std::string busy = fmt::format("{} busy", whole_percent(result.cores_busy_share));
  switch (result.holdup) {
    case Holdup::read:
      return fmt::format("reading holds it back: the cores are only {}; {}.{}", busy, shares, op_of(result));
    case Holdup::op:
      return fmt::format("not the cores, which are {}; {}.{}", busy, shares, op_of(result));
    case Holdup::cores:
      break;
  }
  const char* const what = work.read >= std::max(work.decode, work.resize) ? "reading"
                           : work.decode >= work.resize                    ? "decoding"
                                                                           : "resizing";
  const bool are_full = result.cores_busy_share >= analysis::kFullCores;
  return fmt::format(
      "{} holds it back: {}; {}.{}", what,
      are_full ? fmt::format("the cores are full ({})", busy) : fmt::format("threads wait for cores, {} with it", busy),
      shares, op_of(result));
}

// Returns the further way that is shown to be fastest, or null if none is shown to be faster.
const ProbedWay* faster_way(const ProbeResult& result) {
  const ProbedWay* best = nullptr;
  for (const ProbedWay& way : result.ways) {
    const bool is_faster = way.ratio && way.grade == results::Grade::told_apart && way.ratio->value > 1;
    if (is_faster && (best == nullptr || way.ratio->value > best->ratio->value)) best = &way;
  }
  return best;
}

// Returns "give each V100 (fp16) about 6 of these cores" for the slowest accelerator that is not fed, or "" if all are.
std::string cores_needed(const ProbeResult& result) {
  if (result.images_per_s_per_core <= 0) return "";
  for (const FedAccelerator& accelerator : result.accelerators) {
    if (accelerator.count_high > 0) continue;
    return fmt::format("give each {} about {:.0f} of these cores", name_of(accelerator),
                       std::ceil(accelerator.images_per_s / result.images_per_s_per_core));
  }
  return "";
}

// Returns what to do about an op that holds the cores up, or "" if all accelerators are fed all the same.
std::string op_to_look_at(const ProbeResult& result) {
  const auto lacks = [](const FedAccelerator& accelerator) { return accelerator.count_high == 0; };
  if (std::ranges::none_of(result.accelerators, lacks)) return "";
  const std::string what = result.wait_op.empty() ? "pipeline" : "setting of op " + result.wait_op;
  return fmt::format("look for a faster {} with `chexbench advise --config {}`, as more cores would wait, too", what,
                     result.spec_file.empty() ? "SPEC" : shell_word(result.spec_file));
}

std::string do_line(const ProbeResult& result) {
  std::vector<std::string> steps;
  if (const ProbedWay* const way = faster_way(result)) {
    steps.push_back(fmt::format("read with --set {}, which is {} as fast (95 % interval {})", way->settings,
                                report::times(way->ratio->value), report::interval_text(way->ratio)));
  }
  const std::string root = shell_word(result.root);
  if (result.holdup == Holdup::read) {
    steps.push_back(fmt::format("copy the set to a fast disk of this machine with `chexbench data stage {} FOLDER{}`",
                                root, is_own_index(result) ? " --split all --format tfrecord" : ""));
  } else if (result.holdup == Holdup::op) {
    if (const std::string step = op_to_look_at(result); !step.empty()) steps.push_back(step);
  } else if (const std::string cores = cores_needed(result); !cores.empty()) {
    steps.push_back(cores);
    if (!result.is_distant && reads_files(result) && result.work.decode >= result.work.read)
      steps.push_back(
          fmt::format("or decode only once with `chexbench data convert {} --split all --to cached`", root));
  }
  return steps.empty() ? "nothing: every accelerator that chexbench knows is fed."
                       : fmt::format("{}.", fmt::join(steps, ", "));
}

std::string more_line(const ProbeResult& result) {
  if (result.spec_file.empty()) return "nothing was written; --output DIR keeps the figures and a spec to go on with.";
  return fmt::format("`chexbench advise --config {}` tries faster pipelines; figures are in {}/report.html.",
                     shell_word(result.spec_file), printable(result.folder));
}

// Returns what can be said if the time was up before a single repeat was measured.
std::string time_up_text(const ProbeResult& result) {
  return fmt::format(
      "Rate:   unknown: the {} were up after {} images of {} or so ({}).\n"
      "Do:     give it longer with --time, or look at the storage with `chexbench doctor --data {}`.\n",
      duration_text(result.time_s), result.images_seen, printable(result.root),
      results::to_string(results::Grade::sample_too_small), shell_word(result.root));
}

}  // namespace

std::string probe_text(const ProbeResult& result) {
  if (result.ways.empty()) return time_up_text(result);
  const results::Grade grade = result.ways.front().grade;
  std::string mark = result.stopped_after_s ? " [partial]" : "";
  if (grade != results::Grade::told_apart) mark += fmt::format(" [{}]", results::to_string(grade));
  return fmt::format("Rate:   {}{}\nFeeds:  {}{}\nLimit:  {}{}\nDo:     {}{}\nMore:   {}\n", rate_line(result), mark,
                     feeds_line(result), mark, limit_line(result), mark, do_line(result), mark, more_line(result));
}

namespace {

using Json = nlohmann::ordered_json;

Json interval_to_json(const std::optional<measure::Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json way_to_json(const ProbedWay& way) {
  Json object = {{"way", way.name},
                 {"settings", way.settings},
                 {"images_per_s", way.images_per_s},
                 {"ci95", interval_to_json(way.ci95)},
                 {"repeats", way.repeats},
                 {"ratio", nullptr},
                 {"grade", results::to_string(way.grade)}};
  if (way.ratio) object["ratio"] = {{"value", way.ratio->value}, {"ci95", interval_to_json(way.ratio->ci95)}};
  return object;
}

Json accelerator_to_json(const FedAccelerator& accelerator) {
  return {{"name", accelerator.name},
          {"device", accelerator.device},
          {"model", "resnet50"},
          {"precision", spec::to_string(accelerator.precision)},
          {"images_per_s", accelerator.images_per_s},
          {"share", accelerator.share},
          {"count", accelerator.count},
          {"count_ci95", Json::array({accelerator.count_low, accelerator.count_high})}};
}

const char* holdup_word(Holdup holdup) {
  switch (holdup) {
    case Holdup::cores:
      return "cores";
    case Holdup::read:
      return "read";
    case Holdup::op:
      break;
  }
  return "op";
}

Json limit_to_json(const ProbeResult& result) {
  return {{"holdup", holdup_word(result.holdup)},
          {"wait_op", result.wait_op},
          {"wait_part", result.wait_part},
          {"cores_busy_share", result.cores_busy_share},
          {"read_share", result.work.read},
          {"decode_share", result.work.decode},
          {"resize_share", result.work.resize},
          {"other_share", result.work.other},
          {"cached_share", result.cached_share ? Json(*result.cached_share) : Json(nullptr)}};
}

template <class Item>
Json list_of(const std::vector<Item>& items, Json (*to_json)(const Item&)) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

std::string probe_json(const ProbeResult& result) {
  const bool is_measured = !result.ways.empty();
  const Json object = {{"root", result.root},
                       {"layout", spec::to_string(result.layout)},
                       {"images", result.images},
                       {"files", result.files},
                       {"png_files", result.png_files},
                       {"mean_file_bytes", result.mean_file_bytes ? Json(*result.mean_file_bytes) : Json(nullptr)},
                       {"ranks", result.ranks},
                       {"cores", is_measured ? Json(result.cores) : Json(nullptr)},
                       {"images_per_s_per_core", is_measured ? Json(result.images_per_s_per_core) : Json(nullptr)},
                       {"time_s", result.time_s},
                       {"time_was_up", result.time_was_up},
                       {"partial", result.stopped_after_s.has_value()},
                       {"stopped_after_s", result.stopped_after_s ? Json(*result.stopped_after_s) : Json(nullptr)},
                       {"bad_records", result.bad_records},
                       {"passed_over", result.passed_files},
                       {"ways", list_of(result.ways, way_to_json)},
                       {"limit", is_measured ? limit_to_json(result) : Json(nullptr)},
                       {"disturbance", result.disturbance.empty() ? Json(nullptr) : Json(result.disturbance)},
                       {"cpu_limit", result.cpu_limit.empty() ? Json(nullptr) : Json(result.cpu_limit)},
                       {"accelerators", list_of(result.accelerators, accelerator_to_json)},
                       {"folder", result.folder.empty() ? Json(nullptr) : Json(result.folder)},
                       {"spec", result.spec_file.empty() ? Json(nullptr) : Json(result.spec_file)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace chexbench::verbs
