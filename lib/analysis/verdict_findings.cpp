#include <fmt/format.h>

#include <optional>
#include <utility>

#include "analysis/commands.hpp"
#include "analysis/epoch_waits.hpp"
#include "analysis/findings.hpp"
#include "analysis/grade.hpp"
#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "core/text.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

using results::LimitedBy;

constexpr const char* kTryEdits = "Try what makes its input faster: advise measures one edit after the other.";
constexpr const char* kMeasureAgain = "Measure again when the machine is free.";
constexpr double kWantedBuffers = 10;  // images per rank that represent a large set, in shuffle buffers

// Returns "map (decode) 18 %, map (resize) 6 %, shuffle 2 %": the ops that make up at least a tenth of the wait.
std::string awaited(const results::Figures& figures) {
  std::string text;
  for (const results::WaitShare& wait : figures.waits) {
    if (wait.share < 0.1 * *figures.wait_share) continue;
    const std::string name = wait.part.empty() ? wait.op : fmt::format("{} ({})", wait.op, wait.part);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, whole_percent(wait.share));
  }
  return text;
}

// Returns "the 2 cores of a rank are full (97 % busy)", or how long threads waited for cores used by others, or for a
// CPU limit.
std::string missing_cores(const results::TrialResult& trial, const results::Figures& figures) {
  if (std::string limit = limit_text(trial); !limit.empty()) return limit;
  if (figures.cores_busy_share.value_or(0) < kFullCores)
    return fmt::format("its threads are ready without a free core for {} of it",
                       whole_percent(*figures.cpu_wait_share));
  return trial.cores_per_rank == 1
             ? fmt::format("the one core of a rank is full ({} busy)", whole_percent(*figures.cores_busy_share))
             : fmt::format("the {} cores of a rank are full ({} busy)", trial.cores_per_rank,
                           whole_percent(*figures.cores_busy_share));
}

std::string starved(const results::TrialResult& trial, const results::Figures& figures, const std::string& name) {
  std::string why = wait_cause(trial, figures);
  if (!why.empty()) why = (cores_are_missing(figures) ? ", because " : ", because of ") + why;
  return starved_sentence({.name = name,
                           .wait_share = *figures.wait_share,
                           .images_per_s = *figures.images_per_s,
                           .images_per_s_without_wait = results::typical_rate(trial) / (1 - *figures.wait_share),
                           .why = why});
}

std::string slow(const Limit& limit, const results::Figures& figures, const std::string& name) {
  return fmt::format("{}: rank {} takes {:.2f} x the time of the others for its own part of a step; {} images/s.", name,
                     limit.rank, limit.rank_factor, rate(*figures.images_per_s));
}

std::string bound(const results::TrialResult& trial, const results::Figures& figures, const std::string& name,
                  const char* what, double share) {
  return fmt::format("{} is held back by {}: {} of the time; {} images/s, of at most {} without it.", name, what,
                     whole_percent(share), rate(*figures.images_per_s),
                     rate(results::typical_rate(trial) / (1 - share)));
}

std::string fed(const results::Figures& figures, const std::string& name) {
  return fed_sentence({.name = name,
                       .wait_share = *figures.wait_share,
                       .images_per_s = *figures.images_per_s,
                       .busy_share = figures.busy_share.value_or(0)});
}

std::string busy_machine(const results::TrialResult& trial, const Limit& limit, const results::Figures& figures,
                         const std::string& name) {
  return fmt::format("The machine was too busy to say what limits {}: {}. It {} for {} of the time; {} images/s.", name,
                     disturbance_text(trial), limit.suspected, whole_percent(limit.suspected_share),
                     rate(*figures.images_per_s));
}

std::string too_few(const results::TrialResult& trial, const results::Figures& figures, const std::string& name) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits || figures.buffer_fed) {
    return fmt::format(
        "Too few steps to say whether the input of {} keeps up, because they drained buffers "
        "filled earlier: raise measure.steps.",
        name);
  }
  return fmt::format(
      "Too few images to say whether the input of {} keeps up: it shuffles {:.0f} of a rank's {:.0f} "
      "images, so that it either fills its buffer or drains it, and it waits for {} of the time. {:.0f} "
      "images a rank, or a smaller shuffle, would tell.",
      name, waits->shuffled_images, waits->images, whole_percent(*figures.wait_share),
      kWantedBuffers * waits->shuffled_images);
}

// Returns a sentence if the starts of epochs matter and the steps between them are known.
std::optional<std::string> epoch_starts(const results::TrialResult& trial, const results::Figures& figures,
                                        const std::string& name) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits || !matters(*waits) || !waits->steady_wait_share) return {};
  return fmt::format(
      "{} waits for {} of the time, {} of it at the starts of epochs ({} of {} steps), where its shuffle "
      "fills again; between them it waits for {:.1f} %. A set of {} images has such a start far less "
      "often than these {}, and would give about {} images/s.",
      name, whole_percent(*figures.wait_share), whole_percent(waits->start_share), waits->starts, waits->steps,
      100 * *waits->steady_wait_share, kWholeSetImages, trial.data.images,
      rate(images_per_s_over(trial, *waits, static_cast<double>(kWholeSetImages))));
}

// Makes the findings about what limits one trial.
class Verdict {
 public:
  Verdict(const results::TrialResult& trial, const results::Figures& figures)
      : trial_(trial), figures_(figures), limit_(find_limit(trial, figures)), name_(results::marked(trial)) {}

  std::vector<results::Finding> findings() {
    switch (limit_.by) {
      case LimitedBy::slow_rank:
        add_slow_rank();
        if (spec::has_engine(trial_.spec) && limit_.wait_share >= kStarvedShare) add_starvation();
        break;
      case LimitedBy::cpu:
      case LimitedBy::input:
        add_starvation();
        if (limit_.rank >= 0) add_slow_rank();
        break;
      case LimitedBy::machine:
        add_busy_machine();
        break;
      case LimitedBy::sample:
        add_small_sample();
        break;
      case LimitedBy::communication:
        add_communication();
        break;
      case LimitedBy::upload:
        add_upload();
        break;
      case LimitedBy::compute:
        if (*figures_.wait_share <= results::kFedShare) add_fed();
        break;
      case LimitedBy::nothing:
        break;
    }
    add_epoch_starts();
    return std::move(findings_);
  }

 private:
  void add(const char* kind, std::string text, FindingParts parts, results::Grade grade = results::Grade::told_apart) {
    findings_.push_back(finding_about(trial_, kind, std::move(text), std::move(parts), grade));
  }

  void add_starvation() {
    const bool of_cores = cores_are_missing(figures_);
    const std::string cause = wait_cause(trial_, figures_);
    add(of_cores ? "cpu_starved" : "starved", starved(trial_, figures_, name_),
        {.headline = fmt::format("starves its accelerator {} of the time", whole_percent(*figures_.wait_share)),
         .reason = of_cores || cause.empty() ? sentence_of(cause) : fmt::format("It waits for {}.", cause),
         .advice = kTryEdits,
         .command = advise_command(trial_),
         .worth_share = *figures_.wait_share});
  }

  void add_slow_rank() {
    const bool averages = spec::has_engine(trial_.spec) && trial_.spec.comm.model != spec::CommModel::none;
    add("slow_rank", slow(limit_, figures_, name_),
        {.headline = fmt::format("{} rank {}, which takes {:.2f} x the others' time",
                                 averages ? "waits for" : "is as fast as", limit_.rank, limit_.rank_factor),
         .reason = averages ? "Averaging gradients makes all ranks wait for the slowest."
                            : "No rank waits for another one, but images/s count until the slowest is done.",
         .advice =
             fmt::format("See what holds rank {} up: doctor warns of cores, hosts and GPUs that do.", limit_.rank),
         .command = fmt::format("mpirun -np {} chexbench doctor", trial_.ranks),
         .worth_share = 1 - 1 / limit_.rank_factor});
  }

  void add_busy_machine() {
    add("busy_machine", busy_machine(trial_, limit_, figures_, name_),
        {.headline = fmt::format("cannot be judged: other processes used up to {} of cores",
                                 whole_percent(most_disturbed_share(trial_))),
         .reason = fmt::format("It {} for {} of the time, which may be their doing.", limit_.suspected,
                               whole_percent(limit_.suspected_share)),
         .advice = kMeasureAgain,
         .command = run_again(trial_),
         .worth_share = limit_.suspected_share},
        results::Grade::machine_too_busy);
  }

  void add_small_sample() {
    FindingParts parts{.worth_share = *figures_.wait_share};
    const std::optional<EpochWaits> waits = epoch_waits(trial_);
    if (!waits || figures_.buffer_fed) {
      const std::size_t steps = results::measured_steps(trial_);
      parts.headline = fmt::format("measured too few steps ({}) to judge its input", steps);
      parts.reason = "They drained buffers filled earlier.";
      parts.advice = "Measure more steps.";
      parts.command = run_again(trial_, more_steps(trial_));
    } else {
      parts.headline = fmt::format("has too few images ({:.0f} a rank) to judge its input", waits->images);
      parts.reason = fmt::format("It shuffles {:.0f} of them, so that it either fills its buffer or drains it.",
                                 waits->shuffled_images);
      parts.advice =
          fmt::format("Measure {:.0f} images a rank, or shuffle fewer.", kWantedBuffers * waits->shuffled_images);
    }
    add("sample_too_small", too_few(trial_, figures_, name_), std::move(parts), results::Grade::sample_too_small);
  }

  void add_communication() {
    const double share = *figures_.exposed_communication_share;
    add("communication", bound(trial_, figures_, name_, "communication that backward does not hide", share),
        {.headline = fmt::format("loses {} of the time to communication", whole_percent(share)),
         .reason = fmt::format("Backward does not hide it; without it, {} images/s at most.", rate_without(share)),
         .advice = "Compare update schemes (comm.update), or average less often (training.accumulate_steps).",
         .command = "",
         .worth_share = share});
  }

  void add_upload() {
    const double share = *figures_.upload_share;
    const bool of_floats = trial_.spec.data.deliver == Deliver::f32;
    add("upload", bound(trial_, figures_, name_, "uploads", share),
        {.headline = fmt::format("loses {} of the time to uploads", whole_percent(share)),
         .reason =
             fmt::format("Batches are copied to the device; without it, {} images/s at most.", rate_without(share)),
         .advice =
             of_floats
                 ? "Upload bytes instead of floats: one channel of u8 is a twelfth of three of f32 (in rgb a quarter)."
                 : "",
         .command = of_floats ? run_again(trial_, "data.deliver=u8") : "",
         .worth_share = share});
  }

  void add_fed() {
    add("fed", fed(figures_, name_),
        {.headline = fmt::format("keeps its accelerator fed: waits {:.1f} % of the time", 100 * *figures_.wait_share),
         .reason = figures_.busy_share
                       ? fmt::format("The accelerator is busy {} of the time.", whole_percent(*figures_.busy_share))
                       : "",
         .advice = "",
         .command = "",
         .worth_share = 0});
  }

  void add_epoch_starts() {
    auto text = epoch_starts(trial_, figures_, name_);
    if (!text) return;
    const double share = epoch_waits(trial_)->start_share;
    add("epoch_starts", std::move(*text),
        {.headline = fmt::format("waits {} of the time at the starts of epochs", whole_percent(share)),
         .reason = "Its shuffle fills again there, which a large data set has far less often.",
         .advice = "Judge a large data set by the steps between the starts, or measure more images.",
         .command = "",
         .worth_share = share});
  }

  std::string rate_without(double share) const { return rate(results::typical_rate(trial_) / (1 - share)); }

  const results::TrialResult& trial_;
  const results::Figures& figures_;
  const Limit limit_;
  const std::string name_;
  std::vector<results::Finding> findings_;
};

}  // namespace

std::string wait_cause(const results::TrialResult& trial, const results::Figures& figures) {
  std::string ops = awaited(figures);
  if (!cores_are_missing(figures)) return ops;
  return missing_cores(trial, figures) + (ops.empty() ? "" : ": " + ops);
}

std::vector<results::Finding> verdicts(const results::TrialResult& trial, const results::Figures& figures) {
  return Verdict(trial, figures).findings();
}

}  // namespace chexbench::analysis
