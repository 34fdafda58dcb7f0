// Tests a key with several names: data.labels.columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/parse.hpp"
#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_with(const std::string& columns) {
  return R"({"data": {"root": "d", "layout": "csv", "labels": {"columns": )" + columns + "}}}";
}

TrialSpec columns_in(const std::string& columns) { return trials_of(text_with(columns)).front().spec; }

TEST(NamesList, IsAListOrATextWithCommas) {
  for (const std::string columns : {R"(["Mass", "No Finding", "x_*"])", R"("Mass,No Finding,x_*")",
                                    R"(" Mass , No Finding,x_*, ")", R"([" Mass", "No Finding ", "x_*"])"}) {
    EXPECT_EQ(columns_in(columns).data.labels.columns, "Mass,No Finding,x_*") << columns;
  }
  EXPECT_EQ(columns_in(R"(["Mass"])").data.labels.columns, "Mass");
}

TEST(NamesList, IsOverriddenAndSweptInBothForms) {
  const auto columns = [](const std::string& override) {
    return trials_of(text_with(R"("a")"), {override}).front().spec.data.labels.columns;
  };
  EXPECT_EQ(columns(R"(data.labels.columns=["b", "c"])"), "b,c");
  EXPECT_EQ(columns("data.labels.columns=b,c"), "b,c");
  EXPECT_EQ(columns("data.labels.columns=2017"), "2017");
  EXPECT_THAT(names_of(trials_of(text_with(R"("a")"), {R"(sweep.data.labels.columns=["a", ["b", "c"]])"})),
              ElementsAre("a", "b,c"));
  EXPECT_THAT(spec_error(text_with(R"("a")"), {R"(sweep.data.labels.columns=["a,b", ["a", "b"]])"}),
              HasSubstr("values 0 and 1 are the same"));
}

TEST(NamesList, IsResolvedToAListIfItHasSeveral) {
  EXPECT_THAT(to_json(columns_in(R"("Mass, Nodule")")), HasSubstr(R"("columns": ["Mass", "Nodule"])"));
  EXPECT_THAT(to_json(columns_in(R"(["Mass"])")), HasSubstr(R"("columns": "Mass")"));
  for (const std::string columns : {R"("Mass, Nodule")", R"(["Mass"])", R"("*")"}) {
    EXPECT_EQ(parse_trial(to_json(columns_in(columns)), "x"), columns_in(columns)) << columns;
  }
  EXPECT_EQ(trial_key(columns_in(R"("Mass, Nodule")")), trial_key(columns_in(R"(["Mass", "Nodule"])")));
}

TEST(NamesList, OfANameWithACommaIsRefusedWithAPatternThatFits) {
  EXPECT_EQ(
      spec_error(text_with(R"(["Nodule", "Mass, left"])")),
      "x.json: data.labels.columns[1]: 'Mass, left' has a comma, which separates names: give each name by itself, "
      "or a pattern such as 'Mass* left' if it is one");
}

TEST(NamesList, OfNoNamesIsRefused) {
  const std::string expected =
      "x.json: data.labels.columns must be names: a list of texts, or one text with commas between them, not ";
  EXPECT_EQ(spec_error(text_with("[]")), expected + "a list");
  EXPECT_EQ(spec_error(text_with(R"("")")), expected + "the text \"\"");
  EXPECT_EQ(spec_error(text_with(R"(" , ")")), expected + "the text \" , \"");
  EXPECT_EQ(spec_error(text_with("3")), expected + "3");
  EXPECT_EQ(spec_error(text_with("null")), expected + "null");
  EXPECT_EQ(spec_error(text_with(R"(["a", 3])")), "x.json: data.labels.columns[1] must be a name, not 3");
  EXPECT_EQ(spec_error(text_with(R"(["a", " "])")),
            "x.json: data.labels.columns[1] must be a name, not the text \" \"");
}

}  // namespace
}  // namespace chexbench::spec
