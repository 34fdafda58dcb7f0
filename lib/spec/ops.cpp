#include "spec/ops.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"

namespace chexbench::spec {
namespace {

using enum ElementKind;

// The largest count of elements: more than anyone needs, but small enough to reserve memory for.
constexpr double kMostElements = 1'000'000;
// The largest count of threads or whole batches.
constexpr double kMostBatches = 1024;

// The longest time to sleep for each element, or for each start.
constexpr double kLongestSleepS = 3600;

ParameterRule flag(std::string name, bool value, std::string description) {
  return {.name = std::move(name),
          .type = ValueType::boolean,
          .default_value = value,
          .words = {},
          .description = std::move(description)};
}

ParameterRule seconds(std::string name, std::string description) {
  return {.name = std::move(name),
          .type = ValueType::number,
          .default_value = 0.0,
          .words = {},
          .maximum = kLongestSleepS,
          .description = std::move(description)};
}

ParameterRule count(std::string name, std::int64_t value, std::string description) {
  return {.name = std::move(name),
          .type = ValueType::integer,
          .default_value = value,
          .words = {},
          .minimum = 1,
          .maximum = kMostElements,
          .description = std::move(description)};
}

// Returns the rule of a parameter that is a count or one of `words`; its default, `value`, is a word.
ParameterRule count_or(std::string name, std::vector<std::string> words, std::string value, std::string description) {
  ParameterRule rule = count(std::move(name), 1, std::move(description));
  rule.default_value = std::move(value);
  rule.words = std::move(words);
  return rule;
}

// Lets a count also be "auto", found by measuring at the start of the trial.
ParameterRule or_auto(ParameterRule rule) {
  rule.words = {"auto"};
  rule.tuned = true;
  return rule;
}

ParameterRule text(std::string name, std::vector<std::string> words, std::string value, std::string description) {
  return {.name = std::move(name),
          .type = ValueType::text,
          .default_value = std::move(value),
          .words = std::move(words),
          .description = std::move(description)};
}

OpRule converts(std::string op, ElementKind in, ElementKind out, std::vector<ParameterRule> parameters,
                std::string description, std::string at_once = "") {
  return {.op = std::move(op),
          .in = in,
          .out = out,
          .parameters = std::move(parameters),
          .description = std::move(description),
          .at_once = std::move(at_once)};
}

OpRule keeps(std::string op, bool OpRule::*property, std::vector<ParameterRule> parameters, std::string description) {
  OpRule rule{.op = std::move(op),
              .same_kind = true,
              .parameters = std::move(parameters),
              .description = std::move(description),
              .at_once = ""};
  rule.*property = true;
  return rule;
}

ParameterRule few(ParameterRule rule) {
  rule.maximum = kMostBatches;
  return rule;
}

ParameterRule drop_remainder() {
  return flag("drop_remainder", true, "drop the last batch of a finite pipeline if it is not full");
}

ParameterRule deterministic() { return flag("deterministic", true, "deliver in a fixed order"); }

ParameterRule shuffle_buffer() {
  ParameterRule rule = count("buffer", 500, "elements to draw from; \"all\": those of an epoch");
  rule.words = {"all"};
  return rule;
}

ParameterRule cache_bytes() {
  ParameterRule rule = count_or("max_bytes", {"unlimited"}, "unlimited",
                                "limit of each rank; what does not fit is made again in each epoch");
  rule.maximum = 1e15;
  return rule;
}

ParameterRule shuffle_seed() {
  ParameterRule rule = count_or("seed", {"auto"}, "auto", "seed of the order; \"auto\": measure.seed");
  rule.minimum = 0;
  rule.maximum = std::numeric_limits<double>::max();
  return rule;
}

std::vector<OpRule> make_op_rules() {
  std::vector<OpRule> rules = {
      converts("list_files", none, file, {text("order", {"name"}, "name", "order of the files")},
               "The files of the split."),
      keeps("shard", &OpRule::shards, {}, "Keeps the elements whose index modulo the number of ranks is this rank."),
      keeps("shuffle", &OpRule::shuffles, {shuffle_buffer(), shuffle_seed()},
            "Reservoir of tf.data: fill it, draw one uniformly, replace it."),
      converts("read", file, record, {}, "One file after the other; a TFRecord file yields its records in order."),
      converts(
          "interleave", file, record,
          {or_auto(count("cycle_length", 10, "files open at once; \"auto\": the fastest number, in the order of 10")),
           count("block_length", 1, "records in a row from one"),
           flag("parallel", true, "read the open files in parallel"), deterministic()},
          "Reads several files alternately.", "cycle_length"),
      converts("map", record, example,
               {or_auto(count("parallel_calls", 1, "records worked on at once; \"auto\": the fastest number")),
                deterministic()},
               "Parses, decodes and resizes.", "parallel_calls"),
      converts("batch", example, batch, {drop_remainder()}, "Copies examples into a batch."),
      converts("map_and_batch", record, batch,
               {few(count("parallel_batches", 5, "batches filled at once")), drop_remainder()},
               "Decodes in parallel straight into the slots of batches."),
      converts("worker_batches", file, batch,
               {few(count_or("num_workers", {"auto"}, "auto", "workers; \"auto\": one per core")),
                few(count("prefetch_factor", 2, "batches that each worker keeps ready")),
                flag("persistent", true, "keep the workers when an epoch ends; false: each epoch starts new ones"),
                seconds("start_s", "seconds that starting the workers takes")},
               "PyTorch style: each worker builds whole batches.", "num_workers"),
      keeps("prefetch", &OpRule::runs_ahead,
            {count_or("buffer", {"batch", "auto"}, "auto",
                      "elements to keep ready; \"batch\": the images of a local batch")},
            "Runs the preceding ops on a separate thread, ahead of the following ones."),
      keeps("repeat", &OpRule::repeats, {count_or("epochs", {"forever"}, "forever", "times to run the preceding ops")},
            "Starts over at the end."),
      keeps("cache", &OpRule::caches, {text("to", {}, "memory", "\"memory\", or the path of a file"), cache_bytes()},
            "Keeps the elements of the first epoch for the others."),
      keeps("take", &OpRule::cuts, {count("count", 1, "elements to pass on")},
            "Passes on the first elements, then ends."),
  };
  for (OpRule& rule : rules) {
    rule.parameters.push_back(
        seconds("delay_s", "planted bottleneck: seconds slept for each element; in ops that decode, for each image"));
  }
  return rules;
}

// Returns why an op cannot follow one with output `got`.
std::string misfit(const OpRule& rule, ElementKind got) {
  if (rule.in == none) return "is a source and must come first";
  if (got == none) return fmt::format("takes {}s and cannot come first; begin with list_files", to_string(rule.in));
  return fmt::format("takes {}s, but what comes before it gives {}{}", to_string(rule.in), to_string(got),
                     got == batch ? "es" : "s");
}

}  // namespace

std::span<const OpRule> op_rules() {
  static const std::vector<OpRule> rules = make_op_rules();
  return rules;
}

std::span<const std::string> op_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const OpRule& rule : op_rules()) result.push_back(rule.op);
    return result;
  }();
  return names;
}

const OpRule& rule_or_none(const std::string& op) {
  static const OpRule none_of_them;
  const auto found = std::ranges::find(op_rules(), op, &OpRule::op);
  return found == op_rules().end() ? none_of_them : *found;
}

const OpRule& op_rule(const std::string& op) {
  const OpRule& rule = rule_or_none(op);
  if (rule.op.empty()) throw SpecError(fmt::format("no op is called '{}'{}", op, suggestion(op, op_names())));
  return rule;
}

const OpRule& OpSpec::rule() const { return op_rule(op); }

std::optional<bool> OpSpec::flag(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::nullopt : std::optional(std::get<bool>(found->second));
}

OpSpec default_op(const std::string& op) {
  OpSpec result{op, {}};
  for (const ParameterRule& rule : op_rule(op).parameters) result.parameters[rule.name] = rule.default_value;
  return result;
}

const std::string* parameter_to_tune(const OpSpec& op) {
  const auto& rules = op.rule().parameters;
  const auto found =
      std::ranges::find_if(rules, [&](const ParameterRule& rule) { return rule.tuned && op.holds_text(rule.name); });
  return found == rules.end() ? nullptr : &found->name;
}

bool decodes_before_shard(const PipelineSpec& pipeline) {
  bool decoded = false;
  for (const OpSpec& op : pipeline.ops) {
    if (op.rule().shards) return decoded;
    decoded = decoded || op.rule().decodes();
  }
  return false;
}

std::string place_of(const PipelineSpec& pipeline, std::size_t index) {
  return fmt::format("pipeline[{}] of '{}'", index, pipeline.name);
}

void check_kinds(const PipelineSpec& pipeline) {
  ElementKind kind = none;
  bool sharded = false;
  std::string disorderly;
  for (std::size_t i = 0; i < pipeline.ops.size(); ++i) {
    const OpRule& rule = pipeline.ops[i].rule();
    const std::string where = fmt::format("{}: {}", place_of(pipeline, i), rule.op);
    if (rule.same_kind && kind == none) throw SpecError(where + " cannot come first; begin with list_files");
    if (!rule.same_kind && rule.in != kind) throw SpecError(fmt::format("{} {}", where, misfit(rule, kind)));
    if (rule.shards && sharded) throw SpecError(where + " appears twice: a second one would drop images for good");
    if (rule.shards && !disorderly.empty()) {
      throw SpecError(
          fmt::format("{} comes after {} with deterministic false: ranks would see different orders, and "
                      "their shards overlap; move shard before it",
                      where, disorderly));
    }
    sharded = sharded || rule.shards;
    if (pipeline.ops[i].flag("deterministic") == false) disorderly = rule.op;
    kind = rule.given(kind);
  }
  if (kind != batch) {
    throw SpecError(fmt::format(
        "pipeline '{}' must end in batches, but {}; batch, map_and_batch and worker_batches make them", pipeline.name,
        kind == none ? std::string("has no ops") : fmt::format("ends in {}s", to_string(kind))));
  }
}

std::string to_string(ElementKind kind) {
  switch (kind) {
    case none:
      return "nothing";
    case file:
      return "file";
    case record:
      return "record";
    case example:
      return "example";
    case batch:
      return "batch";
  }
  return "unknown";
}

}  // namespace chexbench::spec
