#include "bench/training/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "results/read.hpp"

namespace chexbench::bench {
namespace {

using Texts = std::map<std::string, std::string>;

// The files of a training after two epochs, the second no better than the first.
Texts written() {
  results::RepeatResult repeat;
  repeat.epochs.resize(2);
  return {{"trial", "training"},
          {"updates", "24"},
          {"best_loss", "0x1p-1"},
          {"epochs_without_better", "1"},
          {"rate_factor", "0x1p+0"},
          {"best_score", "-inf"},
          {"epochs", results::to_journal_line({.key = "training", .repeat = repeat})}};
}

// The bytes of a file that has these texts and no tensors: a length of 8 bytes, and a header.
std::string bytes_of(const Texts& texts) {
  const std::string header = nlohmann::json{{"__metadata__", texts}}.dump();
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
  return bytes + header;
}

TrainingState read(const Texts& texts) {
  const std::string bytes = bytes_of(texts);
  return training_state(spec::Safetensors(std::as_bytes(std::span(bytes)), "checkpoint: last"), "last");
}

std::string refusal(const std::string& key, const std::string& text) {
  Texts texts = written();
  texts.at(key) = text;
  try {
    read(texts);
  } catch (const DataError& error) {
    return error.what();
  }
  return "it was accepted";
}

TEST(Checkpoint, GivesWhatItsTrainingWrote) {
  const TrainingState state = read(written());
  EXPECT_EQ(state.updates, 24);
  EXPECT_EQ(state.rate.best_loss, 0.5);
  EXPECT_EQ(state.rate.epochs_without_better, 1);
  EXPECT_EQ(state.epochs.size(), 2u);
  EXPECT_EQ(state.cores_per_rank, 0) << "as in checkpoints of old versions";
}

TEST(Checkpoint, OfANewerChexbenchIsRefusedAsSuch) {
  Texts texts = written();
  texts["from_a_newer_one"] = "1";  // a key alone is ignored
  texts["schema_version"] = "1";
  EXPECT_EQ(read(texts).updates, 24);
  texts["schema_version"] = "2";
  try {
    read(texts);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("last: it was written by a newer chexbench"));
  }
}

TEST(Checkpoint, KnowsOnHowManyCoresItWasTrained) {
  Texts texts = written();
  texts["cores_per_rank"] = "2";
  EXPECT_EQ(read(texts).cores_per_rank, 2);
  texts["cores_per_rank"] = "two";
  EXPECT_THROW(read(texts), DataError);
}

TEST(Checkpoint, NamesTheLabelsOfItsOutputs) {
  const auto labels_of = [](const std::string& text) {
    Texts texts = written();
    texts["network"] = "resnet50";
    texts["labels"] = text;
    const std::string bytes = bytes_of(texts);
    return trained_network(spec::Safetensors(std::as_bytes(std::span(bytes)), "checkpoint: last"), "last").labels;
  };
  EXPECT_EQ(labels_of(R"(["n01", "a \"quoted\" one"])"), (std::vector<std::string>{"n01", "a \"quoted\" one"}));
  for (const char* text : {"n01", "{}", R"(["n01", 2])", "["}) EXPECT_THROW(labels_of(text), DataError) << text;
}

TEST(Checkpoint, IsRefusedWhereNoTrainingReachesItsNumbers) {
  for (const char* updates : {"-1", "1099511627777", "9223372036854775807"}) {
    EXPECT_THAT(refusal("updates", updates), testing::HasSubstr(std::string("it counts ") + updates + " updates"));
  }
  for (const char* epochs : {"-1", "3", "2147483647"}) {
    EXPECT_THAT(refusal("epochs_without_better", epochs), testing::HasSubstr(std::string(epochs) + " of its 2 epochs"));
  }
  for (const char* factor : {"0x0p+0", "-0x1p+0", "0x1.8p+0", "inf", "nan"}) {
    EXPECT_THAT(refusal("rate_factor", factor), testing::HasSubstr("a learning rate times"));
  }
  EXPECT_THAT(refusal("best_loss", "nan"), testing::HasSubstr("is not a number"));
  EXPECT_THAT(refusal("best_score", "nan"), testing::HasSubstr("is not a number"));
}

}  // namespace
}  // namespace chexbench::bench
