#include "analysis/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "measure/statistics.hpp"
#include "results/labels.hpp"
#include "spec/resolved.hpp"

namespace chexbench::analysis {
namespace {

// Returns "42 s" or "12.0 min": rounded as in speech.
std::string duration(double seconds) {
  return seconds < 120 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.1f} min", seconds / 60);
}

// Returns "mean AUROC of 0.812 (95 % interval 0.801 to 0.823)", or "top-1 accuracy of ... and top-5 of 0.921".
std::string quality_text(const results::EpochRecord& epoch) {
  const Quality quality = quality_of(epoch).value_or(Quality{});
  std::string text = fmt::format("{} of {:.3f}", quality.name, quality.value);
  if (quality.ci95) text += fmt::format(" (95 % interval {:.3f} to {:.3f})", quality.ci95->low, quality.ci95->high);
  if (epoch.top5) text += fmt::format(" and top-5 of {:.3f}", *epoch.top5);
  return text;
}

std::string when_target(const results::TrialResult& trial) {
  const std::optional<double> target = trial.spec.training.target_auroc;
  if (!target) return "";
  const std::optional<double> seconds = time_to_auroc_s(trial);
  return seconds ? fmt::format("; {} took {}", *target, duration(*seconds))
                 : fmt::format("; {} was not reached", *target);
}

// Returns caveats for the figure: that the training ended early, that it refers to the training images, and the results
// of other repeats.
std::string caveats(const results::TrialResult& trial) {
  std::string text;
  const auto ends_early = [&](const results::RepeatResult& repeat) {
    return !repeat.epochs.empty() && std::ssize(repeat.epochs) < trial.spec.training.epochs;
  };
  const auto early = std::ranges::find_if(trial.repeats, ends_early);
  if (trial.spec.training.stop_patience > 0 && early != trial.repeats.end())
    text += fmt::format(" It ended after {} epochs because {} were not better.", early->epochs.size(),
                        trial.spec.training.stop_patience);
  if (trial.spec.training.validation_share == 0)
    text += " This was measured on the training images, because training.validation_share is 0.";
  if (const std::optional<AurocSpread> spread = auroc_spread(trial)) {
    text += fmt::format(
        " The best of {} repeats is repeat {} with {:.3f}; they lie from {:.3f} to {:.3f} (standard "
        "deviation {:.3f}).",
        spread->repeats, spread->best_repeat, spread->best, spread->worst, spread->best, spread->deviation);
  }
  return text;
}

std::string reached(const results::TrialResult& trial, const results::EpochRecord& epoch) {
  return fmt::format("{} reaches a {} after epoch {} of {}, in {}{}.{}", trial.name, quality_text(epoch), epoch.epoch,
                     trial.spec.training.epochs, duration(epoch.elapsed_s), when_target(trial), caveats(trial));
}

// Leaves out settings that should not affect learning: how images are read, the number of ranks, and how they
// communicate.
void leave_out_input_and_ranks(spec::TrialSpec& spec) {
  spec.pipeline = {};
  spec.data = {.split = spec.data.split, .color = spec::color_of(spec.data)};
  spec.ranks = 0;
  spec.cores_per_rank.reset();
  spec.comm = {};
}

// Finds trainings that should learn the same: no relevant setting differs, or only the number of ranks that share the
// images of a step.
class Alikes {
 public:
  // Returns the number, in the order of the calls, of the first training that should learn the same, which may be this
  // one.
  std::size_t first_like(const results::TrialResult& trial) {
    spec::TrialSpec same_batch = trial.spec;
    leave_out_input_and_ranks(same_batch);
    spec::TrialSpec same_step = same_batch;
    same_step.training.batch_size *= trial.ranks * same_step.training.accumulate_steps;
    same_step.training.accumulate_steps = 1;
    const std::size_t number = number_++;
    const std::size_t first = firsts_.try_emplace(std::move(same_batch), number).first->second;
    return std::min(first, firsts_of_steps_.try_emplace(std::move(same_step), number).first->second);
  }

 private:
  using Firsts = std::unordered_map<spec::TrialSpec, std::size_t, spec::TrialSpecHash>;
  Firsts firsts_, firsts_of_steps_;
  std::size_t number_ = 0;
};

// Both must have an interval.
bool intervals_overlap(const Quality& a, const Quality& b) {
  return a.ci95->low <= b.ci95->high && b.ci95->low <= a.ci95->high;
}

std::string compared(const results::TrialResult& trial, const Quality& a, const results::TrialResult& base,
                     const Quality& b) {
  const bool overlap = intervals_overlap(a, b);
  return fmt::format(
      "{} and {} {}: {} {:.3f} against {:.3f}, intervals {}.", trial.name, base.name,
      overlap ? "learn equally well within their intervals" : "do not learn equally well", a.name, a.value, b.value,
      overlap ? "overlap" : "do not overlap (they cover who validates; repeats cover the order of images)");
}

}  // namespace

std::optional<Quality> quality_of(const results::EpochRecord& epoch) {
  if (epoch.top1) return Quality{"top-1 accuracy", *epoch.top1, epoch.top1_ci95};
  if (epoch.mean_auroc) return Quality{"mean AUROC", *epoch.mean_auroc, epoch.mean_auroc_ci95};
  return std::nullopt;
}

const results::EpochRecord* best_epoch(const results::RepeatResult& repeat) {
  const results::EpochRecord* best = nullptr;
  for (const results::EpochRecord& epoch : repeat.epochs) {
    const std::optional<Quality> quality = quality_of(epoch);
    if (quality && (best == nullptr || quality->value > quality_of(*best)->value)) best = &epoch;
  }
  return best;
}

const results::EpochRecord* representative_epoch(const results::TrialResult& trial) {
  std::vector<const results::EpochRecord*> best;
  for (const results::RepeatResult& repeat : trial.repeats) {
    if (const results::EpochRecord* const epoch = best_epoch(repeat)) best.push_back(epoch);
  }
  if (best.empty()) return nullptr;
  std::ranges::stable_sort(best, {}, [](const results::EpochRecord* epoch) { return quality_of(*epoch)->value; });
  return best[(best.size() - 1) / 2];
}

std::optional<AurocSpread> auroc_spread(const results::TrialResult& trial) {
  std::vector<double> aurocs;
  AurocSpread spread;
  for (const results::RepeatResult& repeat : trial.repeats) {
    const results::EpochRecord* const epoch = best_epoch(repeat);
    if (epoch == nullptr || !epoch->mean_auroc) continue;
    if (aurocs.empty() || *epoch->mean_auroc > spread.best) {
      spread.best = *epoch->mean_auroc;
      spread.best_repeat = repeat.repeat;
    }
    aurocs.push_back(*epoch->mean_auroc);
  }
  if (aurocs.size() < 2) return std::nullopt;
  spread.repeats = static_cast<int>(aurocs.size());
  spread.worst = std::ranges::min(aurocs);
  spread.deviation = std::sqrt(measure::squared_deviations(aurocs) / static_cast<double>(aurocs.size() - 1));
  return spread;
}

std::optional<double> time_to_auroc_s(const results::TrialResult& trial) {
  const std::optional<double> target = trial.spec.training.target_auroc;
  std::vector<double> seconds;
  for (const results::RepeatResult& repeat : trial.repeats) {
    const auto reached = std::ranges::find_if(repeat.epochs, [&](const results::EpochRecord& epoch) {
      return target && epoch.mean_auroc && *epoch.mean_auroc >= *target;
    });
    if (reached == repeat.epochs.end()) return std::nullopt;
    seconds.push_back(reached->elapsed_s);
  }
  return seconds.empty() ? std::nullopt : std::optional(measure::median(seconds));
}

std::vector<results::Finding> learning_findings(const std::vector<const results::TrialResult*>& trials) {
  std::vector<results::Finding> findings;
  std::vector<std::pair<const results::TrialResult*, const results::EpochRecord*>> learned;
  for (const results::TrialResult* const trial : trials) {
    const results::EpochRecord* const epoch = representative_epoch(*trial);
    if (epoch == nullptr) continue;
    findings.push_back(
        {.kind = "accuracy",
         .text = reached(*trial, *epoch),
         .trial = trial->name,
         .headline = "reaches a " + quality_text(*epoch),
         .reason = fmt::format("That was after epoch {} of {}, in {}{}.{}", epoch->epoch, trial->spec.training.epochs,
                               duration(epoch->elapsed_s), when_target(*trial), caveats(*trial))});
    learned.emplace_back(trial, epoch);
  }
  Alikes alikes;
  for (auto arm = learned.begin(); arm != learned.end(); ++arm) {
    const auto base = learned.begin() + static_cast<std::ptrdiff_t>(alikes.first_like(*arm->first));
    if (base == arm) continue;
    const Quality quality = quality_of(*arm->second).value_or(Quality{});
    const Quality of_base = quality_of(*base->second).value_or(Quality{});
    if (!quality.ci95 || !of_base.ci95) continue;
    const bool alike = intervals_overlap(quality, of_base);
    findings.push_back(
        {.kind = "accuracy_ratio",
         .text = compared(*arm->first, quality, *base->first, of_base),
         .trial = arm->first->name,
         .headline = fmt::format(
             "learns {}: {} {:.3f} against {:.3f}", alike ? "equally well within the intervals" : "differently",
             quality.name == std::string_view("mean AUROC") ? "AUROC" : quality.name, quality.value, of_base.value),
         .reason =
             fmt::format("Its interval and that of {} {}.", base->first->name, alike ? "overlap" : "do not overlap"),
         .advice = alike ? "" : "Find out why before comparing how fast the two train.",
         .worth_share = alike ? 0.0 : 1.0});
  }
  return findings;
}

namespace {

constexpr std::array<std::string_view, kNihLabels> kFindings = {
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};

constexpr PublishedAurocs kPublished[] = {
    {.name = "CheXNet",
     .source = "Rajpurkar et al., arXiv:1711.05225",
     .images = "a random fifth of the patients",
     .mean = 0.841,
     .of = {0.8094, 0.9248, 0.8638, 0.7345, 0.8676, 0.7802, 0.7680, 0.8887, 0.7901, 0.8878, 0.9371, 0.8047, 0.8062,
            0.9164}},
    {.name = "zoogzog",
     .source = "zoogzog/chexnet, README.md, model m-25012018-123527, ten crops",
     .images = "a random fifth of the patients, that of arnoweng/CheXNet",
     .mean = 0.8508,
     .of = {0.8321, 0.9107, 0.8860, 0.7145, 0.8653, 0.8037, 0.7655, 0.8857, 0.8157, 0.9017, 0.9422, 0.8523, 0.7948,
            0.9416}},
};

}  // namespace

std::span<const PublishedAurocs> published_aurocs() { return kPublished; }

bool has_published_aurocs(const std::vector<std::string>& labels) { return std::ranges::equal(labels, kFindings); }

}  // namespace chexbench::analysis
