#include "bench/advice/edits.hpp"

#include <algorithm>

#include "bench/advice/input_model.hpp"
#include "core/errors.hpp"

namespace chexbench::bench {
namespace {

using spec::Experiment;
using spec::OpSpec;
using Ops = std::vector<OpSpec>;

Ops::iterator find(Ops& ops, const char* name) { return std::ranges::find(ops, name, &OpSpec::op); }

OpSpec with(const char* op, const char* parameter, spec::ParameterValue value) {
  OpSpec made = spec::default_op(op);
  made.parameters[parameter] = std::move(value);
  return made;
}

void shard_first(Experiment& trial, const EditPlace& place) {
  Ops& ops = trial.pipeline.ops;
  const auto shard = find(ops, "shard");
  if (place.ranks == 1 || shard == ops.end()) return;
  if (shard > ops.begin() + 1) std::rotate(ops.begin() + 1, shard, shard + 1);
}

// Everything between decoding and the batch works as well on records, which are smaller; then both can be one op.
void decode_into_batches(Experiment& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  const auto batch = find(ops, "batch");
  const auto map = find(ops, "map");
  if (batch == ops.end() || map == ops.end()) return;
  OpSpec both = with("map_and_batch", "delay_s", map->parameters.at("delay_s"));
  std::rotate(map, map + 1, batch);  // the map comes just before the batch
  const auto place = ops.erase(std::prev(batch), std::next(batch));
  ops.insert(place, std::move(both));
}

void decode_in_parallel(Experiment& trial, const EditPlace& place) {
  const auto map = find(trial.pipeline.ops, "map");
  if (map == trial.pipeline.ops.end() || map->integer("parallel_calls") >= 2 * place.cores_per_rank) return;
  map->parameters["parallel_calls"] = std::int64_t{2} * place.cores_per_rank;
}

void decode_ahead(Experiment& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  if (ops.back().op != "prefetch") ops.push_back(with("prefetch", "buffer", "auto"));
}

void prefetch_few_batches(Experiment& trial, const EditPlace&) {
  OpSpec& last = trial.pipeline.ops.back();
  if (last.op == "prefetch") last.parameters["buffer"] = "auto";
}

void shuffle_records(Experiment& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  const std::size_t decoding = decoding_op(trial.pipeline);
  const auto shuffle = std::find_if(ops.begin() + static_cast<std::ptrdiff_t>(decoding), ops.end(),
                                    [](const OpSpec& op) { return op.op == "shuffle"; });
  if (shuffle != ops.end()) std::rotate(ops.begin() + static_cast<std::ptrdiff_t>(decoding), shuffle, shuffle + 1);
}

void read_in_turns(Experiment& trial, const EditPlace&) {
  const auto read = find(trial.pipeline.ops, "read");
  if (read != trial.pipeline.ops.end()) *read = with("interleave", "delay_s", read->parameters.at("delay_s"));
}

void replace_workers(Experiment& trial, const EditPlace&) {
  Ops& ops = trial.pipeline.ops;
  const auto workers = find(ops, "worker_batches");
  if (workers == ops.end()) return;
  *workers = with("map_and_batch", "delay_s", workers->parameters.at("delay_s"));
  ops.insert(workers, spec::default_op("interleave"));
}

void deliver_bytes(Experiment& trial, const EditPlace&) { trial.data.deliver = Deliver::u8; }

void read_tfrecords(Experiment& trial, const EditPlace& place) {
  if (place.has_tfrecords && trial.data.format == spec::DataFormat::png) trial.data.format = spec::DataFormat::tfrecord;
}

struct Kind {
  const char* name;
  const char* why;
  bool saves_memory;
  void (*apply)(Experiment&, const EditPlace&);
};

constexpr Kind kKinds[] = {
    {"shard_first", "each rank then reads and decodes its own images alone", false, shard_first},
    {"decode_in_parallel", "the cores then decode at once", false, decode_in_parallel},
    {"decode_ahead", "batches are then made while the accelerator computes", false, decode_ahead},
    {"decode_into_batches", "images are then decoded in parallel straight into their batch", false,
     decode_into_batches},
    {"replace_workers", "all cores then work on one batch rather than each on its own", false, replace_workers},
    {"read_in_turns", "several files are then open at once", false, read_in_turns},
    {"deliver_u8", "a batch then has a twelfth of the bytes, and the engine normalizes it", false, deliver_bytes},
    {"read_tfrecords", "records are then read in sequence from few files", false, read_tfrecords},
    {"shuffle_records", "the buffer then holds records, not decoded images", true, shuffle_records},
    {"prefetch_few_batches", "the buffer then grows only as far as it helps", true, prefetch_few_batches},
};

bool can_run(const Experiment& trial) {
  try {
    spec::check_kinds(trial.pipeline);
    return true;
  } catch (const SpecError&) {
    return false;
  }
}

}  // namespace

std::vector<Edit> possible_edits(const Experiment& trial, const EditPlace& place) {
  std::vector<Edit> edits;
  for (const Kind& kind : kKinds) {
    Edit edit{.name = kind.name, .why = kind.why, .saves_memory = kind.saves_memory, .edited = trial};
    kind.apply(edit.edited, place);
    if (edit.edited == trial || !can_run(edit.edited)) continue;
    edit.edited.pipeline.name = "advised";
    edits.push_back(std::move(edit));
  }
  return edits;
}

}  // namespace chexbench::bench
