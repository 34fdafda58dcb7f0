#include "analysis/economics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/resolved.hpp"

namespace chexbench::analysis {
namespace {

// Returns the number of epochs after which `conversion_s` pays off, if the converted files give `ratio` times the
// images/s. `png_epoch_s` is the duration of an epoch over the image files. Returns std::nullopt if `ratio` is at
// most 1.
std::optional<double> break_even(double conversion_s, double png_epoch_s, double ratio) {
  const double saved_s = png_epoch_s * (1 - 1 / ratio);
  return saved_s > 0 ? std::optional(conversion_s / saved_s) : std::nullopt;
}

results::Finding conversion_finding(const results::TrialResult& files, const results::TrialResult& converted,
                                    const Economics& economics) {
  const std::string format = spec::to_string(converted.spec.data.format);
  const double epoch_s = static_cast<double>(files.data.images) / results::median_rate(files);
  results::Finding finding = payment("conversion", economics, epoch_s);
  finding.text = fmt::format(
      "{}: converting took {:.1f} s and {:.2f} GB for {} images, and {} saves {} of an epoch of "
      "{:.1f} s: {}.",
      results::marked(converted), economics.conversion_s, 1e-9 * static_cast<double>(economics.converted_bytes),
      files.data.images, format, saving_text(economics), epoch_s, epochs_text(economics));
  finding.emulated = converted.emulated;
  finding.trial = converted.name;
  return finding;
}

}  // namespace

results::Finding payment(const char* deed, const Economics& economics, double epoch_s) {
  const bool may_never_pay = !economics.epochs || (economics.least_epochs && !economics.most_epochs);
  results::Finding finding{.kind = "economics"};
  finding.headline =
      economics.epochs ? fmt::format("pays off its {} after {:.1f} epochs", deed, *economics.epochs)
                       : fmt::format("gains nothing from its {} in this run ({:.1f} s)", deed, economics.conversion_s);
  finding.reason = fmt::format("The {} took {:.1f} s and saves {} of an epoch of {:.1f} s: {}.", deed,
                               economics.conversion_s, saving_text(economics), epoch_s, epochs_text(economics));
  if (!may_never_pay) finding.worth_share = std::clamp(economics.saved_s / epoch_s, 0.0, 1.0);
  return finding;
}

std::string saving_text(const Economics& economics) {
  return economics.saved_s > 0 ? fmt::format("{:.2f} s", economics.saved_s) : "nothing";
}

std::string epochs_text(const Economics& economics) {
  if (!economics.epochs && !economics.least_epochs) return "it never pays";
  std::string text =
      economics.epochs ? fmt::format("it pays after {:.1f} epochs", *economics.epochs) : "it does not pay";
  if (economics.least_epochs) {
    text += economics.most_epochs
                ? fmt::format(" (95 % interval {:.1f} to {:.1f})", *economics.least_epochs, *economics.most_epochs)
                : fmt::format(" (95 % interval from {:.1f} to never)", *economics.least_epochs);
  }
  return text;
}

std::optional<Economics> conversion_economics(const results::TrialResult& files,
                                              const results::TrialResult& converted) {
  auto economics =
      pay_back(files, converted, {.seconds = converted.data.conversion_s, .images = converted.data.converted_images});
  if (economics) economics->converted_bytes = converted.data.converted_bytes;
  return economics;
}

std::optional<Economics> pay_back(const results::TrialResult& before, const results::TrialResult& after,
                                  const OneTimeCost& cost) {
  const auto ratio = results::paired_rates(after, before);
  if (!ratio || cost.images == 0 || results::median_rate(before) <= 0) return {};
  const auto images = static_cast<double>(before.data.images);
  const double epoch_s = images / results::median_rate(before);
  Economics economics{.conversion_s = cost.seconds * images / static_cast<double>(cost.images),
                      .saved_s = epoch_s * (1 - 1 / ratio->value)};
  economics.epochs = break_even(economics.conversion_s, epoch_s, ratio->value);
  if (ratio->ci95) {
    economics.least_epochs = break_even(economics.conversion_s, epoch_s, ratio->ci95->high);
    economics.most_epochs = break_even(economics.conversion_s, epoch_s, ratio->ci95->low);
  }
  return economics;
}

std::vector<results::Finding> economics_findings(const std::vector<const results::TrialResult*>& trials) {
  std::vector<results::Finding> findings;
  spec::Alike alike([](spec::TrialSpec& spec) { spec.data.format = spec::DataFormat::images; });
  for (const results::TrialResult* trial : trials) alike.add(trial->spec);
  for (const results::TrialResult* converted : trials) {
    for (const std::size_t index : alike.with(converted->spec)) {
      const results::TrialResult& files = *trials[index];
      if (&files == converted || files.spec.data.format != spec::DataFormat::images) continue;
      const auto economics = conversion_economics(files, *converted);
      if (economics) findings.push_back(conversion_finding(files, *converted, *economics));
    }
  }
  return findings;
}

}  // namespace chexbench::analysis
