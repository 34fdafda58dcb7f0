#include "verbs/import/dlio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/printable.hpp"
#include "core/text.hpp"
#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/parse.hpp"

namespace chexbench::verbs {
namespace {

using spec::List;
using spec::Node;
using spec::Object;

constexpr int kLeastEpochs = 5;  // to get an interval
constexpr int kMostEpochs = 100;
constexpr int kLeastSteps = 12;
constexpr int kLeastWarmupSteps = 3;

// DLIO names no precision; its times come from trainings in mixed precision.
constexpr auto kPrecision = spec::Precision::fp16;

Node number(int value) { return {std::int64_t{value}}; }

// Returns the network for the workload: its own if chexbench has it.
std::string network_of(const DlioWorkload& workload) {
  const std::vector<std::string>& known = spec::find_key("model.name")->values.words;
  const bool is_known = std::ranges::find(known, workload.model) != known.end();
  return is_known ? workload.model : "resnet50";
}

// Returns the height and width of the network's input: that of a record resized by DLIO, in three channels if that
// gives a whole number; the network's default if DLIO does not resize; else that of a DLIO record.
int image_size_of(const DlioWorkload& workload) {
  const auto side = [](double bytes) { return static_cast<int>(std::clamp(std::sqrt(bytes), 32.0, 4096.0)); };
  const double colored = std::sqrt(workload.delivered_bytes / 3);
  if (workload.delivered_bytes > 0 && colored == std::floor(colored)) return side(workload.delivered_bytes / 3);
  if (workload.delivered_bytes > 0) return side(workload.delivered_bytes);
  if (workload.model == "retinanet") return 800;  // MLPerf's RetinaNet
  return network_of(workload) == workload.model ? spec::ModelSpec().image_size : side(workload.record_bytes);
}

Node op(const char* name, Object parameters = {}) {
  parameters.insert(parameters.begin(), {"op", {name}});
  return {std::move(parameters)};
}

// The batches that each PyTorch worker keeps ready, set by DLIO 2.0.0 (torch_data_loader.py).
int prefetch_factor(const DlioWorkload& workload) {
  if (workload.prefetch_size == 0) return 2;
  return (workload.prefetch_size + workload.read_threads - 1) / std::max(1, workload.read_threads);
}

// torch_data_loader.py: a sampler that splits the set among ranks, persistent workers, drop_last.
List pytorch_ops(const DlioWorkload& workload) {
  List ops{op("list_files", {{"order", {"name"}}})};
  if (workload.shuffles) ops.push_back(op("shuffle", {{"buffer", {"all"}}}));
  ops.push_back(op("shard"));
  if (workload.read_threads == 0) {  // the training's own process loads
    for (const char* name : {"read", "repeat", "map", "batch"}) ops.push_back(op(name));
    return ops;
  }
  ops.push_back(op("worker_batches", {{"num_workers", number(workload.read_threads)},
                                      {"prefetch_factor", number(prefetch_factor(workload))},
                                      {"persistent", {true}}}));
  ops.push_back(op("repeat"));
  return ops;
}

// tf_data_loader.py and tf_reader.py. DLIO decodes nothing; here, its computation_threads do.
List tensorflow_ops(const DlioWorkload& workload) {
  List ops{op("list_files", {{"order", {"name"}}}), op("shard"),
           op("interleave", {{"cycle_length", number(std::max(1, workload.read_threads))}, {"parallel", {true}}})};
  if (workload.shuffles) ops.push_back(op("shuffle", {{"buffer", number(workload.shuffle_size)}}));
  ops.push_back(op("repeat"));
  ops.push_back(op("map", {{"parallel_calls", number(workload.computation_threads)}}));
  ops.push_back(op("batch"));
  if (workload.prefetch_size > 0) ops.push_back(op("prefetch", {{"buffer", number(workload.prefetch_size)}}));
  return ops;
}

Node pipeline_of(const DlioWorkload& workload) {
  if (workload.loader == DlioLoader::dali) return {"dali-like"};
  const bool is_pytorch = workload.loader == DlioLoader::pytorch;
  return {Object{{"name", {is_pytorch ? "dlio-pytorch" : "dlio-tensorflow"}},
                 {"ops", {is_pytorch ? pytorch_ops(workload) : tensorflow_ops(workload)}}}};
}

// Steps must outlast the batches loaded ahead; otherwise the rate of a starving accelerator would be too high.
Object measure_of(const DlioWorkload& workload) {
  const bool is_pytorch = workload.loader == DlioLoader::pytorch;
  const int ahead = is_pytorch ? workload.read_threads * prefetch_factor(workload) : workload.prefetch_size;
  return {{"warmup_steps", number(std::max(kLeastWarmupSteps, ahead + 1))},
          {"steps", number(std::max(kLeastSteps, 4 * ahead))},
          {"repeats", number(std::clamp(workload.epochs, kLeastEpochs, kMostEpochs))},
          {"target_au", {workload.au}}};
}

Node spec_of(const DlioWorkload& workload, const std::string& profile_path) {
  Object data{{"format", {to_string(workload.format)}}, {"deliver", {"u8"}}};  // DLIO's batches are also bytes
  if (!workload.data_folder.empty()) data.insert(data.begin(), {"root", {workload.data_folder}});
  return {Object{
      {"experiment", {workload.name}},
      {"data", {std::move(data)}},
      {"pipeline", pipeline_of(workload)},
      {"model", {Object{{"name", {network_of(workload)}}, {"image_size", number(image_size_of(workload))}}}},
      {"training", {Object{{"batch_size", number(workload.batch_size)}, {"precision", {to_string(kPrecision)}}}}},
      {"engine", {std::string(spec::kEmulatedPrefix) + profile_path}},
      {"comm", {Object{{"model", {"none"}}}}},  // DLIO averages no gradients
      {"measure", {measure_of(workload)}}}};
}

// Returns "b200" of "retinanet_b200": the file names of mlcommons/storage.
std::string accelerator_of(const DlioWorkload& workload) {
  const std::string word = lower_case(workload.name.substr(workload.name.rfind('_') + 1));
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool names_one = word.size() < workload.name.size() && word.size() <= 12 &&
                         std::ranges::all_of(word, is_plain) && std::ranges::any_of(word, is_digit);
  return names_one ? word : "accelerator";
}

std::string images_per_s(const DlioWorkload& workload) {
  return fmt::format("{:.9g} images/s", workload.batch_size / workload.computation_time_s);
}

std::string comments_of(const DlioWorkload& workload, const std::string& source) {
  std::string text = fmt::format(
      "// Is the storage fast enough for DLIO's workload {}? Made by `chexbench import dlio` "
      "of {}.\n",
      printable(workload.name), printable(source));
  for (const LeftOut& left : workload.left_out) {
    text += fmt::format("// Left out of it: {}{}{} ({})\n", printable(left.path), left.text.empty() ? "" : ": ",
                        printable(left.text), left.why);
  }
  return text;
}

}  // namespace

spec::AcceleratorProfile dlio_profile(const DlioWorkload& workload, const std::string& source) {
  const spec::ProfileEntry entry{
      .model = network_of(workload),
      .image_size = image_size_of(workload),
      .precision = kPrecision,
      .batch_size = workload.batch_size,
      .images_per_s = workload.batch_size / workload.computation_time_s,
      .backward_share = 2.0 / 3,
      .includes_communication = true,
      .record_bytes = workload.record_bytes,
      .source = fmt::format("{}: {}, reader.batch_size {}, train.computation_time {} s, which is {}; no precision is "
                            "named there",
                            source, workload.model.empty() ? "a network" : workload.model, workload.batch_size,
                            workload.computation_time_s, images_per_s(workload))};
  const std::string name = accelerator_of(workload);
  return {
      .name = name,
      .device = fmt::format("{} of DLIO's workload {}", name == "accelerator" ? name : upper_case(name), workload.name),
      .entries = {entry}};
}

DlioImport import_dlio(const DlioWorkload& workload, const std::string& source, const std::string& folder) {
  const std::filesystem::path path = folder;
  const spec::AcceleratorProfile profile = dlio_profile(workload, printable(source));
  DlioImport made{.spec_path = (path / "spec.json").string(),
                  .profile_path = (path / (profile.name + ".json")).string(),
                  .profile_text = to_json(profile)};
  made.spec_text = comments_of(workload, source) + to_text(spec_of(workload, made.profile_path)) + "\n";
  spec::parse_profile(made.profile_text, made.profile_path);
  spec::parse_spec(
      made.spec_text, made.spec_path,
      workload.data_folder.empty() ? std::vector<std::string>{"data.root=DIR"} : std::vector<std::string>{});
  return made;
}

std::string import_summary(const DlioWorkload& workload, const DlioImport& made) {
  const double needed = workload.batch_size / workload.computation_time_s;
  std::string text = fmt::format(
      "{}: a step is {}{} in {} s, {} images/s an accelerator, and {:.0f} MB/s in records of {:.0f} bytes.\n"
      "It passes from an accelerator utilization (AU) of {:.0f} %{}.\n",
      printable(workload.name), count_text(static_cast<std::uint64_t>(workload.batch_size), "image"),
      workload.batch_is_default ? " (DLIO's default)" : "", workload.computation_time_s, rate_text(needed),
      needed * workload.record_bytes / 1e6, workload.record_bytes, 100 * workload.au,
      workload.au_is_default ? ", DLIO's default" : "");
  if (network_of(workload) != workload.model) {
    text += fmt::format(
        "chexbench has no network '{}': {} at {}x{} pixels stands for it, of which only the size of the "
        "images matters.\n",
        printable(workload.model), network_of(workload), image_size_of(workload), image_size_of(workload));
  }
  if (!workload.left_out.empty()) text += "\nNot taken from the file:\n";
  for (const LeftOut& left : workload.left_out) {
    text += fmt::format("  line {}: {}{}{}; {}\n", left.line, printable(left.path), left.text.empty() ? "" : " ",
                        printable(left.text, 40), left.why);
  }
  const std::string root = workload.data_folder.empty() ? "DIR" : shell_word(printable(workload.data_folder));
  text += fmt::format(
      "\nwrote {}\nwrote {}\n\nNext, with your images in {}:\n"
      "  chexbench --config {} --set data.root={} --output RUN\n"
      "  chexbench report RUN --format dlio\n",
      printable(made.spec_path), printable(made.profile_path), root, shell_word(made.spec_path), root);
  if (workload.format == spec::DataFormat::tfrecord)
    text += fmt::format("It reads TFRecords of images, which `chexbench data convert {}` makes.\n", root);
  return text;
}

}  // namespace chexbench::verbs
