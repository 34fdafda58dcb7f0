#include "dataset/index.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"
#include "dataset/passed_over.hpp"
#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseLabels, SetsOneBitAFinding) {
  EXPECT_EQ(parse_labels("No Finding", "x"), LabelBits());
  EXPECT_EQ(parse_labels("Atelectasis", "x"), LabelBits(1));
  EXPECT_EQ(parse_labels("Hernia|Cardiomegaly", "x"), LabelBits(1 << 13 | 1 << 1));
  for (unsigned f = 0; f < kNihLabels; ++f) EXPECT_EQ(parse_labels(kNihLabelNames[f], "x"), LabelBits(1u << f));
}

TEST(ParseLabels, NamesTheNearestFindingOfAnUnknownOne) {
  EXPECT_THAT(message_of<DataError>([] { parse_labels("Mass|Atelectsis", "table.csv:7"); }),
              AllOf(HasSubstr("table.csv:7"), HasSubstr("'Atelectsis'"), HasSubstr("did you mean 'Atelectasis'")));
}

TEST(ParseLabels, NamesAHugeFindingInAShortMessage) {
  EXPECT_LT(message_of<DataError>([] { parse_labels(std::string(1 << 20, 'x'), "table.csv:7"); }).size(), 1000u);
}

TEST(LabelsText, IsWhatParseLabelsReads) {
  for (unsigned labels = 0; labels < 1u << kNihLabels; labels += 37) {
    EXPECT_EQ(parse_labels(labels_text(labels), "x"), LabelBits(labels));
  }
  EXPECT_EQ(labels_text(0), "No Finding");
}

TEST(ParseAge, UnderstandsEveryEdition) {
  EXPECT_EQ(parse_age_years("58"), 58.0f);
  EXPECT_EQ(parse_age_years("058Y"), 58.0f);
  EXPECT_EQ(parse_age_years("006M"), 0.5f);
  EXPECT_NEAR(parse_age_years("365D").value(), 1.0f, 0.001f);
  for (const char* text : {"", "Y", "abc", "58X", "58YY", "-3"}) EXPECT_FALSE(parse_age_years(text)) << text;
}

TEST(ReadIndex, ReadsTheEditionOf2017) {
  const ScratchFolder root;
  write_table(root,
              "00000002_000.png,Hernia,0,2,058Y,F,PA,2500,2048,0.1,0.1,\n"
              "00000001_000.png,No Finding,0,1,006M,M,AP,2500,2048,0.1,0.1,\n");
  write_text(root / "train_val_list.txt", "00000002_000.png");
  write_text(root / "test_list.txt", "00000001_000.png\n");
  const Index index = read_index(root.path());
  ASSERT_EQ(index.rows.size(), 2u);
  const IndexRow& first = index.rows[0];
  EXPECT_EQ(first.name, "00000001_000.png");  // in the order of names, not of the table
  EXPECT_EQ(first.labels, 0);
  EXPECT_EQ(first.patient, 1u);
  EXPECT_EQ(first.age_years, 0.5f);
  EXPECT_EQ(first.sex, 'M');
  EXPECT_TRUE(first.in_test && !first.in_train);
  EXPECT_EQ(index.rows[1].labels, 1 << 13);
  EXPECT_TRUE(index.rows[1].in_train && !index.rows[1].in_test);
}

TEST(ReadIndex, ReadsColumnsByNameWhereverTheyStand) {
  const ScratchFolder root;
  write_table(root, "F,7,Mass,\"a.png\"\r\n", "\xef\xbb\xbfPatient Sex,Patient ID,Finding Labels,\"Image Index\"\r\n");
  const Index index = read_index(root.path());
  ASSERT_EQ(index.rows.size(), 1u);
  EXPECT_EQ(index.rows[0].name, "a.png");
  EXPECT_EQ(index.rows[0].sex, 'F');
  EXPECT_EQ(index.rows[0].patient, 7u);
  EXPECT_LT(index.rows[0].age_years, 0);
}

TEST(ReadIndex, ReadsTheShippedTable) {
  const Index index = read_index(CHEXBENCH_TEST_DATA);
  EXPECT_EQ(index.rows.size(), 24u);
  EXPECT_TRUE(index.has_train_list && index.has_test_list);
  EXPECT_TRUE(index.listed_without_row.empty());
}

TEST(ReadIndex, PrefersTheLaterEdition) {
  const ScratchFolder root;
  write_table(root, "old.png,Mass,0,1,1,M,PA,1,1,1,1,\n");
  write_text(root / "Data_Entry_2017_v2020.csv", std::string(kHeader2017) + "new.png,Mass,0,1,1,M,PA,1,1,1,1,\n");
  EXPECT_EQ(read_index(root.path()).rows[0].name, "new.png");
}

TEST(ReadIndex, ListsNamesThatTheTableLacks) {
  const ScratchFolder root;
  write_table(root, "b.png,Mass,0,1,1,M,PA,1,1,1,1,\n");
  write_text(root / "train_val_list.txt", "a.png\nb.png\nc.png\n\n");
  const Index index = read_index(root.path());
  EXPECT_THAT(index.listed_without_row, ElementsAre("a.png", "c.png"));
  EXPECT_TRUE(index.rows[0].in_train);
  EXPECT_FALSE(index.has_test_list);
}

struct BadTable {
  std::string name, header, rows, expected;
};
class BadTableTest : public testing::TestWithParam<BadTable> {};

TEST_P(BadTableTest, IsRefusedWithFileAndLine) {
  const ScratchFolder root;
  write_table(root, GetParam().rows, GetParam().header);
  EXPECT_THAT(message_of<DataError>([&] { read_index(root.path()); }),
              AllOf(HasSubstr("Data_Entry_2017.csv"), HasSubstr(GetParam().expected)));
}

const std::string kGood = "a.png,Mass,0,1,1,M,PA,1,1,1,1,\n";
const std::string kHeader(kHeader2017);
INSTANTIATE_TEST_SUITE_P(
    Each, BadTableTest,
    testing::Values(
        BadTable{"UnknownFinding", kHeader, kGood + "b.png,Masss,0,1,1,M,PA,1,1,1,1,\n", ":3: unknown finding 'Masss'"},
        BadTable{"FewFields", kHeader, kGood + "\nb.png,Mass\n", ":4: the row has 2 fields, expected at least 4"},
        BadTable{"PatientNotANumber", kHeader, "b.png,Mass,0,1x,1\n", ":2: patient ID '1x'"},
        BadTable{"NameLeadsOutOfTheRoot", kHeader, "../b.png,Mass,0,1,1\n", ":2: '../b.png' is not the name"},
        BadTable{"NameOfTheFolderAbove", kHeader, "..,Mass,0,1,1\n", ":2: '..' is not the name"},
        BadTable{"NameWithAControlCharacter", kHeader, "b\x1b.png,Mass,0,1,1\n", R"(:2: 'b\x1b.png' is not the name)"},
        BadTable{"SameNameTwice", kHeader, kGood + kGood, "'a.png' has more than one row"},
        BadTable{"NoLabelColumn", "Image Index,Patient ID\n", "a.png,1\n", "no column 'Finding Labels'"},
        BadTable{"EmptyFile", "", "", "the file is empty"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(ReadIndex, SaysHowToMendAMissingRoot) {
  EXPECT_THAT(message_of<DataError>([] { read_index("/nowhere/nih"); }),
              AllOf(HasSubstr("'/nowhere/nih'"), HasSubstr("data synth")));
}

TEST(ReadIndex, NamesTheThreeLayoutsIfARootIsMissingOrHoldsNone) {
  const ScratchFolder empty;
  for (const std::string& root : {std::string("/nowhere/nih"), empty.path()}) {
    EXPECT_THAT(message_of<DataError>([&] { read_index(root); }),
                AllOf(HasSubstr("Data_Entry_2017.csv"), HasSubstr("a CSV with your labels"),
                      HasSubstr("a folder of images for each class")));
  }
}

TEST(ReadIndex, NamesTheOneFolderOfARootThatIsADataSet) {
  const ScratchFolder parent;
  write_text(parent / "notes/a.png", "");
  write_text(parent / "nih/Data_Entry_2017.csv", "");
  write_text(parent / "nih/images/a.png", "");
  EXPECT_THAT(message_of<DataError>([&] { read_index(parent.path()); }),
              AllOf(HasSubstr("'nih' in it is a data set"), HasSubstr("set data.root to " + (parent / "nih"))));
  storage::DataRoot classes(parent.path());
  classes.layout = spec::DataLayout::folders;
  EXPECT_EQ(read_index(classes).label_names.size(), 2u);
}

TEST(ReadIndex, NamesTheFolderAboveTheSplits) {
  const ScratchFolder parent;
  write_text(parent / "set/train/cat/a.png", "");
  EXPECT_THAT(message_of<DataError>([&] { read_index(parent.path()); }), HasSubstr("'set' in it is a data set"));
  EXPECT_EQ(read_index(parent / "set").rows.size(), 1u);
}

TEST(ReadIndex, TellsFoldersOfDicomFiles) {
  const ScratchFolder named, nameless;
  write_text(named / "a.DCM", "");
  write_text(nameless / "patient/study/1.2.840", std::string(128, '\0') + "DICM");
  write_text(nameless / "patient/study/1.2.839", "short");
  if (image::reads_dicom()) {
    EXPECT_EQ(read_index(named.path()).rows.size(), 1u);
  } else {
    EXPECT_THAT(message_of<DataError>([&] { read_index(named.path()); }),
                HasSubstr((named / "a.DCM") + " is a DICOM file, " + dicom_advice()));
  }
  EXPECT_THAT(message_of<DataError>([&] { read_index(nameless.path()); }),
              HasSubstr("study/1.2.840 is a DICOM file, " + dicom_advice()));
  EXPECT_THAT(dicom_advice(), HasSubstr(image::reads_dicom() ? "rename the files" : "built without DCMTK"));
}

TEST(ReadIndex, TellsARootThatMayNotBeListed) {
  const ScratchFolder root;
  write_table(root, "b.png,Mass,0,1,1,M,PA,1,1,1,1,\n");
  const WithMode locked(root.path(), std::filesystem::perms::none);
  if (!locked.applies()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_THAT(message_of<DataError>([&] { read_index(root.path()); }),
              AllOf(HasSubstr(root.path()), HasSubstr("Permission denied")));
}

TEST(ReadIndex, TellsARootThatCannotBeReached) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_THAT(message_of<DataError>([&] { read_index(folder / "loop"); }),
              AllOf(HasSubstr(folder / "loop"), HasSubstr("Too many levels of symbolic links")));
}

TEST(ReadIndex, TellsASplitListThatCannotBeReached) {
  const ScratchFolder root;
  write_table(root, "b.png,Mass,0,1,1,M,PA,1,1,1,1,\n");
  std::filesystem::create_symlink("test_list.txt", root / "test_list.txt");
  EXPECT_THAT(message_of<DataError>([&] { read_index(root.path()); }), HasSubstr("test_list.txt: Too many levels"));
}

TEST(ReadIndex, SaysThatARootHasNoTable) {
  const ScratchFolder root;
  EXPECT_THAT(message_of<DataError>([&] { read_index(root.path()); }), HasSubstr("is empty: expected images"));
  write_text(root / "notes.txt", "");
  EXPECT_THAT(message_of<DataError>([&] { read_index(root.path()); }), HasSubstr("no images and no label table"));
}

// A bucket with one image that is only listed.
class Bucket : public storage::Store {
 public:
  std::vector<storage::StoreEntry> list(const std::string& folder) const override {
    if (folder != "s3://bucket") return {};
    return {{.name = "a.png", .kind = storage::StoreEntry::Kind::file}};
  }
  std::optional<std::uint64_t> size(const std::string& /*path*/) const override { return {}; }
  std::span<const std::byte> read(const std::string& path, storage::ByteBuffer& /*buffer*/) const override {
    throw DataError(path);
  }
  std::unique_ptr<storage::ByteStream> stream(const std::string& path, std::stop_token /*stop*/) const override {
    throw DataError(path);
  }
  bool is_local() const override { return false; }
};

TEST(ReadIndex, TakesThePlainImagesOfAServerForOneClass) {
  const storage::DataRoot root("s3://bucket", std::make_shared<Bucket>());
  const Index index = read_index(root);
  EXPECT_EQ(index.rows.size(), 1u);
  EXPECT_THAT(index.label_names, ElementsAre("images"));
}

// A table as large as the published one: 112,120 rows; the lists name 86,524 and 25,596 of them.
TEST(ReadIndex, ReadsATableOfFullSize) {
  constexpr int kTrain = 86524, kTest = 25596;
  std::string rows, train, test;
  for (int i = 0; i < kTrain + kTest; ++i) {
    const std::string name = fmt::format("{:08}_{:03}.png", i / 4 + 1, i % 4);
    rows += fmt::format("{},{},{},{},{:03}Y,M,PA,2500,2048,0.168,0.168,\n", name,
                        i % 2 == 0 ? "No Finding" : "Effusion|Edema", i % 4, i / 4 + 1, i % 90);
    (i < kTrain ? train : test) += name + "\n";
  }
  const ScratchFolder root;
  write_table(root, rows);
  write_text(root / "train_val_list.txt", train);
  write_text(root / "test_list.txt", test);
  const Index index = read_index(root.path());
  const auto count = [&](bool IndexRow::*member) {
    return std::count_if(index.rows.begin(), index.rows.end(), [&](const IndexRow& row) { return row.*member; });
  };
  EXPECT_EQ(index.rows.size(), static_cast<std::size_t>(kTrain + kTest));
  EXPECT_EQ(count(&IndexRow::in_train), kTrain);
  EXPECT_EQ(count(&IndexRow::in_test), kTest);
  EXPECT_EQ(index.rows[112119].labels, (1 << 2) | (1 << 9));
}

// A set of `images` files that are links to one, with a table of either layout.
class ManyFilesTest : public testing::Test {
 protected:
  static constexpr std::size_t kImages = 20'000;

  ManyFilesTest() {
    write_text(root_ / "images/first.txt", "1");
    std::string nih, own = "image,Mass\n";
    for (std::size_t i = 0; i < kImages; ++i) {
      const std::string name = fmt::format("{:08}_{:03}.png", i / 4, i % 4);
      std::filesystem::create_hard_link(root_ / "images/first.txt", root_ / ("images/" + name));
      nih += fmt::format("{},Effusion|Edema,{},{},058Y,M,PA,2500,2048,0.168,0.168,\n", name, i % 4, i / 4);
      own += fmt::format("{:08}_{:03},{}\n", i / 4, i % 4, i % 2);
    }
    write_table(root_, nih);
    write_text(root_ / "own.csv", own);
    std::filesystem::create_directory_symlink(root_ / "images", classes_ / "all");
  }

  static std::size_t held_bytes() {
    const auto memory = ::mallinfo2();
    return memory.hblkhd + memory.uordblks;
  }

  // Heap bytes per file of a root's index and list of files.
  std::size_t bytes_a_file(const spec::DataSpec& spec) {
    const std::size_t before = held_bytes();
    const storage::DataRoot root(spec);
    const Index index = read_index(root);
    NameArena names;
    const std::vector<ImageFile> files = find_files(root, index, names);
    EXPECT_EQ(index.rows.size(), kImages);
    EXPECT_EQ(files.size(), kImages);
    EXPECT_EQ(files.back().name, index.rows.back().name);
    return (held_bytes() - before) / kImages;
  }

  const ScratchFolder root_, classes_;
};

// Paths of this test's folder have some 50 characters. The bound is far below the cost of a std::string for each name
// and path (more than 300), so that it holds on any standard library.
TEST_F(ManyFilesTest, HoldLittleMemoryForEachFile) {
  if (held_bytes() == 0) GTEST_SKIP() << "AddressSanitizer's allocator does not count";
  constexpr std::size_t kMostBytes = 280;
  EXPECT_LT(bytes_a_file({.root = root_.path()}), kMostBytes);
  EXPECT_LT(bytes_a_file({.root = root_.path(), .layout = spec::DataLayout::csv, .labels = {.csv = "own.csv"}}),
            kMostBytes);
  EXPECT_LT(bytes_a_file({.root = classes_.path()}), kMostBytes);
}

}  // namespace
}  // namespace chexbench::dataset
