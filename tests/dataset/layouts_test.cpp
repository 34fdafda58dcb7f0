// Tests the layouts other than ChestX-ray14's: a user's own table, and folders of classes.
#include "dataset/layouts.hpp"
#include "dataset/labelled_root.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/label_columns.hpp"
#include "dataset/make/convert.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataLayout;
using spec::Split;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class LayoutTest : public LabelledRoot {
 protected:
  void table(std::string_view text, const std::string& name = "labels.csv") { file(name, text); }
};

TEST_F(LayoutTest, TakesAnyOtherTableForOneOfOnesOwnAndItsColumnsForLabels) {
  table("file,Cat,Dog,Owl\nb.png,0,1,1\na.jpg,1.0,0,0.0\n");
  const Index index = read();
  EXPECT_EQ(index.layout, DataLayout::csv);
  EXPECT_THAT(index.label_names, ElementsAre("Cat", "Dog", "Owl"));
  ASSERT_EQ(index.rows.size(), 2u);
  EXPECT_EQ(index.rows[0].name, "a.jpg");
  EXPECT_EQ(text_of(index, 0), "Cat");
  EXPECT_EQ(text_of(index, 1), "Dog|Owl");
  EXPECT_NE(index.rows[0].patient, index.rows[1].patient);
}

TEST_F(LayoutTest, TakesLabelsInTheOrderInWhichTheSpecNamesThem) {
  table("age,x_Dog,y_Owl,x_Cat,path\n58,1,0,0,a.png\n");
  spec_.layout = DataLayout::csv;
  spec_.labels = {.image_column = "path", .columns = "y_Owl, x_*"};
  const Index index = read();
  EXPECT_THAT(index.label_names, ElementsAre("y_Owl", "x_Dog", "x_Cat"));
  EXPECT_EQ(text_of(index, 0), "x_Dog");
}

TEST_F(LayoutTest, ReadsDoubledQuotesInATable) {
  table("image,\"the \"\"finding\"\"\"\n\"a \"\"b\"\", c.png\",\"Owl, \"\"big\"\"\"\n");
  spec_.layout = DataLayout::csv;
  spec_.labels = {.columns = "the \"finding\"", .separator = "|"};
  const Index index = read();
  EXPECT_EQ(index.rows.at(0).name, "a \"b\", c.png");
  EXPECT_THAT(index.label_names, ElementsAre("Owl, \"big\""));
}

// A terminal must not obey a table's contents, and no error may be as long as the table.
TEST_F(LayoutTest, QuotesATableInShortPrintableErrors) {
  const std::string name = std::string("a\x1b[2J\0.png", 10), huge(1 << 20, 'x');
  for (const std::string& rows : {"image,Cat\n" + name + ",0\n", "image,Cat\n../" + huge + ",0\n",
                                  "image,Cat\na.png," + huge + "\n", "image,Cat\n" + huge + ",0\n" + huge + ",0\n",
                                  "image," + huge + "\na.png,2\n", "image," + huge + "," + huge + "\na.png,0,0\n"}) {
    table(rows);
    const std::string message = failure<DataError>();
    EXPECT_LT(message.size(), 1000u) << rows.substr(0, 40);
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_EQ(message.find('\0'), std::string::npos);
  }
  table("image,Cat\n" + name + ",0\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr(R"(labels.csv:2: 'a\x1b[2J\x00.png' is not the name of an image file)"));
  spec_.labels = {.columns = "Dog"};
  table("image," + huge + "\na.png,0\n");
  EXPECT_LT(failure<SpecError>().size(), 2500u);
}

TEST_F(LayoutTest, KnowsPatientsOnlyByTheirColumn) {
  table("image,Dog,person\na.png,0,1\nb.png,1,1\n");
  files({"a.png", "b.png"});
  spec_.layout = DataLayout::csv;
  spec_.labels = {.columns = "Dog"};
  EXPECT_FALSE(open(Split::all).has_patients);
  spec_.labels.patient_column = "person";
  EXPECT_TRUE(open(Split::all).has_patients);
}

TEST_F(LayoutTest, ReadsAColumnOfJoinedNamesWhateverTheOrderOfRows) {
  const std::string header = "image,findings\n";
  table(header + "a.png,Owl; Cat\nb.png,none\nc.png,Dog\n");
  spec_.layout = DataLayout::csv;
  spec_.labels = {.columns = "findings", .separator = ";", .none = "none"};
  const Index index = read();
  EXPECT_THAT(index.label_names, ElementsAre("Cat", "Dog", "Owl"));
  EXPECT_EQ(text_of(index, 0), "Cat|Owl");
  EXPECT_TRUE(index.rows[1].labels.empty());
  table(header + "c.png,Dog\nb.png,none\na.png,Owl;Cat\n");
  const Index again = read();
  EXPECT_EQ(again.label_names, index.label_names);
  EXPECT_EQ(again.rows[0].labels, index.rows[0].labels);
}

TEST_F(LayoutTest, ReadsMoreLabelsThanAWordHasBits) {
  std::string rows = "image,class\n";
  for (int i = 0; i < 200; ++i) rows += fmt::format("{:03}.png,class {:03}\n", i, (i * 7) % 200);
  table(rows);
  spec_.layout = DataLayout::csv;
  spec_.labels = {.columns = "class", .separator = "|"};
  const Index index = read();
  ASSERT_EQ(index.label_names.size(), 200u);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(text_of(index, i), fmt::format("class {:03}", (i * 7) % 200));
  }
}

TEST_F(LayoutTest, ReadsSplitsAndPatientsFromTheirColumns) {
  table("image,Mass,fold,who\na.png,0,train,P2\nb.png,1,valid,P1\nc.png,1,test,P2\nd.png,1,,P3\n");
  files({"a.png", "b.png", "c.png", "d.png"});
  spec_.layout = DataLayout::csv;
  spec_.labels = {.split_column = "fold", .patient_column = "who"};
  const Index index = read();
  EXPECT_THAT(index.label_names, ElementsAre("Mass"));
  EXPECT_EQ(index.rows[0].patient, index.rows[2].patient);
  EXPECT_EQ(index.rows[1].patient, 0u);
  EXPECT_EQ(open(Split::val).images.at(0).name, "b.png");
  EXPECT_EQ(open(Split::all).images.size(), 4u);
}

TEST_F(LayoutTest, SaysHowToNameTheSplitsThatATableLacks) {
  table("image,Mass\na.png,0\n");
  files({"a.png"});
  EXPECT_THAT(failure<DataError>(Split::train), AllOf(HasSubstr("data.labels.split_column"), HasSubstr("\"all\"")));
  EXPECT_EQ(open(Split::all).label_names, std::vector<std::string>{"Mass"});
}

TEST_F(LayoutTest, FindsFilesByPathByNameAndWithoutTheirEnding) {
  table("image,Mass\ndeep/a.png,0\nb.jpeg,0\nc,0\ndeep/d,0\ngone.png,0\n");
  files({"deep/a.png", "deep/deeper/b.jpeg", "c.JPG", "deep/d.png", "deep/orphan.png", "deep/note.txt", ".hidden/c.png",
         "tfrecord/c.png"});
  const Index index = read();
  spec_.root = root_.path();
  NameArena arena;
  std::vector<std::string_view> names;
  for (const ImageFile& file : find_files(storage::DataRoot(spec_), index, arena)) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("b.jpeg", "c", "deep/a.png", "deep/d", "deep/orphan.png"));
  const Dataset dataset = open(Split::all);
  EXPECT_EQ(dataset.images.at(0).path, root_ / "deep/deeper/b.jpeg");
}

TEST_F(LayoutTest, RefusesANameThatCouldMeanTwoFiles) {
  table("image,Mass\na.png,0\n");
  files({"one/a.png", "two/a.png"});
  EXPECT_THAT(failure<DataError>(Split::all),
              AllOf(HasSubstr("'a.png' could be"), HasSubstr("one/a.png"), HasSubstr("two/a.png")));
}

TEST_F(LayoutTest, RefusesTwoRowsThatMeanOneFile) {
  table("image,Mass\na.png,0\na,1\n");
  files({"a.png"});
  EXPECT_THAT(failure<DataError>(Split::all), AllOf(HasSubstr("two rows"), HasSubstr("a.png")));
}

TEST(LabelPattern, FitsByItsPiecesInTheirOrder) {
  for (const char* pattern : {"*", "Mass", "M*", "*s", "M*s", "*a*", "*M*ss*", "**Mass**", "Mas*s", "*s*s"})
    EXPECT_TRUE(fits(pattern, "Mass")) << pattern;
  for (const char* pattern : {"", "Mas", "*a", "s*", "M*a", "*s*s*s", "Mass*s", "*ss*M*"})
    EXPECT_FALSE(fits(pattern, "Mass")) << pattern;
  const std::string many(100'000, 'a');
  EXPECT_FALSE(fits("*a*a*a*a*a*a*a*a*a*a*b", many)) << "in a time that no one waits for";
}

TEST_F(LayoutTest, RefusesShardsWhoseLabelsAreNumberedOtherwise) {
  files({"a.png", "b.png"});
  for (const auto format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset}) {
    table("image,Cat,Dog\na.png,1,0\nb.png,0,0\n");
    const auto convert = [&] {
      convert_data_set({.root = root_.path(), .split = Split::all, .format = format, .threads = 1});
    };
    convert();
    spec_.format = format;
    EXPECT_EQ(open(Split::all).labels(), 2);
    table("image,Dog,Cat\na.png,0,1\nb.png,0,0\n");
    EXPECT_THAT(failure<DataError>(Split::all), AllOf(HasSubstr("other labels"), HasSubstr("convert")));
    convert();
    EXPECT_THAT(open(Split::all).label_names, ElementsAre("Dog", "Cat"));
  }
}

TEST_F(LayoutTest, NamesTheColumnNearestToOneThatTheTableLacks) {
  table("image,Cat,Dog\na.png,1,0\n");
  spec_.layout = DataLayout::csv;
  spec_.labels.columns = "Cat,Dig";
  EXPECT_THAT(failure<SpecError>(),
              AllOf(HasSubstr("data.labels.columns"), HasSubstr("'Dig'"), HasSubstr("did you mean 'Dog'")));
  spec_.labels = {.image_column = "somewhere"};
  EXPECT_THAT(failure<SpecError>(), AllOf(HasSubstr("data.labels.image_column"), HasSubstr("known: image, Cat, Dog")));
  spec_.labels = {.columns = "x_*"};
  EXPECT_THAT(failure<SpecError>(), HasSubstr("known: image, Cat, Dog"));
  spec_.labels = {.columns = "*", .separator = "|"};
  EXPECT_THAT(failure<SpecError>(), HasSubstr("must be one column"));
}

TEST_F(LayoutTest, NamesTheLineOfAValueThatIsNoLabel) {
  table("image,Cat,Age\na.png,1,1\nb.png,0,58\n");
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("labels.csv:3"), HasSubstr("'Age' is '58'"),
                                          HasSubstr("data.labels.columns"), Not(HasSubstr("may be"))));
  table("image,Subject,Cat,fold\na.png,7,1,val\n");
  EXPECT_THAT(failure<DataError>(),
              AllOf(HasSubstr("'Subject' is '7'"), HasSubstr("data.labels.patient_column may be 'Subject'")));
  spec_.layout = DataLayout::csv;
  spec_.labels.patient_column = "Subject";
  EXPECT_THAT(failure<DataError>(),
              AllOf(HasSubstr("data.labels.split_column may be 'fold'"), Not(HasSubstr("patient_column may be"))));
}

TEST_F(LayoutTest, ReadsTablesOfSemicolonsOrTabs) {
  table("Nr;Aufnahme;Befund\n1;a.png;Cat, Dog\n2;\"b;1.png\";ohne\n");
  EXPECT_THAT(failure<DataError>(),
              AllOf(HasSubstr("'Aufnahme' is 'a.png'"), HasSubstr("data.labels.image_column may be 'Aufnahme'")));
  spec_.layout = DataLayout::csv;
  spec_.labels.image_column = "Aufnahme";
  spec_.labels.columns = "Befund";
  spec_.labels.separator = ",";
  spec_.labels.none = "ohne";
  const Index index = read();
  EXPECT_THAT(index.label_names, ElementsAre("Cat", "Dog"));
  ASSERT_EQ(index.rows.size(), 2u);
  EXPECT_EQ(text_of(index, 0), "Cat|Dog");
  EXPECT_EQ(index.rows[1].name, "b;1.png");
  table("image\tCat\na.png\t1\n");
  spec_.labels = {};
  EXPECT_EQ(text_of(read(), 0), "Cat");
}

TEST_F(LayoutTest, RefusesRowsThatCannotBeRight) {
  const auto failure_of = [&](std::string_view rows) {
    table("image,Cat\n" + std::string(rows));
    return failure<DataError>();
  };
  EXPECT_THAT(failure_of("a.png\n"), HasSubstr("labels.csv:2: the row has 1 fields, the header has 2"));
  EXPECT_THAT(failure_of("a.png,0\na.png,1\n"), HasSubstr("'a.png' has more than one row"));
  EXPECT_THAT(failure_of("../a.png,0\n"), HasSubstr("is not the name of an image file in the root"));
  EXPECT_THAT(failure_of("/etc/a.png,0\n"), HasSubstr("is not the name of an image file in the root"));
  EXPECT_THAT(failure_of(""), HasSubstr("no rows"));
  table("image,Cat,Cat\na.png,0,1\n");
  EXPECT_THAT(failure<DataError>(), HasSubstr("column 'Cat' twice"));
  table("image,Cat,fold\na.png,0,third\n");
  spec_.layout = DataLayout::csv;
  spec_.labels.split_column = "fold";
  EXPECT_THAT(failure<DataError>(), HasSubstr("'third' is not a split"));
}

TEST_F(LayoutTest, AsksForTheTableWhereThereAreSeveral) {
  table("image,Cat\na.png,0\n");
  table("image,Dog\na.png,0\n", "more.csv");
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("data.labels.csv"), HasSubstr("labels.csv, more.csv")));
  spec_.layout = DataLayout::csv;
  spec_.labels.csv = "more.csv";
  EXPECT_THAT(read().label_names, ElementsAre("Dog"));
  spec_.labels.csv = "most.csv";
  EXPECT_THAT(failure<DataError>(), HasSubstr("most.csv, which data.labels.csv names"));
}

TEST_F(LayoutTest, TakesFoldersForClasses) {
  files({"owl/1.jpg", "cat/1.png", "cat/more/2.png", "empty/readme.txt", "stray.png"});
  const Index index = read();
  EXPECT_EQ(index.layout, DataLayout::folders);
  EXPECT_THAT(index.label_names, ElementsAre("cat", "owl"));
  ASSERT_EQ(index.rows.size(), 3u);
  EXPECT_EQ(index.rows[1].name, "cat/more/2.png");
  EXPECT_EQ(text_of(index, 1), "cat");
  EXPECT_EQ(text_of(index, 2), "owl");
  EXPECT_EQ(open(Split::all).images.at(2).path, root_ / "owl/1.jpg");
  EXPECT_THAT(failure<DataError>(Split::train), HasSubstr("no folder 'train'"));
}

TEST_F(LayoutTest, TakesImagesInNoFolderForOneClass) {
  files({"2.png", "1.JPG", "readme.txt"});
  const Index index = read();
  EXPECT_EQ(index.layout, DataLayout::folders);
  EXPECT_THAT(index.label_names, ElementsAre("images"));
  ASSERT_EQ(index.rows.size(), 2u);
  EXPECT_EQ(index.rows[0].name, "1.JPG");
  EXPECT_EQ(text_of(index, 1), "images");
  EXPECT_EQ(open(Split::all).images.size(), 2u);
  EXPECT_THAT(failure<DataError>(Split::train), HasSubstr("--split all"));
  files({"train/3.png", "test/4.png"});
  EXPECT_EQ(open(Split::train).images.size(), 1u);
  EXPECT_EQ(open(Split::all).images.size(), 4u);
}

TEST_F(LayoutTest, TakesFoldersOfSplitsForSplitsWhoseLabelsAgree) {
  files({"train/owl/1.jpg", "train/cat/1.jpg", "val/owl/1.jpg", "test/eel/1.jpg", "test/stray.png"});
  EXPECT_EQ(open(Split::train).images.size(), 2u);
  const Dataset val = open(Split::val);
  EXPECT_THAT(val.label_names, ElementsAre("cat", "eel", "owl"));
  EXPECT_EQ(val.images.at(0).name, "val/owl/1.jpg");
  EXPECT_TRUE(val.images.at(0).labels.has(2));
  EXPECT_EQ(open(Split::test).images.size(), 1u);
  EXPECT_EQ(open(Split::all).images.size(), 4u);
}

TEST_F(LayoutTest, RefusesFoldersWithoutImages) {
  files({"owl/readme.txt"});
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("no images below"), HasSubstr("/CLASS/")));
}

TEST_F(LayoutTest, SaysThatTheDataSetOfAFolderOfShardsIsTheFolderAbove) {
  files({"tfrecord/train-00000-of-00001", "tfrecord/train-manifest.json"});
  for (const char* folder : {"tfrecord", "tfrecord/"}) {
    EXPECT_THAT(message_of<DataError>([&] { read_index(root_ / folder); }),
                HasSubstr("set data.root to " + root_.path() + ", with data.format tfrecord"));
  }
}

TEST_F(LayoutTest, SaysWhatShardsLackThatCannotBeRead) {
  files({"xrays.tfrecord"});
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("xrays.tfrecord looks like a shard"), HasSubstr("image/encoded")));
}

TEST_F(LayoutTest, SaysWhatShardsInFoldersOfSplitsLack) {
  for (const char* shard : {"train/0.tar", "Test/x.TFREC", "data/00000.tar"}) {
    files({shard, "classnames.txt"});
    EXPECT_THAT(failure<DataError>(), HasSubstr(std::string(shard) + " looks like a shard"));
    std::filesystem::remove(root_ / shard);
  }
}

TEST_F(LayoutTest, SaysThatShardsLackTheirTable) {
  files({"webdataset/all-000000.tar"});
  EXPECT_THAT(failure<DataError>(), AllOf(HasSubstr("/webdataset holds shards, but "), HasSubstr("lacks the table")));
}

TEST_F(LayoutTest, ReadsTheLayoutThatIsAskedForWhateverElseLiesThere) {
  files({"owl/1.jpg"});
  table("image,Cat\n1.jpg,1\n");
  EXPECT_EQ(read().layout, DataLayout::csv);
  spec_.layout = DataLayout::folders;
  EXPECT_EQ(read().layout, DataLayout::folders);
  spec_.layout = DataLayout::nih;
  EXPECT_THAT(failure<DataError>(), HasSubstr("Data_Entry_2017.csv"));
}

TEST_F(LayoutTest, StopsAtALinkThatLeadsBack) {
  files({"owl/1.jpg"});
  std::filesystem::create_directory_symlink(root_ / "owl", root_ / "owl/again");
  EXPECT_THAT(failure<DataError>(), HasSubstr("does a link lead back?"));
}

}  // namespace
}  // namespace chexbench::dataset
