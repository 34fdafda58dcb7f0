#include "spec/ops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

PipelineSpec pipeline_of(const std::vector<std::string>& ops) {
  PipelineSpec pipeline{"mine", {}};
  for (const std::string& op : ops) pipeline.ops.push_back(default_op(op));
  return pipeline;
}

std::string kinds_error(const std::vector<std::string>& ops) {
  return error_of([&] { check_kinds(pipeline_of(ops)); });
}

TEST(OpTable, GivesEveryOpADelayOfZeroAsItsLastParameter) {
  for (const OpRule& rule : op_rules()) {
    ASSERT_FALSE(rule.parameters.empty()) << rule.op;
    EXPECT_EQ(rule.parameters.back().name, "delay_s") << rule.op;
    EXPECT_EQ(default_op(rule.op).number("delay_s"), 0.0) << rule.op;
  }
}

TEST(OpTable, HoldsDefaultsThatItsOwnRulesAllow) {
  for (const OpRule& rule : op_rules()) {
    for (const ParameterRule& parameter : rule.parameters) {
      const bool is_text = std::holds_alternative<std::string>(parameter.default_value);
      const bool numeric = parameter.type == ValueType::integer || parameter.type == ValueType::number;
      if (is_text && numeric) {
        EXPECT_THAT(parameter.words, testing::Contains(std::get<std::string>(parameter.default_value)))
            << rule.op << '.' << parameter.name;
      } else {
        EXPECT_EQ(parameter.default_value.index(), static_cast<std::size_t>(parameter.type))
            << rule.op << '.' << parameter.name;
      }
      EXPECT_FALSE(parameter.description.empty()) << rule.op << '.' << parameter.name;
    }
  }
}

std::vector<std::string> ops_that(bool (*has_property)(const OpRule&)) {
  std::vector<std::string> found;
  for (const OpRule& rule : op_rules()) {
    if (has_property(rule)) found.push_back(rule.op);
  }
  return found;
}

TEST(OpTable, HasTheOpsOfEachProperty) {
  using testing::ElementsAre;
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.shards; }), ElementsAre("shard"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.shuffles; }), ElementsAre("shuffle"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.repeats; }), ElementsAre("repeat"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.runs_ahead; }), ElementsAre("prefetch"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.caches; }), ElementsAre("cache"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.cuts; }), ElementsAre("take"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.reads(); }), ElementsAre("read", "interleave"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.decodes(); }),
              ElementsAre("map", "map_and_batch", "worker_batches"));
  EXPECT_THAT(ops_that([](const OpRule& rule) { return rule.batches(); }),
              ElementsAre("batch", "map_and_batch", "worker_batches"));
}

TEST(OpTable, HasWhatAPropertyNeedsAmongTheParameters) {
  for (const OpRule& rule : op_rules()) {
    const auto has = [op = default_op(rule.op)](const std::string& name) { return op.parameters.contains(name); };
    EXPECT_TRUE(!(rule.shuffles || rule.runs_ahead) || has("buffer")) << rule.op;
    EXPECT_TRUE(rule.at_once.empty() || (has(rule.at_once) && (rule.reads() || rule.decodes()))) << rule.op;
  }
}

TEST(OpTable, HasNoPropertyForWhatIsNoOp) {
  const OpRule& rule = rule_or_none("ready");
  EXPECT_TRUE(rule.op.empty());
  EXPECT_FALSE(rule.reads() || rule.decodes() || rule.batches() || rule.shards);
}

TEST(ParameterToTune, IsTheOneThatIsAuto) {
  OpSpec op = default_op("interleave");
  EXPECT_EQ(parameter_to_tune(op), nullptr);
  op.parameters["cycle_length"] = "auto";
  ASSERT_NE(parameter_to_tune(op), nullptr);
  EXPECT_EQ(*parameter_to_tune(op), "cycle_length");
  EXPECT_EQ(parameter_to_tune(default_op("prefetch")), nullptr) << "its auto grows while it runs";
}

TEST(DecodesBeforeShard, IsTrueOnlyWhereAShardFollows) {
  EXPECT_TRUE(decodes_before_shard(pipeline_of({"list_files", "read", "map", "shard", "batch"})));
  EXPECT_TRUE(decodes_before_shard(pipeline_of({"list_files", "worker_batches", "shard"})));
  EXPECT_FALSE(decodes_before_shard(pipeline_of({"list_files", "shard", "read", "map", "batch"})));
  EXPECT_FALSE(decodes_before_shard(pipeline_of({"list_files", "read", "map", "batch"})));
}

TEST(Flag, IsNothingWhereTheOpHasNone) {
  EXPECT_EQ(default_op("batch").flag("drop_remainder"), true);
  EXPECT_EQ(default_op("worker_batches").flag("drop_remainder"), std::nullopt);
}

TEST(OpTable, NamesTheNearestOpOfAnUnknownOne) {
  EXPECT_THAT(error_of([] { op_rule("shufle"); }), HasSubstr("did you mean 'shuffle'?"));
}

TEST(CheckKinds, AcceptsEachWayFromFilesToBatches) {
  EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", "read", "map", "batch"})));
  EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", "interleave", "map_and_batch"})));
  EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", "worker_batches"})));
}

TEST(CheckKinds, AcceptsOpsThatKeepTheKindAnywhereBehindTheSource) {
  for (const std::string op : {"shard", "shuffle", "prefetch", "repeat", "cache", "take"}) {
    EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", op, "read", "map", "batch"}))) << op;
    EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", "read", op, "map", "batch"}))) << op;
    EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", "read", "map", op, "batch"}))) << op;
    EXPECT_NO_THROW(check_kinds(pipeline_of({"list_files", "read", "map", "batch", op}))) << op;
  }
}

TEST(CheckKinds, NamesTheOpWhatItTakesAndWhatItWouldGet) {
  const std::string error = kinds_error({"list_files", "shard", "map", "batch"});
  EXPECT_THAT(error, HasSubstr("pipeline[2] of 'mine': map takes records, but what comes before it gives files"));
}

TEST(CheckKinds, RefusesAListWithoutItsSourceFirst) {
  EXPECT_THAT(kinds_error({"read", "map", "batch"}), HasSubstr("pipeline[0] of 'mine': read takes files"));
  EXPECT_THAT(kinds_error({"shuffle", "list_files"}), HasSubstr("begin with list_files"));
  EXPECT_THAT(kinds_error({"list_files", "list_files"}), HasSubstr("pipeline[1] of 'mine': list_files is a source"));
}

TEST(CheckKinds, RefusesAListThatDoesNotEndInBatches) {
  EXPECT_THAT(kinds_error({}), HasSubstr("has no ops"));
  EXPECT_THAT(kinds_error({"list_files", "read", "map"}), HasSubstr("ends in examples"));
}

TEST(CheckKinds, RefusesASecondShard) {
  EXPECT_THAT(kinds_error({"list_files", "shard", "read", "shard", "map", "batch"}),
              HasSubstr("pipeline[3] of 'mine': shard appears twice"));
}

TEST(CheckKinds, RefusesAShardBehindAnOrderThatDependsOnTiming) {
  PipelineSpec pipeline{.name = "mine"};
  for (const char* const op : {"list_files", "interleave", "shard", "map", "batch"}) {
    pipeline.ops.push_back(default_op(op));
  }
  EXPECT_NO_THROW(check_kinds(pipeline));
  pipeline.ops[1].parameters["deterministic"] = false;
  try {
    check_kinds(pipeline);
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipeline[2] of 'mine': shard comes after interleave"));
  }
}

}  // namespace
}  // namespace chexbench::spec
