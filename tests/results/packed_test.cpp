#include "results/packed.hpp"

#include <gtest/gtest.h>

#include "results/read.hpp"
#include "results/record_factory.hpp"

namespace chexbench::results {
namespace {

// A repeat with a record of each kind and an empty value of each kind.
RepeatResult full_repeat() {
  RepeatResult repeat = make_repeat(3, 2, 100);
  repeat.second_job.images_per_s = 12.5;
  repeat.gpus = {{.rank = 1, .name = "a GPU", .samples = {{.time_s = 1000.2}, {.time_s = 1000.21, .power_w = 300.5}}}};
  repeat.gpus[0].samples[1].throttle_reasons = std::vector<std::string>{"sw_power_cap", "hw_slowdown"};
  repeat.epochs = {{.epoch = 1, .training_loss = 0.7, .mean_auroc_ci95 = measure::Interval{0.5, 0.75}}};
  repeat.epochs[0].scores = {{.label = "Mass", .auroc = 0.625}, {.label = "Hernia"}};
  repeat.epochs[0].curves = {{.label = "Mass", .roc = {}}};
  repeat.epochs[0].curves[0].roc[7] = {.value = 0.5, .ci95 = measure::Interval{0.25, 0.75}};
  repeat.epochs[0].curves[0].reliability[2].images = 9;
  repeat.tunings = {{.op_index = 1, .op = "map", .value = 4, .points = {{.value = 4, .images_per_s = 100}}}};
  return repeat;
}

TEST(Packed, GivesBackEveryFieldOfARepeat) {
  const RepeatResult sent = full_repeat();
  const auto got = unpacked<RepeatResult>(packed(sent));
  EXPECT_EQ(to_journal_line({.key = "", .repeat = got}), to_journal_line({.key = "", .repeat = sent}));
}

TEST(Packed, KeepsWhatJsonWouldNot) {
  const std::vector<HostState> sent{
      {.host = "a\nb\xff"},
      {.load_before = std::numeric_limits<double>::infinity(),
       .nics = {{"eth1", "Ethernet", "", std::nullopt}},
       .striping = {{.system = "Lustre", .stripes = {{.targets = 4, .chunk_bytes = 1024}}, .problem = "none"}}}};
  const auto got = unpacked<std::vector<HostState>>(packed(sent));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].host, sent[0].host);
  EXPECT_EQ(got[1].load_before, sent[1].load_before);
  EXPECT_EQ(measure::to_string(got[1].nics), measure::to_string(sent[1].nics));
  EXPECT_EQ(measure::stripes_text(got[1].striping.at(0)), measure::stripes_text(sent[1].striping[0]));
  EXPECT_EQ(got[1].striping[0].problem, "none");
}

TEST(Packed, RefusesBytesOfAnotherBuild) {
  const std::string sent = packed(full_repeat());
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, sent.size() / 2, sent.size() - 1})
    EXPECT_THROW(unpacked<RepeatResult>(std::string_view(sent).substr(0, size)), DeviceError) << size;
  EXPECT_THROW(unpacked<RepeatResult>(sent + "x"), DeviceError);
  EXPECT_THROW(unpacked<std::vector<HostState>>("node2 0 1 | 2"), DeviceError)
      << "a text, whose first bytes are a size";
}

TEST(Packed, TellsNothingFromAnEmptyValue) {
  EXPECT_FALSE(unpacked<std::optional<std::string>>(packed(std::optional<std::string>{})));
  EXPECT_EQ(unpacked<std::optional<std::string>>(packed(std::optional<std::string>{""})), "");
}

}  // namespace
}  // namespace chexbench::results
