// Every wrong spec must give an error that names the JSON path, what was expected, and the nearest valid name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

struct BadSpec {
  std::string name;
  std::string text;
  std::string error;
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

void PrintTo(const BadSpec& spec, std::ostream* out) { *out << spec.text; }

class BadSpecTest : public testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecTest, IsRefusedWithItsOwnMessage) { EXPECT_EQ(spec_error(GetParam().text), GetParam().error); }

const BadSpec kBadSpecs[] = {
    {"NoObject", "[]", "x.json: a spec must be a JSON object {...}, not a list"},
    {"UnknownKey", R"({"data": {"rot": "d"}})", "x.json: no key is called 'data.rot' (did you mean 'data.root'?)"},
    {"UnknownKeyOfAGroupInAGroup", R"({"store": {"shape": {"latency_s": 1}}})",
     "x.json: no key is called 'store.shape.latency_s' (did you mean 'store.shape.latency_ms'?)"},
    {"GroupInAGroupThatIsNone", R"({"store": {"shape": 1}})",
     "x.json: store.shape must be an object with keys such as 'bandwidth_mb_per_s', not 1"},
    {"UnknownGroup", R"({"trainning": {}})", "x.json: no key is called 'trainning' (did you mean 'training'?)"},
    {"KeyInTheWrongPlace", R"({"batch_size": 4})",
     "x.json: no key is called 'batch_size' (did you mean 'training.batch_size'?)"},
    {"KeyInTheWrongGroup", R"({"model": {"precision": "f32"}})",
     "x.json: no key is called 'model.precision' (did you mean 'training.precision'?)"},
    {"NothingNear", R"({"preprocess": {"zzzzzzzz": 1}})",
     "x.json: no key is called 'preprocess.zzzzzzzz' (known: resize, flip, crop, resized_crop)"},
    {"GroupIsNoObject", R"({"data": "d"})",
     "x.json: data must be an object with keys such as 'root', not the text \"d\""},
    {"TextForANumber", R"({"training": {"batch_size": "16"}})",
     "x.json: training.batch_size must be a whole number of at least 1 and at most 65536, not the text \"16\""},
    {"NumberForText", R"({"data": {"root": 3}})", "x.json: data.root must be text, not 3"},
    {"FractionForAWholeNumber", R"({"measure": {"steps": 2.5}})",
     "x.json: measure.steps must be a whole number of at least 1 and at most 1000000, not 2.5"},
    {"NumberForAFlag", R"({"preprocess": {"flip": 1}})", "x.json: preprocess.flip must be true or false, not 1"},
    {"NullForANumber", R"({"measure": {"steps": null}})",
     "x.json: measure.steps must be a whole number of at least 1 and at most 1000000, not null"},
    {"NoSteps", R"({"measure": {"steps": 0}})",
     "x.json: measure.steps must be a whole number of at least 1 and at most 1000000, not 0"},
    {"StepsWithoutEnd", R"({"measure": {"steps": 2147483647}})",
     "x.json: measure.steps must be a whole number of at least 1 and at most 1000000, not 2147483647"},
    {"WarmupWithoutEnd", R"({"measure": {"warmup_steps": 2147483647}})",
     "x.json: measure.warmup_steps must be a whole number of at least 0 and at most 1000000, not 2147483647"},
    {"NegativeWarmup", R"({"measure": {"warmup_steps": -1}})",
     "x.json: measure.warmup_steps must be a whole number of at least 0 and at most 1000000, not -1"},
    {"NoRepeats", R"({"measure": {"repeats": 0}})",
     "x.json: measure.repeats must be a whole number of at least 1 and at most 1000000, not 0"},
    {"MoreRepeatsThanCanBeCounted", R"({"measure": {"repeats": 3000000000}})",
     "x.json: measure.repeats must be a whole number of at least 1 and at most 1000000, not 3000000000"},
    {"EmptyBatch", R"({"training": {"batch_size": 0}})",
     "x.json: training.batch_size must be a whole number of at least 1 and at most 65536, not 0"},
    {"BatchBeyondAnyMemory", R"({"training": {"batch_size": 2147483647}})",
     "x.json: training.batch_size must be a whole number of at least 1 and at most 65536, not 2147483647"},
    {"BufferBeyondAnyMemory",
     R"({"pipeline": [{"op": "list_files"}, {"op": "worker_batches"}, )"
     R"({"op": "prefetch", "buffer": 9000000000000000000}]})",
     "x.json: pipeline[2].buffer must be a whole number of at least 1 and at most 1000000, or 'batch', 'auto', not "
     "9000000000000000000"},
    {"MoreWorkersThanAnyMachineHasThreads", R"({"sweep": {"pipeline.worker_batches.num_workers": [1025]}})",
     "x.json: sweep.pipeline.worker_batches.num_workers[0] must be a whole number of at least 1 and at most 1024, or "
     "'auto', not 1025"},
    {"TinyImage", R"({"model": {"image_size": 31}})",
     "x.json: model.image_size must be a whole number of at least 32 and at most 4096, not 31"},
    {"NoTime", R"({"measure": {"max_seconds": 0}})",
     "x.json: measure.max_seconds must be a number above 0 and at most 1000000000, or null, not 0"},
    {"UnknownWord", R"({"data": {"format": "imges"}})",
     "x.json: data.format must be one of 'images', 'tfrecord', 'webdataset', 'cached', 'ready', not the text "
     "\"imges\" (did you mean 'images'?)"},
    {"UnknownModel", R"({"model": {"name": "resnet5"}})",
     "x.json: model.name must be one of 'resnet50', 'densenet121', 'alexnet', 'googlenet', 'mobilenet_v2', not the "
     "text \"resnet5\" (did you mean 'resnet50'?)"},
    {"UnknownEngine", R"({"engine": "emulatd:v100"})",
     "x.json: engine must be one of 'auto', 'cuda', 'onednn', 'none', 'emulated:NAME', not the text \"emulatd:v100\" "
     "(did you mean 'emulated:'?)"},
    {"EngineThatDoesNotExist", R"({"engine": "tpu"})",
     "x.json: engine must be one of 'auto', 'cuda', 'onednn', 'none', 'emulated:NAME', not the text \"tpu\""},
    {"EngineWithoutProfile", R"({"engine": "emulated:"})",
     "x.json: engine must be one of 'auto', 'cuda', 'onednn', 'none', 'emulated:NAME', not the text \"emulated:\""},
    {"NoRanks", R"({"ranks": 0})", "x.json: ranks must be a whole number of at least 1, or 'all', not 0"},
    {"RanksListedInAText", R"({"ranks": "1,2,4"})",
     "x.json: ranks: several numbers of ranks are a list, such as [1, 2, 4], not the text \"1,2,4\""},
    {"NoListOfRanks", R"({"ranks": []})", "x.json: ranks must be a list of one value or more, not an empty one"},
    {"NoRanksInAList", R"({"ranks": [1, 0]})",
     "x.json: ranks[1] must be a whole number of at least 1, or 'all', not 0"},
    {"ListOfAKeyThatIsNotSwept", R"({"training": {"batch_size": [1, 2]}})",
     "x.json: training.batch_size must be a whole number of at least 1 and at most 65536, not a list; to try several "
     "values, put the list under \"sweep\""},
    {"KeyTwice", R"({"measure": {"steps": 1, "steps": 2}})", "x.json: 'measure.steps' appears twice; keep one of them"},
    {"UnknownPipeline", R"({"pipeline": "optimised"})",
     "x.json: pipeline: no pipeline is called 'optimised' (did you mean 'optimized'?); for a file, give a path with a "
     "'/' or .json"},
    {"UnknownOp", R"({"pipeline": [{"op": "list_files"}, {"op": "shufle"}]})",
     "x.json: pipeline[1]: no op is called 'shufle' (did you mean 'shuffle'?)"},
    {"OpsThatDoNotFit", R"({"pipeline": [{"op": "list_files"}, {"op": "map"}, {"op": "batch"}]})",
     "x.json: pipeline: pipeline[1] of 'custom': map takes records, but what comes before it gives files"},
    {"MoreOpsThanAnyPipelineHas", R"({"pipeline": [)" + repeated(R"({"op": "list_files"}, )", 100) + "1]}",
     "x.json: pipeline has 101 ops, at most 100 are accepted"},
    {"MoreSweptValuesThanTrials", R"({"sweep": {"training.batch_size": [)" + repeated("1, ", 100000) + "1]}}",
     "x.json: sweep.training.batch_size: 100001 values; a sweep gives at most 100000 trials"},
    {"NoRoot", "{}", "data.root is missing: name the folder of the data set, for example --set data.root=data/nih"},
    {"NameThatLeavesItsFolder", R"({"experiment": "../x"})",
     "experiment must be a name for a folder (letters, digits, '-', '_' and '.', not first), not \"../x\""},
    {"UnknownSweptKey", R"({"sweep": {"data.fromat": ["images"]}})",
     "x.json: sweep: no key is called 'data.fromat' (did you mean 'data.format'?)"},
    {"SweepWithoutAList", R"({"sweep": {"data.format": "images"}})",
     "x.json: sweep.data.format must be a list of one value or more, not the text \"images\""},
    {"EmptySweep", R"({"sweep": {"data.format": []}})",
     "x.json: sweep.data.format must be a list of one value or more, not an empty one"},
    {"SweptValueOfTheWrongType", R"({"sweep": {"training.batch_size": [16, "x"]}})",
     "x.json: sweep.training.batch_size[1] must be a whole number of at least 1 and at most 65536, not the text \"x\""},
    {"SweptValueTwice", R"({"sweep": {"data.format": ["images", "tfrecord", "images"]}})",
     "x.json: sweep.data.format: values 0 and 2 are the same"},
    {"SweptOpThatIsNone", R"({"sweep": {"pipeline.mapp.parallel_calls": [1]}})",
     "x.json: sweep: 'pipeline.mapp.parallel_calls': no op is called 'mapp' (did you mean 'map'?)"},
    {"SweptName", R"({"sweep": {"experiment": ["a", "b"]}})",
     "x.json: sweep: experiment is the name of all trials together and cannot be swept"},
    {"SweepIsNoObject", R"({"sweep": ["images"]})",
     "x.json: sweep must be an object of lists, such as {\"data.format\": [\"images\", \"tfrecord\"]}, not a list"},
};

INSTANTIATE_TEST_SUITE_P(Spec, BadSpecTest, testing::ValuesIn(kBadSpecs),
                         [](const testing::TestParamInfo<BadSpec>& bad) { return bad.param.name; });

TEST(BadSpec, ShowsTheBeginningOfALongName) {
  EXPECT_THAT(spec_error("{\"" + std::string(10'000'000, 'k') + "\": 1}"),
              testing::StartsWith("x.json: no key is called '" + std::string(100, 'k') + "...' (known: "));
}

}  // namespace
}  // namespace chexbench::spec
