#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "spec/parse.hpp"
#include "spec/profile.hpp"
#include "spec/sweep.hpp"
#include "verbs/import/dlio.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// As mlcommons/storage has retinanet_b200.yaml at commit 11460d00.
const std::string kRetinanet = R"(model:
  name: retinanet
  type: cnn

framework: pytorch

workflow:
  generate_data: False
  train: True
  checkpoint: False

dataset:
  data_folder: data/retinanet/
  format: jpeg
  num_files_train: 1170301
  num_samples_per_file: 1
  record_length_bytes: 322957

reader:
  data_loader: pytorch
  batch_size: 24
  read_threads: 8
  file_shuffle: seed
  sample_shuffle: seed

train:
  epochs: 8
  computation_time: 0.04755

metric:
  au: 0.85
)";

// As resnet50_h100.yaml at commit ac0424fa, shortened.
const std::string kResnet = R"(model: 
  name: resnet50
dataset:
 num_files_train: 1024
 num_samples_per_file: 1251
 record_length_bytes: 114660.07
 record_length_bytes_resize: 150528
 data_folder: data/resnet50
 format: tfrecord
train: 
 computation_time: 0.224
 epochs: 5
reader:
 data_loader: tensorflow
 read_threads: 8
 computation_threads: 8
 batch_size: 400
metric:
  au: 0.90
)";

std::string with_edit(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::out_of_range(from);
  return text.replace(at, from.size(), to);
}

std::string import_complaint(const std::string& text) {
  return message_of<SpecError>([&] { parse_dlio_workload(text, "retinanet_b200.yaml"); });
}

DlioImport imported(const std::string& text, const std::string& file = "retinanet_b200.yaml") {
  return import_dlio(parse_dlio_workload(text, file), file, "out");
}

spec::TrialSpec experiment_in(const DlioImport& made) {
  const std::vector<spec::Trial> trials = spec::expand(spec::parse_spec(made.spec_text, made.spec_path));
  EXPECT_EQ(trials.size(), 1u);
  return trials.at(0).spec;
}

const spec::OpSpec& op_named(const spec::TrialSpec& trial, const std::string& name) {
  return *std::ranges::find(trial.pipeline.ops, name, &spec::OpSpec::op);
}

TEST(ImportDlio, MakesAnExperimentOfAPublishedWorkload) {
  const DlioImport made = imported(kRetinanet);
  EXPECT_EQ(made.spec_path, "out/spec.json");
  EXPECT_EQ(made.profile_path, "out/b200.json");
  const spec::TrialSpec trial = experiment_in(made);
  EXPECT_EQ(trial.name, "retinanet_b200");
  EXPECT_EQ(trial.engine, "emulated:out/b200.json");
  EXPECT_EQ(trial.data.root, "data/retinanet/");
  EXPECT_EQ(trial.data.format, spec::DataFormat::images);
  EXPECT_EQ(trial.training.batch_size, 24);
  EXPECT_EQ(trial.comm.model, spec::CommModel::none);
  EXPECT_EQ(trial.measure.target_au, 0.85);
  EXPECT_EQ(trial.measure.repeats, 8);
  EXPECT_EQ(op_named(trial, "worker_batches").integer("num_workers"), 8);
  EXPECT_EQ(op_named(trial, "worker_batches").integer("prefetch_factor"), 1) << "ceil(2 / 8), as DLIO sets it";
  EXPECT_TRUE(op_named(trial, "worker_batches").boolean("persistent"));
  EXPECT_GT(trial.measure.warmup_steps, 8) << "what workers loaded ahead must be used up";
}

TEST(ImportDlio, MakesAProfileWhoseStepTakesTheComputationTime) {
  const DlioImport made = imported(kRetinanet);
  const spec::AcceleratorProfile profile = spec::parse_profile(made.profile_text, "b200.json");
  const spec::TrialSpec trial = experiment_in(made);
  const spec::ProfileEntry entry = find_entry(profile, trial.model, trial.training.precision, 24);
  EXPECT_NEAR(entry.compute_s(), 0.04755, 1e-12);
  EXPECT_EQ(entry.record_bytes, 322957);
  EXPECT_THAT(entry.source, AllOf(HasSubstr("retinanet_b200.yaml: retinanet, reader.batch_size 24"),
                                  HasSubstr("0.04755 s, which is 504.731861 images/s")));
  EXPECT_EQ(profile.device, "B200 of DLIO's workload retinanet_b200");
}

TEST(ImportDlio, TakesTheLoaderOfTensorFlowAndTheSizeThatRecordsAreResizedTo) {
  const spec::TrialSpec trial = experiment_in(imported(kResnet, "d/resnet50_h100.yaml"));
  EXPECT_EQ(trial.model.name, "resnet50");
  EXPECT_EQ(trial.model.image_size, 224) << "150528 = 3 x 224 x 224";
  EXPECT_EQ(trial.data.format, spec::DataFormat::tfrecord);
  EXPECT_EQ(op_named(trial, "interleave").integer("cycle_length"), 8);
  EXPECT_EQ(op_named(trial, "map").integer("parallel_calls"), 8);
  EXPECT_EQ(op_named(trial, "prefetch").integer("buffer"), 2);
  EXPECT_TRUE(std::ranges::none_of(trial.pipeline.ops, [](const spec::OpSpec& op) { return op.op == "shuffle"; }));
}

TEST(ImportDlio, LoadsInTheTrainingItselfWithoutReadThreads) {
  const spec::TrialSpec trial = experiment_in(imported(with_edit(kRetinanet, "read_threads: 8", "read_threads: 0")));
  EXPECT_EQ(op_named(trial, "map").integer("parallel_calls"), 1);
}

TEST(ImportDlio, KnowsTheNamesOfOldVersionsAndDlioDefaults) {
  const DlioWorkload old = parse_dlio_workload(
      "data_reader:\n  data_loader: pytorch\n  batch_size: 4\ntrain:\n  computation_time:\n    mean: 0.5\n"
      "    stdev: 0.1\ndataset:\n  record_length: 1000\n",
      "w.yaml");
  EXPECT_EQ(old.batch_size, 4);
  EXPECT_EQ(old.computation_time_s, 0.5);
  EXPECT_EQ(old.record_bytes, 1000);
  EXPECT_EQ(old.au, 0.9);
  EXPECT_TRUE(old.au_is_default);
  EXPECT_EQ(import_dlio(old, "w.yaml", "out").profile_path, "out/accelerator.json");
}

TEST(ImportDlio, TakesDliosBatchSizeWhereTheFileHasNone) {
  const DlioWorkload workload = parse_dlio_workload(with_edit(kRetinanet, "  batch_size: 24\n", ""), "w.yaml");
  EXPECT_EQ(workload.batch_size, 1);
  EXPECT_TRUE(workload.batch_is_default);
  EXPECT_THAT(import_summary(workload, import_dlio(workload, "w.yaml", "out")), HasSubstr("1 image (DLIO's default)"));
  EXPECT_FALSE(parse_dlio_workload(kRetinanet, "w.yaml").batch_is_default);
}

// Returns the folder of the data in a workload of these lines.
std::string folder_in(const std::string& lines) {
  return parse_dlio_workload("train:\n  computation_time: 1\n" + lines, "w.yaml").data_folder;
}

TEST(ImportDlio, FillsInWhatValuesReferToAsOmegaConfDoes) {
  ASSERT_EQ(::setenv("CHEXBENCH_TEST_FOLDER", "/from/there", 1), 0);
  ASSERT_EQ(::unsetenv("CHEXBENCH_TEST_NOTHING"), 0);
  const std::string storage = "root: /top\nstorage:\n  storage_root: /scratch/set\n  set: a\n";
  const std::pair<const char*, const char*> cases[] = {
      {"${storage.storage_root}/train", "/scratch/set/train"},
      {"'${root}'", "/top"},
      {"${workload.storage.storage_root}", "/scratch/set"},
      {"${ storage.storage_root }/${storage[set]}", "/scratch/set/a"},
      {"${.at}/x", "/d/x"},
      {"${..storage.set}", "a"},
      {"${${.name}.set}\n  name: storage", "a"},
      {"${.other}\n  other: ${..root}/b", "/top/b"},
      {"\\${root}", "${root}"},
      {"${.list[1]}\n  list: [x, y]", "y"},
      {"${oc.env:CHEXBENCH_TEST_FOLDER}/x", "/from/there/x"},
      {"${oc.env:CHEXBENCH_TEST_NOTHING,/else}", "/else"},
      {"${oc.env:CHEXBENCH_TEST_NOTHING, '/else where'}", "/else where"},
      {"${oc.env:CHEXBENCH_TEST_NOTHING,${root}/${oc.env:CHEXBENCH_TEST_NOTHING,b}}", "/top/b"}};
  for (const auto& [value, filled] : cases)
    EXPECT_EQ(folder_in(storage + "dataset:\n  at: /d\n  data_folder: " + value), filled);
  EXPECT_EQ(
      parse_dlio_workload(with_edit(kRetinanet, "batch_size: 24", "batch_size: ${.read_threads}"), "w").batch_size, 8);
  EXPECT_EQ(parse_dlio_workload(kRetinanet + "output:\n  folder: ${hydra:run.dir}\n", "w.yaml").batch_size, 24)
      << "nobody asks for it";
}

TEST(ImportDlio, NamesWhatCannotBeFilledIn) {
  const auto complaint = [](const std::string& value) {
    return import_complaint("train:\n  computation_time: 1\ndataset:\n  data_folder: " + value);
  };
  const std::pair<const char*, const char*> cases[] = {
      {"${storage.root}", ":4: dataset.data_folder refers to 'storage.root', which the file"},
      {"${train}", "refers to 'train', which has keys"},
      {"${now:%Y}/a", "has ${now:...}, which Hydra fills in"},
      {"${oc.env:CHEXBENCH_TEST_NOTHING}", "the variable CHEXBENCH_TEST_NOTHING"},
      {"${.data_folder}", "refers to itself"},
      {"${....x}", "above the file"},
      {"${a", "has '${' without '}'"},
      {"???", "is to be given on DLIO's command line"}};
  for (const auto& [value, says] : cases) EXPECT_THAT(complaint(value), HasSubstr(says));
  std::string doubles = "x\na0: 12345678\n";
  for (int i = 1; i <= 25; ++i) doubles += fmt::format("a{}: ${{a{}}}${{a{}}}\n", i, i - 1, i - 1);
  EXPECT_THAT(complaint("${a25}\n  b: " + doubles), HasSubstr(":4: dataset.data_folder"));
}

TEST(ImportDlio, TellsWhatItLeavesOut) {
  const DlioWorkload workload = parse_dlio_workload(kRetinanet, "retinanet_b200.yaml");
  const DlioImport made = import_dlio(workload, "retinanet_b200.yaml", "out");
  const std::string told = import_summary(workload, made);
  EXPECT_THAT(told, AllOf(HasSubstr("505 images/s an accelerator, and 163 MB/s in records of 322957 bytes"),
                          HasSubstr("(AU) of 85 %"), HasSubstr("no network 'retinanet': resnet50 at 800x800 pixels"),
                          HasSubstr("line 15: dataset.num_files_train 1170301; the images of data.root are measured"),
                          HasSubstr("chexbench report RUN --format dlio"), Not(HasSubstr("batch_size 24;"))));
  EXPECT_THAT(made.spec_text, HasSubstr("// Left out of it: dataset.num_files_train: 1170301"));
  EXPECT_THAT(import_summary(parse_dlio_workload(kRetinanet + "odd:\n  key: 1\n", "w.yaml"), made),
              HasSubstr("line 33: odd.key 1; chexbench has no equivalent"));
}

TEST(ImportDlio, NamesTheLineOfWhatItCannotTake) {
  const struct {
    const char *from, *to, *says;
  } cases[] = {
      {"format: jpeg", "format: npz", "retinanet_b200.yaml:14: dataset.format is npz, which chexbench does not read"},
      {"train: True", "train: False", "retinanet_b200.yaml:9: workflow.train is False"},
      {"loader: pytorch", "loader: mine", "retinanet_b200.yaml:20: reader.data_loader is mine"},
      {"batch_size: 24", "batch_size: 1.5", ":21: reader.batch_size must"},
      {"batch_size: 24", "batch_size: -3", "from 1 to 65536, not '-3'"},
      {"0.04755", "${x}", ":28: train.computation_time refers to 'x', which the file does not have"},
      {"0.04755", "nan", "must be a number"},
      {"au: 0.85", "au: 85", ":31: metric.au must"},
      {"  computation_time: 0.04755\n", "", "retinanet_b200.yaml: train.computation_time is missing"}};
  for (const auto& [from, to, says] : cases)
    EXPECT_THAT(import_complaint(with_edit(kRetinanet, from, to)), HasSubstr(says));
  EXPECT_THAT(import_complaint(""), HasSubstr("train.computation_time is missing"));
}

}  // namespace
}  // namespace chexbench::verbs
