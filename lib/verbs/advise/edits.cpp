#include "verbs/advise/edits.hpp"

#include <algorithm>
#include <iterator>

#include "core/errors.hpp"
#include "spec/keys.hpp"
#include "verbs/advise/input_model.hpp"

namespace chexbench::verbs {
namespace {

using spec::OpSpec;
using spec::TrialSpec;
using Ops = std::vector<OpSpec>;

bool shards(const OpSpec& op) { return op.rule().shards; }
bool shuffles(const OpSpec& op) { return op.rule().shuffles; }
bool repeats(const OpSpec& op) { return op.rule().repeats; }
bool runs_ahead(const OpSpec& op) { return op.rule().runs_ahead; }
bool caches(const OpSpec& op) { return op.rule().caches; }
bool only_decodes(const OpSpec& op) { return op.rule().decodes() && !op.rule().batches(); }
bool only_batches(const OpSpec& op) { return op.rule().batches() && !op.rule().decodes(); }
bool has_workers(const OpSpec& op) { return op.rule().batches() && op.rule().in == spec::ElementKind::file; }
bool reads_one_by_one(const OpSpec& op) { return op.rule().reads() && op.rule().at_once.empty(); }
bool reads_in_turns(const OpSpec& op) { return op.rule().reads() && !op.rule().at_once.empty(); }

OpSpec with(const char* op, const char* parameter, spec::ParameterValue value) {
  OpSpec made = spec::default_op(op);
  made.parameters[parameter] = std::move(value);
  return made;
}

void shard_first(TrialSpec& trial, const EditPlace& place) {
  Ops& ops = trial.pipeline.ops;
  const auto shard = std::ranges::find_if(ops, shards);
  if (place.ranks == 1 || shard == ops.end()) return;
  if (shard > ops.begin() + 1) std::rotate(ops.begin() + 1, shard, shard + 1);
}

// The ops between decoding and batching work equally well on records, which are smaller. Decoding therefore moves to
// the batch, and both become one op.
void decode_into_batches(TrialSpec& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  const auto batch = std::ranges::find_if(ops, only_batches);
  const auto map = std::ranges::find_if(ops, only_decodes);
  if (batch == ops.end() || map == ops.end()) return;
  OpSpec both = with("map_and_batch", "delay_s", map->parameters.at("delay_s"));
  std::rotate(map, map + 1, batch);  // the map comes just before the batch
  const auto place = ops.erase(std::prev(batch), std::next(batch));
  ops.insert(place, std::move(both));
}

void decode_in_parallel(TrialSpec& trial, const EditPlace& place) {
  const auto map = std::ranges::find_if(trial.pipeline.ops, only_decodes);
  if (map == trial.pipeline.ops.end() || map->rule().at_once.empty()) return;
  const std::int64_t enough = std::int64_t{2} * place.cores_per_rank;
  const std::string& at_once = map->rule().at_once;
  if (map->integer_or(at_once, enough) >= enough) return;
  map->parameters[at_once] = enough;
}

void decode_ahead(TrialSpec& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  if (!runs_ahead(ops.back())) ops.push_back(with("prefetch", "buffer", "auto"));
}

void prefetch_few_batches(TrialSpec& trial, const EditPlace&) {
  OpSpec& last = trial.pipeline.ops.back();
  if (runs_ahead(last)) last.parameters["buffer"] = "auto";
}

void shuffle_records(TrialSpec& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  const std::size_t decoding = decoding_op(trial.pipeline);
  const auto shuffle = std::find_if(ops.begin() + static_cast<std::ptrdiff_t>(decoding), ops.end(), shuffles);
  if (shuffle != ops.end()) std::rotate(ops.begin() + static_cast<std::ptrdiff_t>(decoding), shuffle, shuffle + 1);
}

void read_in_turns(TrialSpec& trial, const EditPlace&) {
  const auto read = std::ranges::find_if(trial.pipeline.ops, reads_one_by_one);
  if (read != trial.pipeline.ops.end()) *read = with("interleave", "delay_s", read->parameters.at("delay_s"));
}

void replace_workers(TrialSpec& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  const auto workers = std::ranges::find_if(ops, has_workers);
  if (workers == ops.end()) return;
  *workers = with("map_and_batch", "delay_s", workers->parameters.at("delay_s"));
  auto decoding = ops.insert(workers, spec::default_op("interleave"));
  const auto repeat = std::find_if(decoding, ops.end(), repeats);
  if (repeat != ops.end())
    std::rotate(decoding, repeat, repeat + 1);  // batches need not be drained at the end of an epoch
}

// Reading more files at once hides the latency of the storage, up to the number of files of a rank. This is for shards
// only: each PNG is a separate file, which the decoding op reads.
void read_more_at_once(TrialSpec& trial, const EditPlace& place) {
  constexpr std::int64_t kMost = 64;
  const auto interleave = std::ranges::find_if(trial.pipeline.ops, reads_in_turns);
  if (interleave == trial.pipeline.ops.end() || !spec::reads_shards(trial.data.format)) return;
  const std::string& at_once = interleave->rule().at_once;
  if (interleave->holds_text(at_once)) return;  // auto finds it
  const auto files = static_cast<std::int64_t>(place.files) / place.ranks;
  const std::int64_t now = interleave->integer(at_once);
  interleave->parameters[at_once] = std::max(now, std::min({2 * now, files, kMost}));
}

std::uint64_t images_of_a_rank(const EditPlace& place) {
  const auto ranks = static_cast<std::uint64_t>(place.ranks);
  return (place.images + ranks - 1) / ranks;
}

// Decoding comes as early as possible, followed by the cache, and then by the ops that determine order and epochs.
void cache_decoded(TrialSpec& trial, const EditPlace& place) {
  Ops& ops = trial.pipeline.ops;
  if (std::ranges::any_of(ops, caches) || std::ranges::any_of(ops, has_workers)) return;
  if (place.images == 0 || images_of_a_rank(place) * image_bytes(trial) > place.cache_bytes) return;
  const auto decoding = ops.begin() + static_cast<std::ptrdiff_t>(decoding_op(trial.pipeline));
  const auto is_kept_in_front = [](const OpSpec& op) { return !shuffles(op) && !repeats(op) && !runs_ahead(op); };
  Ops made;
  std::copy_if(ops.begin(), decoding, std::back_inserter(made), is_kept_in_front);
  made.push_back(only_decodes(*decoding) ? *decoding : with("map", "delay_s", decoding->parameters.at("delay_s")));
  if (!only_decodes(*decoding)) made.back().parameters["parallel_calls"] = std::int64_t{2} * place.cores_per_rank;
  std::copy_if(decoding, ops.end(), std::back_inserter(made), shards);
  made.push_back(spec::default_op("cache"));
  for (const auto orders : {shuffles, repeats}) {
    const auto last = std::find_if(ops.rbegin(), ops.rend(), orders);
    if (last != ops.rend()) made.push_back(*last);
  }
  const auto batch = std::ranges::find_if(ops, only_batches);
  made.push_back(batch != ops.end() ? *batch : spec::default_op("batch"));
  if (runs_ahead(ops.back())) made.push_back(ops.back());
  ops = std::move(made);
  const int images_per_step = trial.training.batch_size * trial.training.accumulate_steps;
  const std::uint64_t steps = images_of_a_rank(place) / static_cast<std::uint64_t>(images_per_step) + 1;
  trial.measure.warmup_steps += static_cast<int>(steps);
}

// Not with engine none, which drops batches: the extra work of an engine would not be measured.
void deliver_bytes(TrialSpec& trial, const EditPlace&) {
  if (spec::has_engine(trial)) trial.data.deliver = Deliver::u8;
}

void read_tfrecords(TrialSpec& trial, const EditPlace& place) {
  if (place.has_tfrecords && trial.data.format == spec::DataFormat::images)
    trial.data.format = spec::DataFormat::tfrecord;
}

enum class Gain { images_per_s, later_epochs, memory };

struct Kind {
  const char* name;
  const char* why;
  Gain gain;
  void (*apply)(TrialSpec&, const EditPlace&);
};

constexpr Kind kKinds[] = {
    {"shard_first", "each rank then reads and decodes its own images alone", Gain::images_per_s, shard_first},
    {"decode_in_parallel", "the cores then decode at once", Gain::images_per_s, decode_in_parallel},
    {"decode_ahead", "batches are then made while the accelerator computes", Gain::images_per_s, decode_ahead},
    {"decode_into_batches", "images are then decoded in parallel straight into their batch", Gain::images_per_s,
     decode_into_batches},
    {"replace_workers", "all cores then work on one batch rather than each on its own", Gain::images_per_s,
     replace_workers},
    {"read_in_turns", "several files are then open at once", Gain::images_per_s, read_in_turns},
    {"read_more_at_once", "more files are then open at once", Gain::images_per_s, read_more_at_once},
    {"deliver_u8", "a batch then has bytes instead of floats, and the engine normalizes it", Gain::images_per_s,
     deliver_bytes},
    {"read_tfrecords", "records are then read in sequence from few files", Gain::images_per_s, read_tfrecords},
    {"cache_decoded", "images are then decoded in the first epoch alone, and stay in memory", Gain::later_epochs,
     cache_decoded},
    {"shuffle_records", "the buffer then holds records, not decoded images", Gain::memory, shuffle_records},
    {"prefetch_few_batches", "the buffer then grows only as far as it helps", Gain::memory, prefetch_few_batches},
};

bool can_run(const TrialSpec& trial) {
  try {
    spec::check_kinds(trial.pipeline);
    return true;
  } catch (const SpecError&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> edit_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<Edit> possible_edits(const TrialSpec& trial, const EditPlace& place) {
  std::vector<Edit> edits;
  for (const Kind& kind : kKinds) {
    Edit edit{.name = kind.name,
              .why = kind.why,
              .saves_memory = kind.gain == Gain::memory,
              .needs_epoch = kind.gain == Gain::later_epochs,
              .edited = trial};
    kind.apply(edit.edited, place);
    if (edit.edited == trial || !can_run(edit.edited)) continue;
    edit.edited.pipeline.name = "advised";
    edits.push_back(std::move(edit));
  }
  return edits;
}

}  // namespace chexbench::verbs
