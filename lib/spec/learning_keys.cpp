#include "spec/learning_keys.hpp"

#include "spec/key_conditions.hpp"
#include "spec/key_making.hpp"

namespace chexbench::spec {
namespace {

KeyRule class_weights_key() {
  KeyRule rule = trained_only(key("training.class_weights", &TrialSpec::training, &TrainingSpec::class_weights,
                                  "What each label or class counts in the loss: none (all alike), balanced (by how "
                                  "many of the images that train have it), or numbers, one for all or one for each; "
                                  "of multi_label, they are PyTorch's pos_weight."));
  rule.values.names = rule.values.numbers = true;
  return rule;
}

}  // namespace

void add_learning_keys(std::vector<KeyRule>& rules) {
  constexpr auto training = &TrialSpec::training;
  rules.push_back(at_most(
      1000, trained_only(key("training.weight_decay", training, &TrainingSpec::weight_decay,
                             "Of all parameters: L2 with adam and sgd, decoupled with adamw, as in torch.optim."))));
  rules.push_back(at_most(
      1e15, above(0, trained_only(key("training.clip_gradient_norm", training, &TrainingSpec::clip_gradient_norm,
                                      "The most that the norm of all gradients together may be, after they "
                                      "were averaged over the ranks; null: no limit.")))));
  rules.push_back(
      at_most(1, trained_only(key("training.ema_decay", training, &TrainingSpec::ema_decay,
                                  "Below 1: an exponential moving average of the weights, which is what validates "
                                  "and what best.safetensors holds; 0: none."))));
  rules.push_back(trained_only(key("training.task", training, &TrainingSpec::task,
                                   "multi_label: an image has any number of labels (sigmoid); classes: exactly one "
                                   "(softmax cross-entropy, top-1 and top-5).")));
  rules.push_back(
      at_most(1, trained_only(key("training.label_smoothing", training, &TrainingSpec::label_smoothing,
                                  "Below 1: share of each target that is spread evenly over what it could be."))));
  rules.push_back(class_weights_key());
}

}  // namespace chexbench::spec
