// One suite over all named pipelines and both formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/harness.hpp"
#include "spec/presets.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;

class EveryPipeline : public testing::TestWithParam<std::tuple<std::string, DataFormat>> {
 protected:
  spec::PipelineSpec pipeline(int epochs) const { return finite_preset(std::get<0>(GetParam()), epochs); }
  const data::Dataset& dataset() const { return xrays(std::get<1>(GetParam())); }
};

TEST_P(EveryPipeline, DeliversTheTensorsOfTheDecoderOncePerEpoch) {
  const Setting setting{.deliver = Deliver::f32};
  std::vector<Delivered> expected = reference(setting, 0);
  std::ranges::copy(reference(setting, 1), std::back_inserter(expected));
  EXPECT_EQ(sorted(run(dataset(), pipeline(2), setting)), expected);
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPipeline,
                         testing::Combine(testing::ValuesIn(spec::preset_names().begin(), spec::preset_names().end()),
                                          testing::Values(DataFormat::png, DataFormat::tfrecord)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + spec::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace chexbench::pipeline::test
