#include "core/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chexbench {
namespace {

using testing::ElementsAre;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  LineReader reader(text);
  for (std::string_view line; reader.next(line);) lines.push_back(line);
  return lines;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  split_csv_line(line, fields);
  return fields;
}

TEST(LineReader, EndsLinesAsUnixAndWindowsDo) {
  EXPECT_THAT(lines_of("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(lines_of("a\n"), ElementsAre("a"));
  EXPECT_THAT(lines_of(""), ElementsAre());
}

TEST(LineReader, EndsLinesAsOldMacsDidWhereMostAreEndedSo) {
  EXPECT_THAT(lines_of("a\rb\r\rc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(lines_of("a\rb\n"), ElementsAre("a\rb"));
  EXPECT_THAT(lines_of("a\r"), ElementsAre("a"));
}

TEST(LineReader, GoesOnInAFieldInQuotes) {
  LineReader reader("\"a\nb\",\"c\"\"\n\",\"d\"\nx\"\ny\n\"open\nz\n");
  std::vector<std::string_view> records;
  std::vector<std::size_t> numbers;
  for (std::string_view record; reader.next_record(record, ',');) {
    records.push_back(record);
    numbers.push_back(reader.number());
  }
  EXPECT_THAT(records, ElementsAre("\"a\nb\",\"c\"\"\n\",\"d\"", "x\"", "y", "\"open", "z"));
  EXPECT_THAT(numbers, ElementsAre(1u, 4u, 5u, 6u, 7u));
}

TEST(LineReader, SkipsAByteOrderMark) {
  EXPECT_THAT(lines_of("\xef\xbb\xbf"
                       "a\nb"),
              ElementsAre("a", "b"));
}

TEST(LineReader, CountsLinesFromOne) {
  LineReader reader("a\nb\n");
  std::string_view line;
  reader.next(line);
  EXPECT_EQ(reader.number(), 1u);
  reader.next(line);
  EXPECT_EQ(reader.number(), 2u);
}

TEST(SplitCsvLine, SplitsAtCommas) {
  EXPECT_THAT(fields_of("a,b,,c,"), ElementsAre("a", "b", "", "c", ""));
  EXPECT_THAT(fields_of(""), ElementsAre(""));
}

TEST(SplitCsvLine, SplitsAtWhatSeparatesTheHeader) {
  EXPECT_EQ(csv_separator("a,b;c"), ',');
  EXPECT_EQ(csv_separator("a;b"), ';');
  EXPECT_EQ(csv_separator("a\tb"), '\t');
  EXPECT_EQ(csv_separator("a"), ',');
  EXPECT_EQ(csv_separator(""), ',');
  EXPECT_EQ(csv_separator("a;b, c;d\n1;2;3\n"), ';') << "rows with as many fields as the header";
  EXPECT_EQ(csv_separator("\"a;\nb\",c\n1,2\n"), ',') << "not within quotes";
  EXPECT_EQ(csv_separator("a,b,\n1,2,3,4\n"), ',') << "the most fields where no separator makes them equal";
  EXPECT_EQ(stated_separator("sep=|"), '|');
  EXPECT_EQ(stated_separator("\"Sep=\t\""), '\t');
  for (const char* line : {"", "sep=", "sep=;;", "step=;", "\"sep=;"}) EXPECT_FALSE(stated_separator(line)) << line;
  CsvFields fields(';');
  EXPECT_THAT(fields.split("a,5;\"b;c\";"), ElementsAre("a,5", "b;c", ""));
}

TEST(SplitCsvLine, KeepsCommasWithinQuotes) { EXPECT_THAT(fields_of("\"a,b\",c,\"d\""), ElementsAre("a,b", "c", "d")); }

// RFC 4180, section 2, rule 7.
TEST(CsvFields, UndoDoubledQuotesInQuotedFields) {
  CsvFields fields;
  EXPECT_THAT(fields.split(R"("a ""b""","c, ""d"", e",f)"), ElementsAre(R"(a "b")", R"(c, "d", e)", "f"));
  EXPECT_THAT(fields.split(R"("","""",""""""," ""x")"), ElementsAre("", "\"", "\"\"", R"( "x)"));
  EXPECT_THAT(fields.split(R"(a""b,"c)"), ElementsAre(R"(a""b)", R"("c)"))
      << "quotes in a field without quotes are text";
  const std::string_view line = "plain,\"quoted\"";
  EXPECT_EQ(fields.split(line)[1].data(), line.data() + 7) << "no copy where nothing is doubled";
}

TEST(SplitCsvLine, LetsNoDoubledQuoteEndAField) {
  EXPECT_THAT(fields_of(R"("a """,b)"), ElementsAre(R"(a "")", "b"));
  EXPECT_THAT(fields_of(R"("a "",b",c)"), ElementsAre(R"(a "",b)", "c"));
}

TEST(SplitCsvLine, DropsBlanksAroundFields) { EXPECT_THAT(fields_of(" a ,\tb "), ElementsAre("a", "b")); }

TEST(SplitCsvLine, TakesAQuoteThatNeverEndsAsText) { EXPECT_THAT(fields_of("\"a,b"), ElementsAre("\"a", "b")); }

TEST(SplitCsvLine, GivesEmptyFieldsTheirPlace) {
  const std::string_view line = "a, ,";
  const std::vector<std::string_view> fields = fields_of(line);
  EXPECT_EQ(fields[1].data(), line.data() + 2);
  EXPECT_EQ(fields[2].data(), line.data() + 4);
}

}  // namespace
}  // namespace chexbench
