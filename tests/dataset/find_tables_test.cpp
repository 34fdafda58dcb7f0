// Tests which of the tables in a root are recognized as that of the labels.
#include "dataset/labelled_root.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <utility>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataLayout;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTrials = "experiment,trial,pipeline,format\nx,y,z,png\n";
constexpr std::string_view kScores = "file,patient,labels,probability_Mass\na.png,1,Mass,0.5\n";

using FindTables = LabelledRoot;

TEST_F(FindTables, TakesEndingsInAnyCase) {
  for (const char* name : {"LABELS.CSV", "Labels.Csv", "labels.csv"}) {
    file(name, "image,Mass\na.png,1\n");
    EXPECT_THAT(read().label_names, ElementsAre("Mass")) << name;
    std::filesystem::remove(root_ / name);
  }
  file("DATA_ENTRY_2017.CSV", "Image Index,Finding Labels,Patient ID\na.png,Mass,1\n");
  EXPECT_EQ(read().layout, DataLayout::nih);
}

TEST_F(FindTables, PassesHiddenFilesOver) {
  file("labels.csv", "image,Mass\na.png,1\n");
  file("._labels.csv", std::string_view("\0\5\26\7\0\2\0\0Mac OS X", 16));
  file(".~lock.labels.csv#", "");
  EXPECT_THAT(read().label_names, ElementsAre("Mass"));
  std::filesystem::rename(root_ / "labels.csv", root_ / "Data_Entry_2017.csv");
  std::filesystem::rename(root_ / "._labels.csv", root_ / "._Data_Entry_2017.csv");
  EXPECT_THAT(failure<DataError>(), HasSubstr("Data_Entry_2017.csv:1: the header has no column 'Image Index'"));
}

TEST_F(FindTables, TakesNoResultsOfChexbenchForLabels) {
  file("cat/1.png");
  file("dog/1.png");
  file("results.csv", kTrials);
  file("Scores.csv", kScores);
  EXPECT_THAT(read().label_names, ElementsAre("cat", "dog"));
  file("labels.csv", "image,Mass\ncat/1.png,1\n");
  EXPECT_THAT(read().label_names, ElementsAre("Mass"));
  std::filesystem::remove(root_ / "labels.csv");
  spec_.layout = DataLayout::csv;
  EXPECT_THAT(failure<DataError>(),
              AllOf(HasSubstr("Scores.csv, results.csv are results of chexbench"), HasSubstr("expected a *.csv")));
}

TEST_F(FindTables, AreNotStoppedByATableThatCannotBeRead) {
  file("cat/1.png");
  file("dog/1.png");
  file("cat/notes.csv", "\xef\xbb\xbf");
  EXPECT_THAT(read().label_names, ElementsAre("cat", "dog"));
}

TEST_F(FindTables, TakeATableOfAnothersNameForOnesOwn) {
  file("a.png");
  file("data_entry.csv", "image,Edema\na.png,1\n");
  EXPECT_THAT(read().label_names, ElementsAre("Edema"));
}

TEST_F(FindTables, TakesNoFolderOfResultsForADataSet) {
  file("cat/1.png");
  file("dog/1.png");
  file("answer/csv-metadata.json", "{}");
  file("answer/trials.csv", kTrials);
  file("judged/evaluation.json", "{}");
  file("judged/roc.csv", "label,threshold\n");
  EXPECT_THAT(read().label_names, ElementsAre("cat", "dog"));
  std::filesystem::copy(root_ / "judged", root_.path());
  EXPECT_THAT(read().label_names, ElementsAre("cat", "dog")) << "results in the root itself";
}

TEST_F(FindTables, LetsATableLieInTheFolderOfAClass) {
  file("cat/1.png");
  file("cat/notes.csv", "a,b\n1,2\n");
  file("dog/1.png");
  EXPECT_THAT(read().label_names, ElementsAre("cat", "dog"));
  file("dog/Data_Entry_2017.csv");
  EXPECT_THAT(failure<DataError>(), HasSubstr("'dog' in it is a data set"));
}

TEST_F(FindTables, SaysThatTheOneFolderWithATableIsTheDataSet) {
  file("set/labels.csv", "image,Mass\na.png,1\n");
  file("set/a.png");
  EXPECT_THAT(failure<DataError>(), HasSubstr("'set' in it is a data set"));
  file("other/images/b.png");
  EXPECT_THAT(failure<DataError>(), HasSubstr("'set' in it is a data set"));
}

TEST_F(FindTables, KnowsTablesByNameAndHeader) {
  for (const char* name : {"Data_Entry_2017.csv", "mimic-cxr-2.0.0-chexpert.csv.gz", "b.csv", ".c.csv", "d.txt"})
    file(name);
  file("Train.CSV", "Sex,Path,Age,\"Frontal/Lateral\"\n");
  file("valid.csv", "image,Mass\n");
  file("empty.csv", "");
  file("trials.csv", kTrials);
  std::filesystem::create_directory(root_ / "folder.csv");
  const storage::DataRoot root(root_.path());
  std::string found;
  for (const FoundTable& table : find_tables(*root.store, root.path, root.store->list(root.path)))
    found += table.name + (table.kind == TableKind::own        ? " own, "
                           : table.kind == TableKind::nih      ? " nih, "
                           : table.kind == TableKind::mimic    ? " mimic, "
                           : table.kind == TableKind::chexpert ? " chexpert, "
                                                               : " result, ");
  EXPECT_EQ(found,
            "Data_Entry_2017.csv nih, Train.CSV chexpert, b.csv own, empty.csv own, mimic-cxr-2.0.0-chexpert.csv.gz "
            "mimic, trials.csv result, valid.csv own, ");
}

// A folder of this machine that counts how often a file of it is opened to be read in pieces.
class CountingStore : public storage::Store {
 public:
  explicit CountingStore(const std::string& root) : store_(storage::DataRoot(root).store) {}
  std::vector<storage::StoreEntry> list(const std::string& folder) const override { return store_->list(folder); }
  std::optional<std::uint64_t> size(const std::string& path) const override { return store_->size(path); }
  std::span<const std::byte> read(const std::string& path, storage::ByteBuffer& buffer) const override {
    return store_->read(path, buffer);
  }
  std::unique_ptr<storage::ByteStream> stream(const std::string& path, std::stop_token stop) const override {
    ++opened[path.substr(path.rfind('/') + 1)];
    return store_->stream(path, std::move(stop));
  }
  bool is_local() const override { return true; }

  mutable std::map<std::string, int> opened;

 private:
  std::shared_ptr<const storage::Store> store_;
};

TEST_F(FindTables, ReadsTheBeginningOfEachTableOnce) {
  file("labels.csv", "image,Mass\na.png,1\n");
  file("trials.csv", kTrials);
  for (const DataLayout layout : {DataLayout::automatic, DataLayout::csv}) {
    spec_.root = root_.path();
    spec_.layout = layout;
    const auto store = std::make_shared<CountingStore>(root_.path());
    EXPECT_THAT(read_index(storage::DataRoot(spec_, store)).label_names, ElementsAre("Mass"));
    EXPECT_EQ(store->opened, (std::map<std::string, int>{{"labels.csv", 1}, {"trials.csv", 1}}));
  }
}

}  // namespace
}  // namespace chexbench::dataset
