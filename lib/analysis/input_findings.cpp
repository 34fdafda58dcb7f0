#include "analysis/input_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "analysis/commands.hpp"
#include "analysis/findings.hpp"
#include "core/text.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

using spec::OpSpec;

constexpr std::int64_t kManyBatches = 8;    // in a prefetch, worth a sentence
constexpr double kManyDecodedBytes = 64e6;  // of decoded images in a shuffle's buffer, worth a sentence
constexpr double kSmallShardBytes =
    10e6;  // tensorflow.org, "Better performance with tf.data", recommends at least 100 MB
constexpr double kGoodShardBytes = 100e6;
constexpr double kLargeSetBytes = 1e9;    // a set of this size can have large shards
constexpr double kFromStorage = 0.1;      // of the bytes read; below it, the page cache served the reads
constexpr double kRemainderShare = 0.01;  // of a rank's images, left out of each epoch

std::string megabytes(double bytes) { return fmt::format("{:.{}f} MB", bytes / 1e6, bytes < 1e7 ? 1 : 0); }

double image_bytes(const results::TrialResult& trial) {
  const BatchShape shape{1, trial.spec.model.image_size, trial.spec.model.image_size, spec::delivered(trial.spec.data)};
  return static_cast<double>(shape.bytes());
}

// Walks the op list of one trial and collects sentences about it.
class Reader {
 public:
  Reader(const results::TrialResult& trial, const results::Figures& figures) : trial_(trial), figures_(figures) {}

  std::vector<results::Finding> read() {
    spec::ElementKind kind = spec::ElementKind::none;
    bool repeats = false;
    for (const OpSpec& op : trial_.spec.pipeline.ops) {
      const spec::OpRule& rule = op.rule();
      if (rule.shuffles && kind == spec::ElementKind::example) shuffle_decoded(op);
      if (rule.runs_ahead && kind == spec::ElementKind::batch) prefetch_batches(op);
      if (rule.decodes() && !rule.at_once.empty()) few_parallel_calls(op, rule.at_once);
      if (rule.batches() && !repeats) batch_remainder(op);
      if (rule.reads() && !rule.at_once.empty()) small_shards(op);
      is_shared_out_ = is_shared_out_ || rule.shards;
      repeats = repeats || rule.repeats;
      kind = rule.given(kind);
    }
    return std::move(findings_);
  }

 private:
  void add(const char* kind, const std::string& text, FindingParts parts) {
    findings_.push_back(
        finding_about(trial_, kind, fmt::format("{} {}.", results::marked(trial_), text), std::move(parts)));
  }

  // Returns the command that measures another value of an op's parameter, or "" if the op's name alone is ambiguous.
  std::string set_again(const OpSpec& op, const std::string& parameter, const std::string& value) const {
    const auto namesakes = std::ranges::count(trial_.spec.pipeline.ops, op.op, &OpSpec::op);
    return namesakes > 1 ? "" : run_op_again(trial_, fmt::format("pipeline.{}.{}={}", op.op, parameter, value));
  }

  // Returns the share of the time that a faster input would save.
  double input_share() const {
    return figures_.limit == results::LimitedBy::input ? figures_.wait_share.value_or(0) : 0;
  }

  void shuffle_decoded(const OpSpec& shuffle) {
    const auto images = static_cast<double>(trial_.data.images);
    const double of_rank = std::floor(images / sharers());
    const double buffer =
        shuffle.holds_text("buffer") ? of_rank : std::min(static_cast<double>(shuffle.integer("buffer")), of_rank);
    if (buffer * image_bytes(trial_) < kManyDecodedBytes) return;
    const double record_bytes = static_cast<double>(trial_.data.file_bytes) / std::max(images, 1.0);
    add("shuffle_decoded",
        fmt::format("shuffles decoded images: {:.0f} of them take {} a rank; in front of the op that "
                    "decodes, that many records take {}, or nothing where they are handles of files",
                    buffer, megabytes(buffer * image_bytes(trial_)), megabytes(buffer * record_bytes)),
        {.headline = fmt::format("holds {} of decoded images in its shuffle", megabytes(buffer * image_bytes(trial_))),
         .reason = fmt::format("As many undecoded records take {} or nothing.", megabytes(buffer * record_bytes)),
         .advice = "Put shuffle in front of the op that decodes.",
         .command = ""});
  }

  void prefetch_batches(const OpSpec& prefetch) {
    const int batch = trial_.spec.training.batch_size;
    const bool counted = prefetch.holds_text("buffer");
    if (counted && prefetch.text("buffer") == "auto") return;
    const std::int64_t batches = counted ? batch : prefetch.integer("buffer");
    if (batches < kManyBatches) return;
    const double bytes = static_cast<double>(batches) * batch * image_bytes(trial_);
    add("prefetch_batches",
        fmt::format(
            "prefetches {} batches, up to {} a rank{}; two keep an accelerator fed, and \"auto\" takes more only "
            "where they help",
            batches, megabytes(bytes), counted ? ": after the batch, buffer \"batch\" counts batches" : ""),
        {.headline = fmt::format("prefetches {} batches, up to {} a rank", batches, megabytes(bytes)),
         .reason = counted ? "After the batch, buffer \"batch\" counts batches; two keep an accelerator fed."
                           : "Two keep an accelerator fed.",
         .advice = "Prefetch \"auto\", which takes more only where they help.",
         .command = set_again(prefetch, "buffer", "auto")});
  }

  void few_parallel_calls(const OpSpec& op, const std::string& parameter) {
    if (figures_.limit != results::LimitedBy::input || figures_.wait_op != op.op) return;
    const std::int64_t calls = op.integer_or(parameter, trial_.cores_per_rank);
    if (calls >= trial_.cores_per_rank) return;
    const std::string key = fmt::format("pipeline.{}.{}", op.op, parameter);
    add("few_parallel_calls",
        fmt::format("waits for {}, which works on {} at a time and has {} cores: raise {}", op.op, calls,
                    trial_.cores_per_rank, key),
        {.headline = fmt::format("decodes {} images at a time on {} cores", calls, trial_.cores_per_rank),
         .reason = fmt::format("It waits for {} while cores are free.", op.op),
         .advice = fmt::format("Raise {}.", key),
         .command = set_again(op, parameter, fmt::to_string(trial_.cores_per_rank)),
         .worth_share = input_share()});
  }

  void batch_remainder(const OpSpec& batch) {
    if (batch.flag("drop_remainder") != true) return;
    const std::uint64_t of_rank = trial_.data.images / static_cast<std::uint64_t>(sharers());
    const std::uint64_t left = of_rank % static_cast<std::uint64_t>(trial_.spec.training.batch_size);
    if (static_cast<double>(left) <= kRemainderShare * static_cast<double>(of_rank)) return;
    add("batch_remainder",
        fmt::format(
            "leaves {} of a rank's {} images out of each epoch because batches end with it: put repeat before the "
            "batch",
            left, of_rank),
        {.headline = fmt::format("leaves {} of {} images out of each epoch", left, of_rank),
         .reason = "Its batches end with the epoch, and the rest is dropped.",
         .advice = "Put repeat before the batch.",
         .command = "",
         .worth_share = static_cast<double>(left) / static_cast<double>(of_rank)});
  }

  void small_shards(const OpSpec& interleave) {
    if (!spec::reads_shards(trial_.spec.data.format) || trial_.data.files == 0) return;
    const double shard_bytes = static_cast<double>(trial_.data.file_bytes) / static_cast<double>(trial_.data.files);
    const std::int64_t wanted = interleave.integer_or(interleave.rule().at_once, 1) * sharers();
    if (static_cast<std::int64_t>(trial_.data.files) < wanted) {
      const std::string who = sharers() > 1 ? fmt::format("its {} ranks", sharers()) : "it";
      add("small_shards",
          fmt::format("reads {} shards, where {} could have {} open: {}lower pipeline.interleave.cycle_length",
                      trial_.data.files, who, wanted,
                      is_published() ? "" : fmt::format("convert with --shards {} or ", wanted)),
          {.headline = fmt::format("reads {} shards, where {} could have {} open", trial_.data.files, who, wanted),
           .reason = "It reads fewer files at once than its cycle_length asks for.",
           .advice = is_published()
                         ? "Lower pipeline.interleave.cycle_length."
                         : fmt::format("Convert into {} shards, or lower pipeline.interleave.cycle_length.", wanted),
           .command = convert_command(fmt::format(" --shards {}", wanted)),
           .worth_share = input_share()});
    } else if (static_cast<double>(trial_.data.file_bytes) > kLargeSetBytes && shard_bytes < kSmallShardBytes &&
               !is_published()) {
      add("small_shards",
          fmt::format("reads shards of {}: opening many small files is slow on most storage; convert with "
                      "fewer --shards",
                      megabytes(shard_bytes)),
          {.headline = fmt::format("reads shards of {} only", megabytes(shard_bytes)),
           .reason = "Opening many small files is slow on most storage.",
           .advice = "Convert into fewer shards.",
           .command = convert_command(fmt::format(
               " --shards {:.0f}", std::ceil(static_cast<double>(trial_.data.file_bytes) / kGoodShardBytes))),
           .worth_share = input_share()});
    }
  }

  // Returns how many ranks divide the files or images among themselves before the current op.
  int sharers() const { return is_shared_out_ ? trial_.ranks : 1; }

  // Whether the shards are as published, without images from which `data convert` could make others.
  bool is_published() const { return trial_.spec.data.layout == spec::DataLayout::imagenet; }

  std::string convert_command(const std::string& option) const {
    if (spec::is_distant(trial_.spec) || is_published()) return "";
    return fmt::format("chexbench data convert {} --split {} --to {}{}", shell_word(trial_.spec.data.root),
                       to_string(trial_.spec.data.split), to_string(trial_.spec.data.format), option);
  }

  const results::TrialResult& trial_;
  const results::Figures& figures_;
  bool is_shared_out_ = false;  // by a shard before the current op
  std::vector<results::Finding> findings_;
};

// Returns whether the trial read from the page cache although its spec did not ask for that. Data from a server never
// does.
bool is_cached(const results::TrialResult& trial) {
  double read = 0, from_storage = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    read += static_cast<double>(repeat.bytes_read);
    from_storage += static_cast<double>(repeat.storage_read_bytes);
  }
  return trial.spec.measure.page_cache == spec::PageCache::as_is && !spec::is_distant(trial.spec) && read > 0 &&
         from_storage < kFromStorage * read;
}

// Warns once if two trials read different images of the same split and format: their rates cannot be compared.
void append_other_images(const std::vector<const results::TrialResult*>& trials,
                         std::vector<results::Finding>& findings) {
  for (const results::TrialResult* const trial : trials) {
    const results::TrialResult* const first = *std::ranges::find_if(trials, [trial](const results::TrialResult* other) {
      return other->spec.data.split == trial->spec.data.split && other->spec.data.format == trial->spec.data.format;
    });
    if (first->data.names_key == trial->data.names_key || first->spec.data.root == trial->spec.data.root) continue;
    findings.push_back(
        {.kind = "other_images",
         .text =
             fmt::format("{} and {} contain different images ({} and {} of split {}): their rates are not comparable.",
                         trial->spec.data.root, first->spec.data.root, trial->data.images, first->data.images,
                         to_string(trial->spec.data.split)),
         .headline = fmt::format("{} and {} images are not the same set", trial->data.images, first->data.images),
         .reason = fmt::format("{} and {} contain different images, so their rates are not comparable.",
                               trial->spec.data.root, first->spec.data.root),
         .advice = "Compare copies of one set.",
         .worth_share = 1});
    return;
  }
}

// Warns once per data set and format if images changed after they were converted.
void append_old_shards(const std::vector<const results::TrialResult*>& trials,
                       std::vector<results::Finding>& findings) {
  std::set<std::string> said;
  for (const results::TrialResult* const trial : trials) {
    const std::string of = fmt::format("{}, {}", trial->spec.data.root, spec::to_string(trial->spec.data.format));
    if (trial->data.images_newer == 0 || !said.insert(of).second) continue;
    findings.push_back(
        {.kind = "old_shards",
         .text = fmt::format("{}: {} of {} sampled image files changed after they were converted, so these "
                             "trials read older images: convert them again.",
                             of, trial->data.images_newer, trial->data.images_looked_at),
         .headline = fmt::format("{} of {} image files changed after their conversion", trial->data.images_newer,
                                 trial->data.images_looked_at),
         .reason = fmt::format("Trials over {} read older images.", of),
         .advice = "Convert them again.",
         .worth_share = static_cast<double>(trial->data.images_newer) /
                        static_cast<double>(std::max<std::uint64_t>(trial->data.images_looked_at, 1))});
  }
}

// Warns once per data set if patients are in both splits, or if a training cannot find out.
void append_patients(const std::vector<const results::TrialResult*>& trials, std::vector<results::Finding>& findings) {
  std::set<std::string> said;
  for (const results::TrialResult* const trial : trials) {
    const std::string& root = trial->spec.data.root;
    const std::optional<std::uint64_t>& shared = trial->data.patients_in_both_splits;
    const bool unknown = !shared && trial->spec.training.epochs > 0 && trial->data.images > 0;
    if ((!unknown && shared.value_or(0) == 0) || !said.insert(root).second) continue;
    findings.push_back(
        unknown
            ? results::Finding{.kind = "unknown_patients",
                               .text =
                                   fmt::format("{}: the patients of these images are unknown, so one may be in both "
                                               "training and validation: name the column with "
                                               "data.labels.patient_column.",
                                               root),
                               .headline = fmt::format("{} images are of unknown patients", trial->data.images),
                               .reason = fmt::format("A patient of {} may be in both training and validation.", root),
                               .advice = "Name the column of patients with data.labels.patient_column."}
            : results::Finding{.kind = "shared_patients",
                               .text = fmt::format("{}: {} patients have images in both train and test, so a test "
                                                   "would measure what the network has seen.",
                                                   root, *shared),
                               .headline = fmt::format("{} patients are in both train and test", *shared),
                               .reason = fmt::format("A test over {} would measure what the network has seen.", root),
                               .advice = "Split by patients.",
                               .worth_share = 1});
  }
}

// Returns " 97 % of the trials' files were in memory as repeats began.", or "" if no files were checked.
std::string share_in_memory(const std::vector<const results::TrialResult*>& trials) {
  double bytes = 0, cached = 0;
  for (const results::TrialResult* trial : trials) {
    for (const results::RepeatResult& repeat : trial->repeats) {
      bytes += static_cast<double>(repeat.looked_at_bytes);
      cached += static_cast<double>(repeat.cached_bytes_before);
    }
  }
  if (bytes == 0) return {};
  return fmt::format(" {:.0f} % of the trials' files were in memory as repeats began.", 100 * cached / bytes);
}

}  // namespace

std::vector<results::Finding> input_findings(const results::TrialResult& trial, const results::Figures& figures) {
  if (!spec::uses_pipeline(trial.spec)) return {};
  return Reader(trial, figures).read();
}

std::vector<results::Finding> data_findings(const std::vector<const results::TrialResult*>& trials) {
  std::vector<results::Finding> findings;
  const auto cached =
      std::ranges::count_if(trials, [](const results::TrialResult* trial) { return is_cached(*trial); });
  if (cached > 0) {
    findings.push_back(
        {.kind = "page_cache",
         .text = fmt::format("{} of {} trials read from the page cache, not from the storage (under {:.0f} % of their "
                             "bytes came from there): measure.page_cache cold shows what the storage delivers.{}",
                             cached, trials.size(), 100 * kFromStorage, share_in_memory(trials)),
         .headline = static_cast<std::size_t>(cached) == trials.size()
                         ? "all images were read from memory, not from storage"
                         : fmt::format("{} of {} trials read from memory, not from storage", cached, trials.size()),
         .reason = fmt::format("Under {:.0f} % of their bytes came from the storage.", 100 * kFromStorage),
         .advice = "Measure with a cold page cache to learn what the storage gives.",
         .command = run_again(*trials.back(), "measure.page_cache=cold")});
  }
  append_other_images(trials, findings);
  append_old_shards(trials, findings);
  append_patients(trials, findings);
  return findings;
}

std::vector<results::Finding> cpu_findings(const results::Report& report) {
  const results::Environment& environment = report.environment;
  bool trains = false, trains_in_bf16 = false;
  for (const results::TrialResult& trial : report.trials) {
    if (trial.spec.engine != "onednn" || trial.repeats.empty()) continue;
    trains = true;
    trains_in_bf16 = trains_in_bf16 || trial.spec.training.precision == spec::Precision::bf16;
  }
  if (!trains) return {};
  std::vector<std::string> unused = environment.unused_instruction_sets;
  if (!trains_in_bf16)
    std::erase_if(unused,
                  [](const std::string& set) { return set.starts_with("AVX512_BF16") || set.starts_with("AMX"); });
  if (unused.empty()) return {};
  const std::string sets = fmt::format("{}", fmt::join(unused, ", "));
  return {
      {.kind = "unused_instructions",
       .text =
           fmt::format("The CPU ({}) has instruction sets that training did not use: {}.", environment.cpu_kind, sets),
       .headline =
           fmt::format("The CPU is {}, but training did not use all of its instruction sets", environment.cpu_kind),
       .reason = fmt::format("Not used: {}.", sets),
       .advice = "Unset CHEXBENCH_ISA if it rules a set out; if a hypervisor hides one, ask for a virtual machine that "
                 "passes the host's CPU through."}};
}

}  // namespace chexbench::analysis
