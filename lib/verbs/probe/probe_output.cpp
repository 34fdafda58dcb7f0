#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "report/text_table.hpp"
#include "results/labels.hpp"
#include "verbs/probe/probe.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

using analysis::whole_percent;

std::string name_of(const FedAccelerator& accelerator) {
  return fmt::format("{} ({})", upper_case(accelerator.name), spec::to_string(accelerator.precision));
}

// Returns "2", or "1 to 2" if the interval leaves it open.
std::string count_of(const FedAccelerator& accelerator) {
  if (accelerator.count_low == accelerator.count_high) return fmt::to_string(accelerator.count_low);
  return fmt::format("{} to {}", accelerator.count_low, accelerator.count_high);
}

// Returns whether the rate is for image files; a data set may have only shards.
bool reads_files(const ProbeResult& result) {
  const std::string& way = result.ways.front().name;
  return way == "png" || way == "jpeg" || way == "dicom";
}

// Returns whether the layout consists of shards only, so that there is nothing to convert or compare.
bool is_own_index(const ProbeResult& result) { return result.layout == spec::DataLayout::imagenet; }

// Returns "decoding (85 % of the work)".
std::string limit_of(const ProbeResult& result) {
  const WorkShares& work = result.work;
  if (result.holdup == Holdup::read) return "reading";
  if (result.holdup == Holdup::op) {
    const std::string op = result.wait_op.empty() ? "the pipeline" : "op " + result.wait_op;
    return result.wait_part.empty() ? op : fmt::format("{} ({})", op, result.wait_part);
  }
  const double largest = std::max({work.read, work.decode, work.resize});
  if (largest < 0.5) return "the cores";
  const char* const what = largest == work.read ? "reading" : largest == work.decode ? "decoding" : "resizing";
  return fmt::format("{} ({} of the work)", what, whole_percent(largest));
}

std::string headline(const ProbeResult& result) {
  std::string text = fmt::format("{} images/s from {}; limited by {}", rate_text(result.ways.front().images_per_s),
                                 count_text(static_cast<std::uint64_t>(result.cores), "core"), limit_of(result));
  if (result.stopped_after_s) {
    text += fmt::format("   [partial: {} of {}]", duration_text(*result.stopped_after_s), duration_text(result.time_s));
  }
  const results::Grade grade = result.ways.front().grade;
  if (grade != results::Grade::told_apart) text += fmt::format("   [{}]", results::to_string(grade));
  return text;
}

std::string range_line(const ProbeResult& result) {
  const ProbedWay& way = result.ways.front();
  const std::string repeats = count_text(way.repeats, "repeat");
  std::string text = way.ci95 ? fmt::format("{} to {} (95 % interval, {})", rate_text(way.ci95->low),
                                            rate_text(way.ci95->high), repeats)
                              : fmt::format("unknown ({})", repeats);
  if (!result.disturbance.empty())
    text += fmt::format("; {}; idle, up to {} images/s", result.disturbance, rate_text(result.free_images_per_s));
  if (!result.cpu_limit.empty()) text += "; " + result.cpu_limit;
  return text;
}

// Returns where the files came from, because a fast store and the page cache look alike.
std::string source_of(const ProbeResult& result) {
  if (result.is_distant) return "; read from the server";
  if (!result.cached_share) return "";
  constexpr double kAll = 0.95;
  if (*result.cached_share >= kAll) return "; read from memory, so the disk was not measured";
  if (*result.cached_share <= 1 - kAll) return "; read from disk";
  return fmt::format("; {} read from memory", whole_percent(*result.cached_share));
}

std::string data_line(const ProbeResult& result) {
  const std::string& way = result.ways.front().name;
  const bool are_files = reads_files(result);
  const std::string images = count_text(result.images, are_files ? upper_case(way) : "image");
  const std::string detail = !are_files               ? fmt::format(" in {} shards", way)
                             : result.mean_file_bytes ? fmt::format(" of {:.0f} kB", *result.mean_file_bytes / 1e3)
                                                      : "";
  return fmt::format("{}{}, resized to 224 x 224{}", images, detail, source_of(result));
}

std::string work_line(const ProbeResult& result) {
  const WorkShares& work = result.work;
  const bool lack_cores = result.holdup == Holdup::cores && result.cores_busy_share < analysis::kFullCores;
  return fmt::format("decoding {}, resizing {}, reading {}; cores {} busy{}", whole_percent(work.decode),
                     whole_percent(work.resize), whole_percent(work.read), whole_percent(result.cores_busy_share),
                     lack_cores ? ", and threads wait for a free one" : "");
}

std::string failed_line(const ProbeResult& result) {
  if (result.bad_records == 0) return "";
  const bool are_few = result.bad_share < 0.005;  // 0 % in whole numbers
  return fmt::format("{} of the reads, skipped; {}", are_few ? "under 1 %" : "about " + whole_percent(result.bad_share),
                     is_own_index(result)
                         ? "--set data.on_bad_record=stop lets a run name them"
                         : fmt::format("`chexbench data check {}` names the files", shell_word(result.root)));
}

// Returns the accelerators that the answer names, each in its fastest precision, the slowest first.
std::vector<const FedAccelerator*> named_accelerators(const ProbeResult& result) {
  std::vector<const FedAccelerator*> named;
  for (const FedAccelerator& accelerator : result.accelerators) {
    if (!accelerator.named) continue;
    std::erase_if(named, [&](const FedAccelerator* slower) { return slower->name == accelerator.name; });
    named.push_back(&accelerator);
  }
  return named;
}

std::string feeds_line(const ProbeResult& result) {
  std::vector<std::string> fed;
  for (const FedAccelerator* const accelerator : named_accelerators(result)) {
    if (accelerator->count_high > 0) fed.push_back(fmt::format("{} {}", count_of(*accelerator), name_of(*accelerator)));
  }
  return fed.empty() ? "" : fmt::format("{}, each alone, training ResNet50", fmt::join(fed, " or "));
}

std::string keeps_line(const ProbeResult& result) {
  std::vector<std::string> kept;
  for (const FedAccelerator* const accelerator : named_accelerators(result)) {
    if (accelerator->count_high == 0)
      kept.push_back(fmt::format("{} {}", name_of(*accelerator), whole_percent(accelerator->share)));
  }
  if (kept.empty()) return "";
  const bool are_all = std::ranges::all_of(result.accelerators, &FedAccelerator::named);
  return fmt::format("one {} busy training ResNet50{}", fmt::join(kept, ", "),
                     are_all ? "" : "; --gpu NAME for others");
}

std::string cores_line(const ProbeResult& result) {
  if (result.holdup != Holdup::cores || result.images_per_s_per_core <= 0) return "";
  std::vector<std::string> needed;
  for (const FedAccelerator* const accelerator : named_accelerators(result)) {
    if (accelerator->count_high > 0) continue;
    needed.push_back(fmt::format("{} {:.0f}{}", upper_case(accelerator->name),
                                 std::ceil(accelerator->images_per_s / result.images_per_s_per_core),
                                 needed.empty() ? " cores" : ""));
  }
  return fmt::format("{}", fmt::join(needed, ", "));
}

// Returns the fastest further way, or "" if none is shown to be faster than the first.
std::string faster_line(const ProbeResult& result) {
  const ProbedWay* best = nullptr;
  for (const ProbedWay& way : result.ways) {
    const bool is_faster = way.ratio && way.grade == results::Grade::told_apart && way.ratio->value > 1;
    if (is_faster && (best == nullptr || way.ratio->value > best->ratio->value)) best = &way;
  }
  if (best == nullptr) return "";
  return fmt::format("with --set {}: {} (95 % interval {})", best->settings, report::times(best->ratio->value),
                     report::interval_text(best->ratio));
}

std::string next_line(const ProbeResult& result) {
  const std::string root = shell_word(result.root);
  const auto lacks = [](const FedAccelerator* accelerator) { return accelerator->count_high == 0; };
  const std::vector<const FedAccelerator*> named = named_accelerators(result);
  const bool all_are_fed = std::ranges::none_of(named, lacks);
  if (result.holdup == Holdup::read) {
    return fmt::format("chexbench data stage {} FOLDER{}   # copies it to a fast disk", root,
                       is_own_index(result) ? " --split all --format tfrecord" : "");
  }
  if (all_are_fed) return "nothing: these accelerators are fed";
  const bool decoding_leads = result.work.decode >= result.work.read;
  if (result.holdup == Holdup::cores && !result.is_distant && reads_files(result) && decoding_leads)
    return fmt::format("chexbench data convert {} --split all --to cached   # decodes only once", root);
  return fmt::format("chexbench advise --config {}   # tries faster pipelines",
                     result.spec_file.empty() ? "SPEC" : shell_word(result.spec_file));
}

std::string details_line(const ProbeResult& result) {
  if (result.folder.empty()) return "not written; --output DIR saves the figures and a spec";
  return fmt::format("{}/report.html; `chexbench --config {}` measures again", printable(result.folder),
                     shell_word(result.spec_file));
}

// Returns the answer if the time was up before a single repeat was measured.
std::string time_up_text(const ProbeResult& result) {
  return fmt::format(
      "rate unknown: {} were over after {}   [{}]\n"
      "  next     chexbench {} --time {:.0f}\n"
      "  or       chexbench doctor --data {}   # looks at the storage\n",
      duration_text(result.time_s), count_text(result.images_seen, "image"),
      results::to_string(results::Grade::sample_too_small), shell_word(result.root),
      std::min(10 * result.time_s, kLongestProbe_s), shell_word(result.root));
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
  if (holdup == Holdup::cores) return "cores";
  return holdup == Holdup::read ? "read" : "op";
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
          {"cached_share", or_null(result.cached_share)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

std::string probe_text(const ProbeResult& result) {
  if (result.ways.empty()) return time_up_text(result);
  std::string text = headline(result) + "\n";
  const std::array<std::pair<const char*, std::string>, 11> lines = {{{"range", range_line(result)},
                                                                      {"data", data_line(result)},
                                                                      {"unused", result.passed_over},
                                                                      {"failed", failed_line(result)},
                                                                      {"work", work_line(result)},
                                                                      {"feeds", feeds_line(result)},
                                                                      {"keeps", keeps_line(result)},
                                                                      {"to feed", cores_line(result)},
                                                                      {"faster", faster_line(result)},
                                                                      {"next", next_line(result)},
                                                                      {"details", details_line(result)}}};
  for (const auto& [name, line] : lines)
    if (!line.empty()) text += fmt::format("  {:<8} {}\n", name, line);
  return text;
}

std::string probe_json(const ProbeResult& result) {
  const bool is_measured = !result.ways.empty();
  return indented_json({{"root", result.root},
                        {"layout", spec::to_string(result.layout)},
                        {"images", result.images},
                        {"files", result.files},
                        {"png_files", result.png_files},
                        {"mean_file_bytes", or_null(result.mean_file_bytes)},
                        {"ranks", result.ranks},
                        {"cores", is_measured ? Json(result.cores) : Json(nullptr)},
                        {"images_per_s_per_core", is_measured ? Json(result.images_per_s_per_core) : Json(nullptr)},
                        {"time_s", result.time_s},
                        {"time_was_up", result.time_was_up},
                        {"partial", result.stopped_after_s.has_value()},
                        {"stopped_after_s", or_null(result.stopped_after_s)},
                        {"bad_records", result.bad_records},
                        {"passed_over", result.passed_files},
                        {"ways", list_of(result.ways, way_to_json)},
                        {"limit", is_measured ? limit_to_json(result) : Json(nullptr)},
                        {"disturbance", text_or_null(result.disturbance)},
                        {"cpu_limit", text_or_null(result.cpu_limit)},
                        {"accelerators", list_of(result.accelerators, accelerator_to_json)},
                        {"folder", text_or_null(result.folder)},
                        {"spec", text_or_null(result.spec_file)}});
}

}  // namespace chexbench::verbs
