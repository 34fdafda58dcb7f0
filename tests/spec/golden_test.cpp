// Tests golden files that would cost memory or time, or make the reader access memory out of bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "spec/golden.hpp"

namespace chexbench::spec {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class Golden : public testing::Test {
 protected:
  ~Golden() override { std::filesystem::remove(path_); }

  static Json shipped(const std::string& name) { return Json::parse(std::ifstream(CHEXBENCH_GOLDEN "/" + name)); }
  // Writes `json` with `value` at `place` to a file, and returns the error that `load` throws for it.
  template <typename Load>
  std::string refusal(Json json, const std::string& place, const Json& value, Load load) const {
    json.at(Json::json_pointer(place)) = value;
    std::ofstream(path_) << json;
    try {
      load(path_);
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  const std::string path_ = testing::TempDir() + "chexbench_golden_" + std::to_string(getpid());
};

const std::vector<Json> kNoSizes = {2147483647, -1, 1e300, 2.5, 18446744073709551615u, "7", nullptr};

TEST_F(Golden, InterleaveRefusesAbsurdNumbers) {
  const Json json = shipped("interleave.json");
  for (const std::string key : {"file_lengths", "cycle_length", "block_length", "order"}) {
    for (const Json& value : kNoSizes) {
      const std::string place = "/cases/1/" + key + (json.at("cases").at(1).at(key).is_array() ? "/0" : "");
      EXPECT_THAT(refusal(json, place, value, load_interleave_golden), HasSubstr(key + " must be a whole number"));
    }
  }
  EXPECT_THAT(refusal(json, "/cases/1/file_lengths", std::vector<int>(1001, 1), load_interleave_golden),
              HasSubstr("file_lengths has 1001 files"));
}

TEST_F(Golden, PreprocessRefusesPlacesOutsideOfTheImage) {
  const Json json = shipped("preprocess.json");
  const std::string place = "/images/" + json.at("images").begin().key() + "/area/row_col/0";
  for (const Json& value : kNoSizes) {
    EXPECT_THAT(refusal(json, place + "/1", value, load_preprocess_golden),
                HasSubstr("row_col must be a whole number"));
  }
  EXPECT_THAT(refusal(json, place + "/0", 224, load_preprocess_golden), HasSubstr("from 0 to 223"));
  EXPECT_THAT(refusal(json, place, {1, 2, 3}, load_preprocess_golden), HasSubstr("a list of pairs"));
}

TEST_F(Golden, EngineRefusesAbsurdNumbers) {
  const Json json = shipped("resnet50.json");
  const std::string gradient = "/gradients/" + json.at("gradients").begin().key();
  for (const std::string& place :
       {std::string("/image_size"), std::string("/batch"), gradient + "/shape/0", gradient + "/index/0"}) {
    const std::string key = place.ends_with("/0") ? Json::json_pointer(place).parent_pointer().back() : place.substr(1);
    for (const Json& value : kNoSizes) {
      EXPECT_THAT(refusal(json, place, value, load_engine_golden), HasSubstr(key + " must be a whole number"));
    }
  }
  EXPECT_THAT(refusal(json, gradient + "/shape", {1 << 26, 1 << 26, 1 << 26}, load_engine_golden),
              HasSubstr("shape has more than"));
}

TEST_F(Golden, EngineRefusesFewerLossesThanTheSelftestTakesSteps) {
  for (const std::string key : {"losses_adam", "losses_sgd_momentum"}) {
    EXPECT_THAT(refusal(shipped("resnet50.json"), "/" + key, {0.5}, load_engine_golden),
                HasSubstr(key + " must hold 2"));
  }
}

TEST_F(Golden, IsNoFolder) { EXPECT_THROW(load_engine_golden(testing::TempDir()), DataError); }

}  // namespace
}  // namespace chexbench::spec
