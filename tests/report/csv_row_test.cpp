#include "report/csv_row.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "report/csv_reader.hpp"

namespace chexbench::report {
namespace {

TEST(CsvRow, QuotesWhatMustBeQuoted) {
  CsvRow row;
  for (const char* field : {"plain", "with,comma", "with \"quotes\"", "two\nlines", "cr\r"}) row(field);
  EXPECT_EQ(std::move(row).line(), "plain,\"with,comma\",\"with \"\"quotes\"\"\",\"two\nlines\",\"cr\r\"\n");
}

std::string field_of(const std::string& text) {
  CsvRow row;
  row(text);
  return read_csv(std::move(row).line()).at(0).at(0);
}

TEST(CsvRow, NoTextBeginsAFormula) {
  for (const std::string text : {"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=a,b", "=\"a\"", "-",
                                 "+5", "-inf", "\uff1d1", "'=1", "''-5"}) {
    EXPECT_EQ(field_of(text), "'" + text);
  }
}

TEST(CsvRow, LeavesNumbersAndOtherTextsAsTheyAre) {
  for (const std::string text : {"-5", "-0.25", "-1e-09", "5", "", "'", "'tis", "a=b", "a-b", " =1", "\u00e4"}) {
    EXPECT_EQ(field_of(text), text);
  }
  CsvRow row;
  row(-5);
  row(-0.5);
  row(std::optional(-1e-9));
  EXPECT_EQ(std::move(row).line(), "-5,-0.5,-1e-09\n");
}

TEST(CsvRow, HoldsUtf8Alone) {
  EXPECT_EQ(field_of("r\xe9p/\xc3\xa4"), "r\ufffdp/\u00e4");
  EXPECT_EQ(field_of("=\xff\xfe,"), "'=\ufffd\ufffd,");
}

TEST(CsvRow, WritesBooleansAsWordsAndUndefinedAsEmpty) {
  CsvRow row;
  row(true);
  row(false);
  row(std::optional<double>());
  row(std::numeric_limits<double>::quiet_NaN());
  row(std::optional<double>(0.5));
  EXPECT_EQ(std::move(row).line(), "true,false,,,0.5\n");
}

TEST(CsvRow, WritesNumbersThatReadBackToTheSameBits) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-9, 123456789.123456789, 1e-300}) {
    CsvRow row;
    row(value);
    EXPECT_EQ(std::stod(std::move(row).line()), value);
  }
}

TEST(CsvRow, WritesIntegersOf64BitsWhole) {
  CsvRow row;
  row(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(std::move(row).line(), "18446744073709551615\n");
}

}  // namespace
}  // namespace chexbench::report
