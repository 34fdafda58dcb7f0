// Tests that every layout reads its tables in the dialects in which programs write them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/labelled_root.hpp"
#include "dataset/layouts.hpp"
#include "dataset/table_rows.hpp"

namespace chexbench::dataset {
namespace {

using spec::DataLayout;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// ASCII only.
std::string utf16(std::string_view text, bool is_big, bool has_mark = true) {
  std::string result = !has_mark ? "" : is_big ? "\xfe\xff" : "\xff\xfe";
  for (const char c : text) result += is_big ? std::string{'\0', c} : std::string{c, '\0'};
  return result;
}

// The same table in each dialect, by its name.
std::vector<std::pair<std::string, std::string>> dialects_of(const std::string& table) {
  return {{"plain", table},
          {"UTF-8 with a mark", "\xef\xbb\xbf" + table},
          {"Windows", replaced(table, "\n", "\r\n")},
          {"old Mac", replaced(table, "\n", "\r")},
          {"UTF-16, little endian", utf16(table, false)},
          {"UTF-16, big endian", utf16(table, true)},
          {"UTF-16 without a mark", utf16(table, false, false)},
          {"UTF-16 of Windows with tabs", utf16(replaced(replaced(table, ",", "\t"), "\n", "\r\n"), false)},
          {"semicolons", replaced(table, ",", ";")},
          {"a stated separator", "sep=;\r\n" + replaced(replaced(table, ",", ";"), "\n", "\r\n")},
          {"a stated bar", "\"sep=~\"\n" + replaced(table, ",", "~")},
          {"blank lines", replaced(table, "\n", "\n\n")},
          {"no last line end", table.substr(0, table.size() - 1)}};
}

class TableDialects : public LabelledRoot {
 protected:
  // Returns "name:LABEL|LABEL" for each row.
  std::vector<std::string> rows() {
    const Index index = read();
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < index.rows.size(); ++i)
      rows.push_back(fmt::format("{}:{}", index.rows[i].name, text_of(index, i)));
    return rows;
  }
  std::vector<std::string> rows_of(std::string_view table) {
    file("labels.csv", table);
    return rows();
  }
  std::string failure_of(std::string_view table) {
    file("labels.csv", table);
    return failure<DataError>();
  }
};

TEST_F(TableDialects, AreReadInOnesOwnTable) {
  for (const auto& [dialect, table] : dialects_of("image,Mass,Edema\na.png,1,0\nb.png,0,0\n"))
    EXPECT_THAT(rows_of(table), ElementsAre("a.png:Mass", "b.png:No Finding")) << dialect;
}

TEST_F(TableDialects, AreReadInThatOfChestXRay14) {
  const std::string lists = "a.png\nb.png\n";
  for (const auto& [dialect, table] : dialects_of("Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,\n"
                                                  "a.png,Mass|Edema,0,1,58,\nb.png,No Finding,0,2,7,\n")) {
    write_text(root_ / "Data_Entry_2017.csv", table);
    EXPECT_THAT(rows(), ElementsAre("a.png:Mass|Edema", "b.png:No Finding")) << dialect;
  }
  for (const auto& [dialect, list] : dialects_of(lists)) {
    write_text(root_ / "train_val_list.txt", list);
    if (list.find("sep=") != std::string::npos) continue;
    EXPECT_TRUE(read().rows.at(1).in_train) << dialect;
  }
}

TEST_F(TableDialects, AreReadInThoseOfCheXpert) {
  const std::string columns =
      "No Finding,Enlarged Cardiomediastinum,Cardiomegaly,Lung Opacity,Lung Lesion,Edema,"
      "Consolidation,Pneumonia,Atelectasis,Pneumothorax,Pleural Effusion,Pleural Other,"
      "Fracture,Support Devices";
  const std::string row = "CheXpert-v1.0/train/patient00001/study1/view1_frontal.jpg,Male,60,Frontal,AP";
  const std::string plain = "Path,Sex,Age,Frontal/Lateral,AP/PA," + columns + "\n" + row + ",1.0,,,,,,,,,,,,,\n";
  auto dialects = dialects_of(plain);
  dialects.emplace_back("quotes around all names",
                        "\"" + replaced("Path,Sex,Age,Frontal/Lateral,AP/PA," + columns, ",", "\",\"") + "\"\n" + row +
                            ",1.0,,,,,,,,,,,,,\n");
  dialects.emplace_back("pandas' index",
                        ",Path,Sex,Age,Frontal/Lateral,AP/PA," + columns + "\n0," + row + ",1.0,,,,,,,,,,,,,\n");
  for (const auto& [dialect, table] : dialects) {
    write_text(root_ / "train.csv", table);
    EXPECT_THAT(rows(), ElementsAre("patient00001/study1/view1_frontal.jpg:No Finding")) << dialect;
    EXPECT_EQ(read().layout, DataLayout::chexpert) << dialect;
  }
}

TEST_F(TableDialects, HaveFieldsOfSeveralLines) {
  spec_.layout = DataLayout::csv;
  spec_.labels.columns = "Mass";
  EXPECT_THAT(rows_of("image,report,Mass\na.png,\"one\n\"\"two\"\",\r\n\nthree\",1\nb.png,\"\",0\n"),
              ElementsAre("a.png:Mass", "b.png:No Finding"));
  EXPECT_THAT(rows_of("image,\"the\nreport\",Mass\na.png,\"1\n2\",1\n"), ElementsAre("a.png:Mass"));
  EXPECT_THAT(failure_of("image,report,Mass\na.png,\"1\n2\",1\nb.png,\"3\n4\",8\n"),
              HasSubstr("labels.csv:4: column 'Mass' is '8'"));
  write_text(root_ / "labels.csv", "image,report,Mass\na.png,\"never closed,1\nb.png,x,1\n");
  EXPECT_THAT(rows(), ElementsAre("a.png:Mass", "b.png:Mass"));
}

TEST_F(TableDialects, HaveTheSeparatorThatFitsTheirRows) {
  EXPECT_THAT(rows_of("image;Mass, large;Edema\na.png;1;0\n"), ElementsAre("a.png:Mass, large"));
  EXPECT_THAT(rows_of("image;Mass;Edema\na.png;1,0;0,0\n"), ElementsAre("a.png:Mass"));
  EXPECT_THAT(rows_of("image,Mass;Edema\na.png,1\n"), ElementsAre("a.png:Mass;Edema"));
}

TEST_F(TableDialects, MayHaveColumnsWithoutANameThatAreNoLabels) {
  EXPECT_THAT(rows_of("image,Mass,,,\na.png,1,,,\nb.png,0,,x,\n"), ElementsAre("a.png:Mass", "b.png:No Finding"));
  EXPECT_THAT(rows_of(",image,Mass\n0,a.png,1\n1,b.png,0\n"), ElementsAre("a.png:Mass", "b.png:No Finding"));
  EXPECT_THAT(rows_of("Unnamed: 0,image,Mass\n0,a.png,1\n"), ElementsAre("a.png:Mass"));
  EXPECT_THAT(rows_of("\"\",\"image\",\"Mass\"\n\"1\",\"a.png\",1\n"), ElementsAre("a.png:Mass"));
  EXPECT_THAT(rows_of(",Mass\na.png,1\n"), ElementsAre("a.png:Mass")) << "the images are the index";
  EXPECT_THAT(failure_of(",image,Mass,Mass\n0,a.png,1,0\n"),
              HasSubstr("labels.csv:1: the header has column 'Mass' twice"));
}

TEST_F(TableDialects, SpellTruthInManyWays) {
  for (const char* yes : {"1", "1.0", "1.00", "1.", "True", "TRUE", "true", "yes", "YES"})
    EXPECT_THAT(rows_of(fmt::format("image,Mass\na.png,{}\n", yes)), ElementsAre("a.png:Mass")) << yes;
  for (const char* no : {"0", "0.0", "-0.0", "False", "FALSE", "false", "No", "no"})
    EXPECT_THAT(rows_of(fmt::format("image,Mass\na.png,{}\n", no)), ElementsAre("a.png:No Finding")) << no;
  for (const char* other :
       {"2", "0.5", "1.01", "10", "-1", "-1.00", "-", "tr", "nan", "truth", "+", "\"\"", "F", "m"}) {
    EXPECT_THAT(failure_of(fmt::format("image,Mass\na.png,{}\n", other)), HasSubstr("labels.csv:2: column 'Mass' is '"))
        << other;
  }
}

TEST_F(TableDialects, HaveLettersOfTruthInPairsAlone) {
  EXPECT_THAT(rows_of("image,Mass,Edema\na.png,T,n\nb.png,F,Y\n"), ElementsAre("a.png:Mass", "b.png:Edema"));
  EXPECT_THAT(rows_of("image,Mass\na.png,f\nb.png,t\nc.png,T\n"),
              ElementsAre("a.png:No Finding", "b.png:Mass", "c.png:Mass"));
  spec_.labels.blank = spec::UnclearLabel::zeros;
  EXPECT_THAT(rows_of("image,Mass\na.png,Y\nb.png,\nc.png,N\n"),
              ElementsAre("a.png:Mass", "b.png:No Finding", "c.png:No Finding"));
  const std::pair<const char*, const char*> refused[] = {
      {"image,Sex\na.png,F\nb.png,F\n", "labels.csv:2: column 'Sex' is 'F'"},
      {"image,Sex\na.png,F\nb.png,M\n", "labels.csv:3: column 'Sex' is 'M'"},
      {"image,Mass\na.png,1\nb.png,T\nc.png,F\n", "labels.csv:3: column 'Mass' is 'T'"},
      {"image,Mass\na.png,True\nb.png,F\nc.png,T\n", "labels.csv:3: column 'Mass' is 'F'"},
      {"image,Mass\na.png,T\nb.png,N\n", "labels.csv:2: column 'Mass' is 'T'"},
      {"image,Mass\na.png,T\nb.png,F\nc.png,Y\n", "labels.csv:2: column 'Mass' is 'T'"},
      {"image,Mass,Sex\na.png,T,F\nb.png,F,F\n", "labels.csv:2: column 'Sex' is 'F'"},
      {"image,Mass\na.png,N\nb.png,\n", "labels.csv:2: column 'Mass' is 'N'"}};
  for (const auto& [table, place] : refused) {
    EXPECT_THAT(failure_of(table), HasSubstr(place)) << table;
  }
}

TEST_F(TableDialects, MayHaveImagesWithoutEndingInAColumnWithoutName) {
  EXPECT_THAT(rows_of(",Edema,Mass\n00001,1,0\n00002,0,1\n"), ElementsAre("00001:Edema", "00002:Mass"));
}

TEST_F(TableDialects, MakeNoNamesOfTruthValues) {
  spec_.layout = DataLayout::csv;
  spec_.labels.separator = "|";
  spec_.labels.columns = "Mass";
  EXPECT_THAT(failure_of("image,Mass\na.png,True\nb.png,False\n"),
              AllOf(HasSubstr("'Mass'"), HasSubstr("data.labels.separator")));
  EXPECT_THAT(rows_of("image,Mass\na.png,yes\nb.png,no\n"), ElementsAre("a.png:yes", "b.png:no"))
      << "classes may be called so";
}

TEST(FromUtf16, MakesUtf8OfAllCharacters) {
  using namespace std::string_view_literals;
  EXPECT_EQ(from_utf16("\xff\xfe\x41\x00\xe4\x00\xac\x20\x3d\xd8\x00\xde"sv),
            "\xef\xbb\xbf"
            "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(from_utf16("\xfe\xff\x00\x41\xd8\x3d\x00"sv),
            "\xef\xbb\xbf"
            "A\xef\xbf\xbd\xef\xbf\xbd")
      << "halves of characters";
  for (const std::string_view text : {""sv, "a"sv, "ab"sv, "\0\0"sv,
                                      "\xef\xbb\xbf"
                                      "a"sv})
    EXPECT_FALSE(from_utf16(text));
}

TEST(TableRows, NumbersARowByItsFirstLine) {
  TableRows rows("\"a\nb\",c\n\"d\ne\",f\ng,h\n", "t.csv");
  EXPECT_THAT(rows.names(), ElementsAre("a\nb", "c"));
  EXPECT_THAT(rows.following(), ElementsAre("d\ne", "f"));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.where(), "t.csv:3");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.where(), "t.csv:5");
  EXPECT_THAT(rows.following(), testing::IsEmpty());
  EXPECT_FALSE(rows.next());
}

}  // namespace
}  // namespace chexbench::dataset
