// The keys of the network and its training: model and training.
#include <utility>
#include <vector>

#include "spec/key_making.hpp"

namespace chexbench::spec {
namespace {

constexpr double kMostEpochs = 100'000;

bool has_epochs(const TrialSpec& trial) { return trial.training.epochs > 0; }

constexpr Condition kEngine{has_engine, "engine is not none"};
constexpr Condition kTrained{[](const TrialSpec& trial) { return has_engine(trial) && !is_emulated(trial); },
                             "engine is neither none nor emulated"};
constexpr Condition kCuda{[](const TrialSpec& trial) { return trial.engine == "cuda"; }, "engine is cuda"};
constexpr Condition kSgd{[](const TrialSpec& trial) { return trial.training.optimizer == OptimizerKind::sgd; },
                         "training.optimizer is sgd"};
constexpr Condition kEpochs{has_epochs, "training.epochs is above 0"};
constexpr Condition kPlateau{
    [](const TrialSpec& trial) { return has_epochs(trial) && trial.training.schedule == Schedule::plateau; },
    "training.schedule is plateau"};

}  // namespace

std::vector<KeyRule> model_keys() {
  constexpr auto model = &TrialSpec::model;
  return {
      key("model.name", model, &ModelSpec::name,
          "The network, like torchvision's, with an output for each label or class.")
          .one_of({"resnet50", "densenet121", "alexnet", "googlenet", "mobilenet_v2"})
          .has_effect_where(kEngine),
      key("model.image_size", model, &ModelSpec::image_size, "Height and width of the network's input, in pixels.")
          .at_least(32)
          .at_most(4096),
      key("model.weights", model, &ModelSpec::weights,
          "random, or the path of a safetensors file with torchvision's names, such as scripts/weights makes.")
          .is_path()
          .has_effect_where(kTrained),
      key("model.batch_norm", model, &ModelSpec::batch_norm,
          "Batch statistics (train), or fixed running statistics (frozen).")
          .has_effect_where(kTrained),
      key("model.freeze", model, &ModelSpec::freeze,
          "base: trains only the last layer, and batch norms use fixed running statistics.")
          .has_effect_where(kTrained),
      key("model.dropout", model, &ModelSpec::dropout,
          "Whether training drops units if the network does (alexnet, googlenet, mobilenet_v2).")
          .has_effect_where(kTrained),
      key("model.seed", model, &ModelSpec::seed, "Seed of random weights and of dropout.").has_effect_where(kTrained),
  };
}

std::vector<KeyRule> step_keys() {
  constexpr auto training = &TrialSpec::training;
  return {
      key("training.batch_size", training, &TrainingSpec::batch_size, "Images of one rank's batch.")
          .at_least(1)
          .at_most(65536),
      key("training.accumulate_steps", training, &TrainingSpec::accumulate_steps,
          "Batches of a rank whose gradients are averaged before one reduction and update; together, one step.")
          .at_least(1)
          .at_most(4096)
          .has_effect_where(kEngine),
      key("training.overlap_input", training, &TrainingSpec::overlap_input,
          "Whether the next batch is requested while the engine computes; if not, input and training overlap only with "
          "a prefetch.")
          .has_effect_where(kEngine),
      key("training.precision", training, &TrainingSpec::precision, "Precision of the arithmetic; weights are f32.")
          .has_effect_where(kEngine),
  };
}

std::vector<KeyRule> update_keys() {
  constexpr auto training = &TrialSpec::training;
  return {
      key("training.optimizer", training, &TrainingSpec::optimizer, "As in torch.optim.").has_effect_where(kTrained),
      key("training.learning_rate", training, &TrainingSpec::learning_rate, "Learning rate.")
          .at_most(1e15)
          .has_effect_where(kTrained),
      key("training.momentum", training, &TrainingSpec::momentum, "Momentum of SGD.")
          .at_most(1)
          .has_effect_where(kTrained)
          .only_where(kSgd),
      key("training.weight_decay", training, &TrainingSpec::weight_decay,
          "Of all parameters, including norms and biases, as in torch.optim: L2 with adam and sgd, decoupled with "
          "adamw (default in PyTorch: 0.01).")
          .at_most(1000)
          .has_effect_where(kTrained),
      key("training.clip_gradient_norm", training, &TrainingSpec::clip_gradient_norm,
          "Upper limit of the norm of all gradients together, as in clip_grad_norm_; null: no limit.")
          .above(0)
          .at_most(1e15)
          .has_effect_where(kTrained),
      key("training.ema_decay", training, &TrainingSpec::ema_decay,
          "Below 1: decay of an exponential moving average of the weights (PyTorch's get_ema_multi_avg_fn), which is "
          "validated and stored as the best; 0: none.")
          .at_most(1)
          .has_effect_where(kTrained),
      key("training.task", training, &TrainingSpec::task,
          "multi_label: any number of labels per image, each with a sigmoid; classes: exactly one, with softmax, "
          "scored by top-1 and top-5 instead of AUROC.")
          .has_effect_where(kTrained),
      key("training.label_smoothing", training, &TrainingSpec::label_smoothing,
          "Below 1: share of each target that is spread over 0 and 1 (multi_label, like Keras) or all classes "
          "(classes, like PyTorch).")
          .at_most(1)
          .has_effect_where(kTrained),
      key("training.class_weights", training, &TrainingSpec::class_weights,
          "Weight of each label or class in the loss: none, a number, a list, or balanced over the training images. "
          "PyTorch's pos_weight for multi_label (balanced: negatives / positives), its weight for classes (balanced: "
          "images / classes / images of the class).")
          .is_list(true)
          .has_effect_where(kTrained),
  };
}

std::vector<KeyRule> epoch_keys() {
  constexpr auto training = &TrialSpec::training;
  return {
      key("training.epochs", training, &TrainingSpec::epochs,
          "Passes over the training images, each followed by a validation; 0: measure.steps instead.")
          .at_most(kMostEpochs),
      key("training.schedule", training, &TrainingSpec::schedule,
          "Learning rate: constant, half a cosine down to 0, or lower after each plateau of the validation loss.")
          .only_where(kEpochs),
      key("training.warmup_epochs", training, &TrainingSpec::warmup_epochs,
          "Epochs in which the learning rate rises from 0.")
          .at_most(kMostEpochs)
          .only_where(kEpochs),
      key("training.scale_learning_rate", training, &TrainingSpec::scale_learning_rate,
          "Multiplies the learning rate by the number of ranks.")
          .only_where(kEpochs),
      key("training.plateau_patience", training, &TrainingSpec::plateau_patience,
          "Epochs without a better validation loss that count as a plateau.")
          .at_least(1)
          .only_where(kPlateau),
      key("training.plateau_factor", training, &TrainingSpec::plateau_factor,
          "Factor applied to the learning rate at a plateau.")
          .at_most(1)
          .only_where(kPlateau),
      key("training.stop_patience", training, &TrainingSpec::stop_patience,
          "Training stops after this many epochs without a better mean AUROC (or loss, if no label has an AUROC); 0: "
          "never.")
          .at_least(0)
          .at_most(kMostEpochs)
          .only_where(kEpochs),
      key("training.validation_share", training, &TrainingSpec::validation_share,
          "Share of the split's patients held out for validation, unless ImageNet has validation shards; 0: validates "
          "on the training images.")
          .at_least(0)
          .at_most(0.9)
          .only_where(kEpochs),
      key("training.checkpoint", training, &TrainingSpec::checkpoint,
          "Path of a checkpoint to continue from, on any number of ranks; empty: a new training.")
          .is_path()
          .only_where(kEpochs),
      key("training.target_auroc", training, &TrainingSpec::target_auroc,
          "Reports the time to this mean AUROC; null: none.")
          .above(0.5)
          .at_most(1)
          .only_where(kEpochs),
  };
}

std::vector<KeyRule> cuda_keys() {
  constexpr auto training = &TrialSpec::training;
  return {
      key("training.deterministic", training, &TrainingSpec::deterministic,
          "The same bits every time on the same device, with slower convolutions.")
          .only_where(kCuda),
      key("training.fused", training, &TrainingSpec::fused,
          "Fuses convolutions with neighboring ops where measured to be faster, and pools with the preceding norm.")
          .only_where(kCuda),
      key("training.tuning_s", training, &TrainingSpec::tuning_s,
          "Seconds for timing convolutions that are new to this GPU; then each takes the first plan that runs; null: "
          "no limit.")
          .above(0)
          .at_most(kLongestWaitS)
          .only_where(kCuda),
      key("training.cuda_graph", training, &TrainingSpec::cuda_graph,
          "Launches a step as one CUDA graph if communication allows it.")
          .only_where(kCuda),
      key("training.concurrent_weight_gradients", training, &TrainingSpec::concurrent_weight_gradients,
          "Computes weight gradients of convolutions on a second stream: more memory, and 1 to 2 % slower on an H200.")
          .only_where(kCuda),
  };
}

}  // namespace chexbench::spec
