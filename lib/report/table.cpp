#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "analysis/answer.hpp"
#include "analysis/commands.hpp"
#include "analysis/verdict.hpp"
#include "core/printable.hpp"
#include "report/result_tables.hpp"
#include "report/text_table.hpp"
#include "results/labels.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDoubt = "\x1b[33m";  // yellow
constexpr const char* kPlain = "\x1b[0m";
constexpr std::size_t kIndent = 3;
constexpr std::size_t kFewestHeadlines = 1;

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

// Returns a sentence that may contain names, made safe for a terminal.
std::string shown(const std::string& sentence) { return printable(sentence, sentence.max_size()); }

// Prints the parts of a result into a text.
class Printer {
 public:
  Printer(const analysis::Evaluation& evaluation, const TableOptions& options)
      : evaluation_(evaluation), options_(options), tables_(result_tables(evaluation)) {}

  std::string print() {
    const bool brief = options_.brief && !report_.trials.empty();
    const analysis::Answer answer = analysis::derive_answer(evaluation_);
    print_answer(answer, brief ? std::min<std::size_t>(1, answer.lines.size()) : answer.lines.size());
    if (!brief) print_lines(tables_.title);
    if (report_.trials.empty()) return text_ + "no trial was measured\n";
    if (brief) {
      print_table(tables_.summary);
    } else {
      print_figures();
      print_lines(tables_.notes);
    }
    const bool only_trials =
        tables_.ablations.empty() && tables_.learning.rows.empty() && tables_.two_jobs.rows.empty();
    if (!brief || !only_trials) text_ += '\n';
    for (const AblationTable& ablation : tables_.ablations) {
      print_caption(fmt::format("Step by step over {}; {}:", printable(ablation.over), kAblationCaption));
      print_table(ablation.steps);
      text_ += '\n';
    }
    if (!tables_.learning.rows.empty()) {
      print_learning(brief);
    }
    if (!tables_.two_jobs.rows.empty()) {
      print_caption(kTwoJobsCaption);
      print_table(tables_.two_jobs);
      text_ += '\n';
    }
    if (brief) {
      const std::string next = next_text(answer);
      print_headlines(answer, next);
      text_ += next;
    } else {
      print_times();
      print_findings();
    }
    return std::move(text_);
  }

 private:
  std::string styled(const std::string& text, const char* style) const {
    return options_.colour && !text.empty() ? style + text + kPlain : text;
  }

  std::string command(const std::string& command) const {
    return shown(analysis::with_folder(options_.folder, command));
  }

  void print_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text_ += wrapped(shown(line), options_.width, kIndent) + '\n';
  }

  void print_caption(const std::string& caption) { text_ += styled(wrapped(caption, options_.width, 0), kBold) + '\n'; }

  void print_answer(const analysis::Answer& answer, std::size_t most) {
    for (const std::string& line : std::span(answer.lines).first(most)) {
      const bool is_command = &line == &answer.lines.back() && line == answer.command;
      std::string text =
          is_command ? std::string(kIndent, ' ') + command(line) : wrapped(shown(line), options_.width, kIndent);
      text_ += (&line == &answer.lines.front() ? styled(text, kBold) : text) + '\n';
    }
    text_ += '\n';
  }

  void print_table(const TextTable& table) { text_ += fitted_text(table, options_.width, "--format csv"); }

  void print_learning(bool brief) {
    TextTable learning = tables_.learning;
    if (brief) {
      for (const std::size_t column : learning.expendable)
        for (auto& row : learning.rows) row[column].clear();
    }
    print_caption(brief ? "What was learned, on validation images, at the best epoch:" : kLearningCaption);
    print_table(learning);
    if (!brief) text_ += '\n';
  }

  void print_figures() {
    TextTable figures = tables_.figures;
    const std::vector<std::string> shared = take_shared_columns(figures);
    if (!shared.empty()) print_lines({fmt::format("in all rows: {}", fmt::join(shared, ", "))});
    text_ += '\n';
    print_table(figures);
  }

  void print_times() {
    TextTable times = tables_.times;
    const std::vector<std::string> shared = take_shared_columns(times);
    const bool any_trains = std::ranges::any_of(report_.trials, spec::has_engine, &results::TrialResult::spec);
    print_caption(any_trains ? kTimesCaption : "What a step took, and waited for most:");
    if (!shared.empty()) print_lines({fmt::format("in all rows: {}", fmt::join(shared, ", "))});
    print_table(times);
  }

  // Returns "naive images (emulated) starves its accelerator 38 % of the time", or the whole text for reports of old
  // versions.
  std::string headline(const results::Finding& finding) const {
    if (finding.headline.empty()) return finding.text;
    const auto trial = std::ranges::find(report_.trials, finding.trial, &results::TrialResult::name);
    const std::string name =
        trial == report_.trials.end() ? results::marked(finding.trial, finding.emulated) : results::marked(*trial);
    return finding.trial.empty() ? finding.headline : fmt::format("{} {}", name, finding.headline);
  }

  std::string headline_text(const results::Finding& finding) const {
    const bool is_sure = finding.grade == results::Grade::told_apart;
    const std::string grade = is_sure ? "" : fmt::format(" [{}]", results::to_string(finding.grade));
    const std::string first = wrapped(shown("- " + headline(finding) + grade), options_.width, kIndent);
    return styled(first, is_sure ? kBold : kDoubt) + '\n';
  }

  void print_finding(const results::Finding& finding) {
    text_ += headline_text(finding);
    std::vector<std::string> sentences;
    for (const std::string& sentence : {finding.reason, finding.advice}) {
      if (!sentence.empty()) sentences.push_back(sentence);
    }
    const std::string blanks(kIndent, ' ');
    if (!sentences.empty())
      text_ += wrapped(blanks + shown(fmt::format("{}", fmt::join(sentences, " "))), options_.width, kIndent) + '\n';
    if (!finding.command.empty()) text_ += blanks + command(finding.command) + '\n';
  }

  void print_headlines(const analysis::Answer& answer, const std::string& next) {
    std::vector<const results::Finding*> findings = analysis::by_worth(report_.findings);
    std::erase_if(findings, [&](const results::Finding* finding) {  // what the answer's first line says
      return finding->kind.ends_with("_ratio") && finding->trial == answer.trial && answer.ratio &&
             finding->headline.find(times(answer.ratio->value)) != std::string::npos;
    });
    findings.resize(std::min(options_.findings.value_or(findings.size()), findings.size()));
    std::size_t lines = lines_in(text_) + lines_in(next), told = 0;
    for (const results::Finding* finding : findings) {
      const std::string text = headline_text(*finding);
      lines += lines_in(text);
      if (!options_.whole_findings && told >= kFewestHeadlines && lines > kBriefLines) return;
      text_ += text;
      ++told;
    }
  }

  std::string next_text(const analysis::Answer& answer) const {
    std::string text;
    if (report_.interrupted) text += "The run ended early: these are the measurements up to then.\n";
    const std::string next = answer.command.empty() ? answer.advice : command(answer.command);
    const std::string details = command("chexbench report DIR --explain");
    for (const auto& [name, line] : {std::pair("next", next), std::pair("details", details)})
      if (!line.empty()) text += fitted_lines(fmt::format("{:<8} {}", name, line), options_.width) + '\n';
    return text;
  }

  void print_findings() {
    const std::vector<const results::Finding*> findings = analysis::by_worth(report_.findings);
    const std::size_t told = std::min(options_.findings.value_or(findings.size()), findings.size());
    if (findings.empty()) return;
    text_ += '\n';
    print_caption(told == findings.size()
                      ? "Findings:"
                      : fmt::format("Findings, {} of {}, those that cost most first:", told, findings.size()));
    for (std::size_t i = 0; i < told; ++i) print_finding(*findings[i]);
    if (told < findings.size()) text_ += "All of them: " + command("chexbench report DIR --findings all") + '\n';
  }

  const analysis::Evaluation& evaluation_;
  const results::Report& report_ = evaluation_.report;
  const TableOptions& options_;
  const ResultTables tables_;
  std::string text_;
};

}  // namespace

std::string result_table(const analysis::Evaluation& evaluation, const TableOptions& options) {
  return Printer(evaluation, options).print();
}

}  // namespace chexbench::report
