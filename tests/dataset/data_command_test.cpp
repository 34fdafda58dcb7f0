#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::dataset {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DataCommandTest : public testing::Test {
 protected:
  // Returns the stdout of `chexbench data ARGUMENTS`. Errors are thrown.
  std::string run(const std::string& arguments) {
    CLI::App app;
    app::add_data_commands(app);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      app.parse("data " + arguments);
    } catch (...) {
      output_ = testing::internal::GetCapturedStdout();
      log_ = testing::internal::GetCapturedStderr();
      throw;
    }
    log_ = testing::internal::GetCapturedStderr();
    output_ = testing::internal::GetCapturedStdout();
    for (std::size_t at = 0; (at = output_.find("\n   ")) != std::string::npos;) output_.replace(at, 4, " ");
    return output_;
  }
  std::string set() { return folder_ / "set"; }
  void make_set() { run("synth " + set() + " --images 20 --size 64"); }

  ScratchFolder folder_;
  std::string output_, log_;
};

TEST_F(DataCommandTest, MakesLooksAtConvertsAndChecksASet) {
  EXPECT_THAT(
      run("synth " + set() + " --images 20 --size 64 --seed 3"),
      AllOf(HasSubstr("Made 20 synthetic chest X-rays of "), HasSubstr(" patients, as PNGs of 64 x 64 pixels, "),
            HasSubstr(" kB in all, in " + set() + ", in "), HasSubstr("Next: `chexbench " + set() + "`")));
  EXPECT_THAT(run("index " + set() + " --explain"), AllOf(HasSubstr("images: 20\n"), HasSubstr("missing_files: 0\n")));
  EXPECT_THAT(
      run("convert " + set() + " --split all"),
      AllOf(HasSubstr("Converted the 20 images of split 'all' ("), HasSubstr(" into 16 shards of TFRecords, "),
            HasSubstr(set() + "/tfrecord/all-manifest.json has the details.\nNext: `chexbench " + set() + "`")));
  EXPECT_THAT(run("convert " + set() + " --split all"),
              HasSubstr("Nothing to convert: the 20 images of split 'all' ("));
  EXPECT_THAT(run("check " + set()), AllOf(HasSubstr("Checked 20 images and the 20 records made from them, "),
                                           HasSubstr(": no problems.\nNext: `chexbench " + set() + "`")));
}

TEST_F(DataCommandTest, ConvertCountsWhatWasThereAndWhatIsNew) {
  make_set();
  run("convert " + set() + " --split all");
  std::filesystem::remove(set() + "/tfrecord/all-00003-of-00016");
  EXPECT_THAT(run("convert " + set() + " --split all"),
              HasSubstr(" into 16 shards of TFRecords, of which 15 were there "));
  const auto told = nlohmann::json::parse(run("convert " + set() + " --split all --to webdataset --format json"));
  EXPECT_EQ(told.at("manifest"), set() + "/webdataset/all-manifest.json");
  EXPECT_EQ(told.at("shards"), 16);
  EXPECT_EQ(told.at("shards_kept"), 0);
  EXPECT_EQ(told.at("damaged"), nlohmann::json::array());
  EXPECT_EQ(told.at("next"), "chexbench " + set());
}

TEST_F(DataCommandTest, ConvertSaysHowCachedPixelsAreRead) {
  make_set();
  EXPECT_THAT(run("convert " + set() + " --to cached --set data.layout=nih"),
              AllOf(HasSubstr(" into a file of decoded pixels, "), HasSubstr("--set data.format=cached"),
                    HasSubstr("`chexbench data check " + set() + " --set data.layout=nih`")));
}

TEST_F(DataCommandTest, StageCountsWhatItCopied) {
  make_set();
  const std::string copy = folder_ / "copy", command = "stage " + set() + " " + copy + " --split all";
  EXPECT_THAT(run(command + " --set data.layout=nih"),
              AllOf(HasSubstr("Copied 23 files ("), HasSubstr("), with 20 images, from " + set() + " to " + copy),
                    HasSubstr("Next: `chexbench " + copy + " --set data.layout=nih`")));
  EXPECT_THAT(run(command), HasSubstr("Nothing to copy: all 23 files ("));
  std::filesystem::remove(copy + "/images/00000001_000.png");
  EXPECT_THAT(run(command), AllOf(HasSubstr("Copied the missing 1 ("), HasSubstr(") of 23 files (")));
  const auto told = nlohmann::json::parse(run(command + " --json"));
  EXPECT_EQ(told.at("images"), 20);
  EXPECT_EQ(told.at("files_kept"), 23);
  EXPECT_EQ(told.at("bytes_copied"), 0);
  EXPECT_EQ(told.at("next"), "chexbench " + copy);
}

TEST_F(DataCommandTest, SynthSaysWhatItMadeAndWhatWasThere) {
  make_set();
  std::filesystem::remove(set() + "/images/00000001_000.png");
  EXPECT_THAT(run("synth " + set() + " --images 20 --size 64"), HasSubstr("Made the missing 1 of 20 synthetic chest"));
  EXPECT_THAT(run("synth " + set() + " --images 20 --size 64"), HasSubstr("Nothing to make: all 20 synthetic chest"));
  const auto told = nlohmann::json::parse(run("synth " + set() + " --images 20 --size 64 --format json"));
  EXPECT_EQ(told.at("images"), 20);
  EXPECT_EQ(told.at("images_written"), 0);
  EXPECT_GT(told.at("file_bytes"), 0);
  EXPECT_EQ(told.at("next"), "chexbench " + set());
}

TEST_F(DataCommandTest, SynthNamesClassesAndShards) {
  const std::string command = "synth " + set() + " --images 30 --classes 3 --size 64";
  EXPECT_THAT(run(command), AllOf(HasSubstr("Made 30 synthetic color images of 3 classes, as JPEGs of 64 x 48 pixels"),
                                  HasSubstr(" in 2 shards like ImageNet's, "), Not(HasSubstr("patient"))));
}

TEST_F(DataCommandTest, IndexEndsWithTheCommandThatMeasuresTheSet) {
  make_set();
  EXPECT_THAT(run("index " + set() + " --set data.layout=nih"),
              testing::EndsWith("\nnext: chexbench --config peers-input --set data.root=" + set() +
                                " --set data.layout=nih\ndetails: --explain lists all counts\n"));
}

TEST_F(DataCommandTest, IndexPrintsJson) {
  make_set();
  run("convert " + set() + " --split all");
  const nlohmann::json index = nlohmann::json::parse(run("index --format json " + set()));
  EXPECT_EQ(index.at("layout"), "nih");
  EXPECT_EQ(index.at("images"), 20);
  EXPECT_EQ(index.at("png_files"), 20);
  EXPECT_EQ(index.at("labels").size(), 14u);
  EXPECT_EQ(index.at("missing_files"), nlohmann::json::array());
  EXPECT_EQ(index.at("shards").at(0).at("split"), "all");
  EXPECT_EQ(index.at("shards").at(0).at("shards"), 16);
  EXPECT_TRUE(index.at("shards").at(0).at("problem").is_null());
  EXPECT_THAT(index.at("next").get<std::string>(), HasSubstr("--set data.root=" + set()));
}

TEST_F(DataCommandTest, ShowsNoProgressInAPipe) {
  make_set();
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(DataCommandTest, CheckPrintsWhatIsWrongAndFailsAsAnErrorOfTheData) {
  make_set();
  write_text(set() + "/images/00000001_000.png", "");
  EXPECT_THAT(message_of<DataError>([&] { run("check " + set()); }), HasSubstr("1 problem,"));
  EXPECT_THAT(output_, AllOf(HasSubstr("00000001_000.png"), HasSubstr(": 1 problem.\nNext: fetch the images above ")));
  EXPECT_THROW(run("check --format json " + set()), DataError);
  const auto told = nlohmann::json::parse(output_);
  EXPECT_EQ(told.at("images"), 20);
  EXPECT_THAT(told.at("problems").at(0).get<std::string>(), HasSubstr("00000001_000.png"));
  EXPECT_TRUE(told.at("next").is_null());
}

TEST_F(DataCommandTest, ConvertsTheTrainingSplitUnlessToldOtherwise) {
  make_set();
  EXPECT_THAT(run("convert " + set()), HasSubstr("train-manifest.json"));
}

TEST_F(DataCommandTest, NamesTheNearestSplit) {
  EXPECT_THAT(message_of<SpecError>([&] { run("convert " + set() + " --split trian"); }),
              HasSubstr("did you mean 'train'"));
}

TEST_F(DataCommandTest, RefusesARootThatIsNotThere) {
  for (const char* verb : {"index", "check", "convert"}) {
    EXPECT_THAT(message_of<DataError>([&] { run(std::string(verb) + " /nowhere/set"); }), HasSubstr("/nowhere/set"));
  }
}

TEST_F(DataCommandTest, AsksForAVerbAndItsArguments) {
  EXPECT_THROW(run(""), CLI::ParseError);
  EXPECT_THROW(run("synth " + set()), CLI::ParseError);
  EXPECT_THROW(run("index"), CLI::ParseError);
}

TEST_F(DataCommandTest, ListsAsManyNamesAsAskedFor) {
  make_set();
  for (const char* name : {"x.png", "y.png", "z.png"}) write_text(set() + "/images/" + name, "");
  EXPECT_THAT(run("index --show 1 " + set()), HasSubstr("orphan files: 3 (x.png, ...)"));
}

}  // namespace
}  // namespace chexbench::dataset
