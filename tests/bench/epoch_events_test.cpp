// Tests the files that trainings write for TensorBoard; tests/system/tensorboard_test.py has TensorBoard read them.
#include "bench/training/epoch_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/scratch.hpp"
#include "formats/tfrecord.hpp"
#include "formats/wire.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// The tags of each record of the only event file in a folder, after the first two, by step.
std::vector<std::pair<std::uint64_t, std::vector<std::string>>> tags_in(const std::string& folder) {
  std::vector<std::pair<std::uint64_t, std::vector<std::string>>> events;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    formats::TfRecordReader reader(storage::MappedFile::open(entry.path()));
    while (const auto record = reader.next()) {
      std::uint64_t step = 0;
      formats::WireReader event(record->data);
      while (const auto field = event.next()) {
        if (field->number == 2) step = field->value;
        if (field->number != 5) continue;
        events.push_back({step, {}});
        formats::WireReader summary(field->payload);
        while (const auto value = summary.next()) {
          events.back().second.emplace_back(formats::WireReader(value->payload).next()->text());
        }
      }
    }
  }
  return events;
}

TEST(EpochEvents, HaveTheCurvesOfEpochsAndOfStepsApart) {
  const ScratchFolder scratch;
  EpochEvents events({.folder = scratch / "run", .host = "node1"}, 2, 10);
  events.add_step(11, {.wall_s = 0.5, .wait_s = 0.1, .loss = 0.3, .images = 8}, 0.01, 2);
  results::EpochRecord epoch{.epoch = 3, .mean_auroc = 0.7};
  epoch.scores = {{.label = "Mass", .auroc = 0.7}, {.label = "Hernia"}};
  events.add_epoch(epoch, {.images_per_s = 100, .wait_share = 0.25});
  EXPECT_THAT(
      tags_in(scratch / "run"),
      ElementsAre(Pair(3, ElementsAre("loss/training", "loss/validation", "input/images_per_s", "input/wait_share",
                                      "learning_rate", "auroc/mean", "auroc_by_finding/Mass"))));
  EXPECT_THAT(tags_in(scratch / "run/steps"),
              ElementsAre(Pair(11, UnorderedElementsAre("step/loss", "step/learning_rate", "step/images_per_s",
                                                        "step/wait_share"))));
}

TEST(EpochEvents, ThatCannotBeWrittenAreToldOnce) {
  int told = 0;
  EpochEvents events({.folder = "/proc/nowhere", .host = "node1", .on_failure = [&](const OutputError&) { ++told; }}, 0,
                     0);
  events.add_step(1, {.wall_s = 1}, 0.01, 1);
  events.add_epoch({.epoch = 1}, {});
  EXPECT_EQ(told, 1);
}

TEST(EpochEvents, WithoutAFolderWriteNothing) {
  int told = 0;
  EpochEvents events({.on_failure = [&](const OutputError&) { ++told; }}, 0, 0);
  events.add_step(1, {.wall_s = 1}, 0.01, 1);
  events.add_epoch({.epoch = 1}, {});
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace chexbench::bench
