// A linear layer that the losses and optimizers of each engine train for 20 steps, like PyTorch in learning_golden.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <vector>

#include "engine/training_engine.hpp"
#include "learning_golden.hpp"

namespace chexbench::engine {

inline constexpr std::size_t kLearningImages = 8, kLearningInputs = 6, kLearningOutputs = 5;
inline constexpr std::size_t kLearningWeights = kLearningOutputs * (kLearningInputs + 1);

inline spec::TrainingSpec training_of(const LearningCase& learning) {
  spec::TrainingSpec training{.optimizer = learning.optimizer,
                              .learning_rate = 0.05,
                              .momentum = 0.9,
                              .weight_decay = learning.weight_decay,
                              .ema_decay = learning.ema,
                              .task = learning.classes ? spec::Task::classes : spec::Task::multi_label,
                              .label_smoothing = learning.smoothing};
  if (learning.clip > 0) training.clip_gradient_norm = learning.clip;
  return training;
}

inline LossRule rule_of(const LearningCase& learning) {
  return loss_rule(training_of(learning), learning.weighted ? kLearningClassWeights : std::vector<float>{});
}

// The layer's arithmetic in f32: logits = inputs x matrix^T + bias.
class LearningLayer {
 public:
  explicit LearningLayer(bool classes) {
    for (std::size_t i = 0; i < kLearningImages * kLearningInputs; ++i) inputs_.push_back(value(i, 1));
    for (std::size_t i = 0; i < kLearningWeights; ++i) weights.push_back(value(i, 2));
    for (std::size_t image = 0; image < kLearningImages; ++image) {
      for (std::size_t c = 0; c < kLearningOutputs; ++c) {
        const bool is_set =
            classes ? c == (image * 3 + 1) % kLearningOutputs : (image * kLearningOutputs + c) * 7 % 10 < 3;
        targets.push_back(is_set ? 1.0f : 0.0f);
      }
    }
  }

  std::vector<float> logits() const {
    std::vector<float> logits;
    for (std::size_t image = 0; image < kLearningImages; ++image) {
      for (std::size_t c = 0; c < kLearningOutputs; ++c) {
        float sum = weights[kBias + c];
        for (std::size_t i = 0; i < kLearningInputs; ++i) sum += weights[c * kLearningInputs + i] * input(image, i);
        logits.push_back(sum);
      }
    }
    return logits;
  }

  // Returns the gradient of all weights for that of the logits.
  std::vector<float> gradient(const std::vector<float>& of_logits) const {
    std::vector<float> gradient(kLearningWeights);
    for (std::size_t image = 0; image < kLearningImages; ++image) {
      for (std::size_t c = 0; c < kLearningOutputs; ++c) {
        const float slope = of_logits[image * kLearningOutputs + c];
        for (std::size_t i = 0; i < kLearningInputs; ++i) gradient[c * kLearningInputs + i] += slope * input(image, i);
        gradient[kBias + c] += slope;
      }
    }
    return gradient;
  }

  std::vector<float> weights;  // [outputs][inputs], then the bias
  std::vector<float> targets;  // [images][outputs]

 private:
  static constexpr std::size_t kBias = kLearningOutputs * kLearningInputs;
  static float value(std::size_t i, std::size_t salt) {
    return static_cast<float>(static_cast<double>((i * 37 + salt * 11) % 101) / 50 - 1);
  }
  float input(std::size_t image, std::size_t i) const { return inputs_[image * kLearningInputs + i]; }

  std::vector<float> inputs_;
};

inline void expect_near_all(const std::vector<float>& ours, const std::vector<double>& theirs, const char* what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  for (std::size_t i = 0; i < ours.size(); ++i)
    ASSERT_NEAR(static_cast<double>(ours[i]), theirs[i], 1e-5) << what << ' ' << i;
}

inline void PrintTo(const LearningCase& learning, std::ostream* out) {
  constexpr const char* kWords[] = {"adam", "adamw", "sgd"};
  *out << kWords[static_cast<int>(learning.optimizer)] << (learning.classes ? " classes" : " multi_label") << " decay "
       << learning.weight_decay << " clip " << learning.clip << " ema " << learning.ema << " smoothing "
       << learning.smoothing << (learning.weighted ? " weighted" : "");
}

}  // namespace chexbench::engine
