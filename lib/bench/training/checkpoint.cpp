#include "bench/training/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <type_traits>

#include "bench/rank_layout.hpp"
#include "bench/rank_records.hpp"
#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/numbers.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "engine/training_engine.hpp"
#include "results/read.hpp"
#include "spec/document.hpp"
#include "spec/resolved.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::bench {
namespace {

constexpr const char* kSubject = "checkpoint";
constexpr const char* kCores = "cores_per_rank";
constexpr const char* kUse = "use";
constexpr const char* kAverage = "ema_decay";
constexpr const char* kLabels = "labels";

// Writes a double as a hexadecimal float, which preserves every bit.
std::string exact(double value) { return fmt::format("{:a}", value); }

// Returns keys that identify a training independently of the number of ranks: this version's, then those of older ones.
std::vector<std::string> training_keys(spec::TrialSpec spec) {
  spec.ranks = 0;
  return spec::trial_keys(spec);
}

// Returns the metadata text of `key`, which every checkpoint has.
// @throws DataError if the file has no such key
std::string text_of(const spec::Safetensors& file, const std::string& path, const std::string& key) {
  const std::optional<std::string> text = file.metadata(key);
  if (text) return *text;
  throw DataError(
      fmt::format("{}: {}: not a checkpoint of a training: its __metadata__ has no '{}'; to start from its "
                  "weights, name it as model.weights",
                  kSubject, path, key));
}

template <typename Number>
Number number_of(const spec::Safetensors& file, const std::string& path, const std::string& key) {
  const std::string text = text_of(file, path, key);
  if constexpr (std::is_floating_point_v<Number>) {  // hexadecimal, which keeps every bit
    char* end = nullptr;
    const Number value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() + text.size() && !text.empty()) return value;
  } else if (const auto number = parse_number<Number>(text)) {
    return *number;
  }
  throw DataError(fmt::format("{}: {}: damaged: its '{}' is \"{}\", which is not a number", kSubject, path, key, text));
}

std::string line_of(const std::string& experiment, const std::vector<results::EpochRecord>& epochs) {
  return results::to_journal_line({.key = experiment, .repeat = {.epochs = epochs}});
}

// Returns the names as a JSON list.
std::string list_text(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(json_text(kept_label(name)));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

// Returns the labels named in the file, or none for older files.
// @throws DataError if they are not a list of texts
std::vector<std::string> labels_in(const spec::Safetensors& file, const std::string& path) {
  std::vector<std::string> labels;
  const std::optional<std::string> text = file.metadata(kLabels);
  if (!text) return labels;
  const DataError damaged(fmt::format("{}: {}: damaged: its 'labels' are no list of names", kSubject, path));
  try {
    spec::Node node;
    const spec::List* const list = spec::try_parse_document(*text, path, &node) ? node.list() : nullptr;
    if (list == nullptr) throw damaged;
    for (const spec::Node& one : *list) {
      if (one.text() == nullptr) throw damaged;
      labels.push_back(*one.text());
    }
    return labels;
  } catch (const SpecError&) {  // nested too deep
    throw damaged;
  }
}

// Returns the part of the spec that determines how images are fed to the network, as a spec.
std::string use_of(const spec::TrialSpec& spec) {
  return fmt::format(R"({{"data": {{"color": "{}"}}, "preprocess": {{"resize": "{}", "crop": {}}}, )"
                     R"("model": {{"name": "{}", "image_size": {}}}, "training": {{"task": "{}"}}}})",
                     spec::to_string(spec::color_of(spec.data)), spec::to_string(spec.preprocess.resize),
                     spec.preprocess.crop, spec.model.name, spec.model.image_size, spec::to_string(spec.training.task));
}

std::map<std::string, std::string> metadata_of(const spec::TrialSpec& spec, const TrainingState& state) {
  return {{"format", "pt"},
          {kFormatVersionKey, fmt::to_string(kFormatVersion)},
          {kAverage, exact(spec.training.ema_decay)},
          {"network", spec.model.name},
          {kUse, use_of(spec)},
          {"optimizer", spec::to_string(spec.training.optimizer)},
          {"trial", state.experiment},
          {"training", training_keys(spec).front()},
          {"updates", fmt::to_string(state.updates)},
          {kCores, fmt::to_string(state.cores_per_rank)},
          {"best_loss", exact(state.rate.best_loss)},
          {"epochs_without_better", fmt::to_string(state.rate.epochs_without_better)},
          {"rate_factor", exact(state.rate.factor)},
          {"best_score", exact(state.best_score)},
          {kLabels, list_text(state.labels)},
          {"epochs", line_of(state.experiment, state.epochs)}};
}

// @throws DataError if a newer chexbench wrote the notes
void check_version(const spec::Safetensors& file, const std::string& path) {
  if (!file.metadata(kFormatVersionKey)) return;
  const std::string refusal = refusal_of_version(number_of<std::int64_t>(file, path, kFormatVersionKey));
  if (!refusal.empty()) throw DataError(fmt::format("{}: {}: {}", kSubject, path, refusal));
}

// @throws DataError if no training can have reached these numbers
void check_reachable(const TrainingState& state, const std::string& path) {
  // More than any training makes, and few enough for num_batches_tracked, which is this times accumulate_steps.
  constexpr std::int64_t kMostUpdates = std::int64_t{1} << 40;
  const auto refuse = [&path](const std::string& what) {
    throw DataError(fmt::format("{}: {}: damaged: {}", kSubject, path, what));
  };
  if (state.updates < 0 || state.updates > kMostUpdates) {
    refuse(fmt::format("it counts {} updates, which must be from 0 to {}", state.updates, kMostUpdates));
  }
  if (!(state.rate.factor > 0 && state.rate.factor <= 1))
    refuse(fmt::format("a learning rate times {}", state.rate.factor));
  const int without_better = state.rate.epochs_without_better;
  if (without_better < 0 || static_cast<std::size_t>(without_better) > state.epochs.size()) {
    refuse(fmt::format("{} of its {} epochs were not better than the best", without_better, state.epochs.size()));
  }
  // The loss is infinite before the first epoch; afterwards loss and score are never NaN, even if the training
  // diverges.
  if (std::isnan(state.rate.best_loss) || std::isnan(state.best_score))
    refuse("its best loss or score is not a number");
}

void check_fits(const spec::Safetensors& file, const std::string& path, const spec::TrialSpec& spec) {
  const auto check = [&](const std::string& key, const std::string& wanted, const char* spec_key) {
    const std::string found = text_of(file, path, key);
    if (found == wanted) return;
    throw DataError(fmt::format("{}: {}: it was written by a training of {} {}, and {} is {}", kSubject, path, key,
                                found, spec_key, wanted));
  };
  check("network", spec.model.name, "model.name");
  check("optimizer", spec::to_string(spec.training.optimizer), "training.optimizer");
  const bool has_average = file.metadata(kAverage) && number_of<double>(file, path, kAverage) > 0;
  if (spec.training.ema_decay == 0 || has_average) return;
  throw DataError(
      fmt::format("{}: {}: its training had no moving average of the weights, so training.ema_decay cannot go on with "
                  "it: leave that at 0, or start from its weights by model.weights",
                  kSubject, path));
}

void check_same_training(const spec::Safetensors& file, const std::string& path, const spec::TrialSpec& spec) {
  const std::vector<std::string> keys = training_keys(spec);
  if (std::ranges::find(keys, file.metadata("training")) != keys.end()) return;
  throw SpecError(fmt::format(
      "{} belongs to a training by another spec, or of another version of chexbench: resume it with the same --config, "
      "--set and version, use --output for a new run, or begin one from it by training.checkpoint",
      path));
}

// Returns a source that reads tensors from the file on rank 0 and sends them to every rank.
model::WeightSource shared_tensors(const std::optional<spec::Safetensors>& file, comm::Communicator& communicator) {
  return [&file, &communicator](const model::TensorInfo& info, std::span<float> values) {
    if (file) file->read(info.name, info.shape, values);
    communicator.broadcast(std::as_writable_bytes(values), 0);
  };
}

}  // namespace

TrainingState training_state(const spec::Safetensors& file, const std::string& path) {
  check_version(file, path);
  TrainingState state;
  state.experiment = text_of(file, path, "trial");
  state.updates = number_of<std::int64_t>(file, path, "updates");
  state.rate = {.best_loss = number_of<double>(file, path, "best_loss"),
                .epochs_without_better = number_of<int>(file, path, "epochs_without_better"),
                .factor = number_of<double>(file, path, "rate_factor")};
  state.best_score = number_of<double>(file, path, "best_score");
  if (file.metadata(kCores)) state.cores_per_rank = number_of<int>(file, path, kCores);
  const results::JournalContents journal = results::journal_from_text(text_of(file, path, "epochs") + '\n', path);
  if (journal.entries.size() != 1 || journal.entries.front().repeat.epochs.empty())
    throw DataError(fmt::format("{}: {}: damaged: it has no list of epochs", kSubject, path));
  state.epochs = journal.entries.front().repeat.epochs;
  check_reachable(state, path);
  return state;
}

std::string kept_label(const std::string& name) { return is_utf8(name) ? name : printable(name); }

std::string last_checkpoint(const std::string& folder) { return folder + "/last.safetensors"; }

bool is_checkpoint_after(const std::string& path, const std::vector<results::EpochRecord>& epochs) {
  const spec::Safetensors file(path, kSubject);
  return line_of("", training_state(file, path).epochs) == line_of("", epochs);
}

void write_checkpoint(const std::string& path, const spec::TrialSpec& spec, const TrainingState& state,
                      engine::Engine& engine, bool moments) {
  std::vector<spec::TensorToWrite> tensors;
  // The 8-byte integers come first, because they might not be aligned after 4-byte values.
  for (const model::TensorInfo& buffer : engine.buffers()) {
    if (!buffer.name.ends_with(".running_mean")) continue;
    const std::string norm = buffer.name.substr(0, buffer.name.rfind('.'));
    tensors.push_back({.name = norm + ".num_batches_tracked",
                       .shape = {},
                       .fill = {},
                       .scalar = state.updates * spec.training.accumulate_steps});
  }
  const auto add = [&tensors](const std::vector<model::TensorInfo>& infos, auto read) {
    for (const model::TensorInfo& info : infos) {
      tensors.push_back({.name = info.name, .shape = info.shape, .fill = [info, read](std::span<float> values) {
                           read(info.name, values);
                         }});
    }
  };
  add(engine.parameters(), [&](const auto& name, auto values) { engine.read_parameter(name, values); });
  add(engine.buffers(), [&](const auto& name, auto values) { engine.read_buffer(name, values); });
  if (moments) {
    engine::EpochTraining& training = *engine.epoch_training();
    add(training.moments(), [&](const auto& name, auto values) { training.read_moment(name, values); });
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  make_folder(folder);
  remove_abandoned_files(folder.string());  // files of runs killed while writing
  spec::write_safetensors(path, tensors, metadata_of(spec, state));
}

TrainedNetwork trained_network(const spec::Safetensors& file, const std::string& path) {
  TrainedNetwork network;
  if (!file.metadata("epochs")) return network;  // weights from another program
  const TrainingState state = training_state(file, path);
  network.name = text_of(file, path, "network");
  network.use = file.metadata(kUse).value_or("");
  network.epochs = static_cast<int>(state.epochs.size());
  network.labels = labels_in(file, path);
  if (!network.labels.empty()) return network;
  for (const results::LabelScore& score : state.epochs.back().scores) network.labels.push_back(score.label);
  return network;
}

TrainingState resume_from(const CheckpointToResume& checkpoint, const spec::TrialSpec& spec, engine::Engine& engine,
                          comm::Communicator& communicator) {
  const std::string& path = checkpoint.path;
  std::optional<spec::Safetensors> file;
  if (communicator.rank() == 0) {
    file.emplace(path, kSubject);
    check_fits(*file, path, spec);
    if (checkpoint.same_training) check_same_training(*file, path, spec);
  }
  TrainingState state = broadcast_record(communicator, file ? training_state(*file, path) : TrainingState{});
  engine.epoch_training()->resume(shared_tensors(file, communicator), state.updates);
  return state;
}

}  // namespace chexbench::bench
