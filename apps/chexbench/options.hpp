// Options that several commands share. A variable that receives a value must outlive the parsing of `verb`.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "report/table.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::app {

// Adds --format with `formats` as its values. `format` has the default.
void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& formats);

// Adds --set KEY=VALUE, which may be repeated.
CLI::Option* add_set_option(CLI::App& verb, std::vector<std::string>& overrides, const std::string& description);

// Returns the spec's words for the values of an enum.
template <class Enum>
std::map<std::string, Enum> words_of() {
  std::map<std::string, Enum> words;
  for (const auto& [value, word] : spec::named_values<Enum>()) words.emplace(word, value);
  return words;
}

// Adds an option whose numbers must be from `least` to `most`, and whose default is shown.
template <class Value>
CLI::Option* add_in_range(CLI::App& verb, const std::string& name, Value& value, int least, int most,
                          const std::string& description) {
  return verb.add_option(name, value, description)->check(CLI::Range(least, most))->capture_default_str();
}

// Adds --precision, for one precision or a list. `text` is what --help shows of its values.
template <class Precisions>
CLI::Option* add_precision_option(CLI::App& verb, Precisions& precisions, const std::string& description,
                                  const std::string& text) {
  return verb.add_option("--precision", precisions, description)
      ->transform(CLI::CheckedTransformer(words_of<spec::Precision>()))
      ->option_text("TEXT:{f32,tf32,fp16,bf16}" + text);
}

// Adds --allow-shared-gpu. `warning` ends its description.
void add_shared_gpu_flag(CLI::App& verb, bool& allowed,
                         const std::string& warning = "for trying things out: the figures are not valid.");

// Adds --ranks: a list of numbers with commas or spaces.
CLI::Option* add_ranks_list(CLI::App& verb, std::vector<int>& ranks, const std::string& description);

// Adds the option `name`: one number of ranks, from 1 to `most`. A list is refused, and the error ends with the advice
// `instead`.
CLI::Option* add_rank_count(CLI::App& verb, const std::string& name, std::optional<int>& ranks, int most,
                            const std::string& description, const std::string& instead);

// Refuses an option that was given although `choice` ("--to cached") was not made: it would be ignored.
// @throws CLI::RequiresError
void require_choice(const CLI::Option& option, bool is_made, const std::string& choice);

// The location and layout of a data set, for verbs that take one without a spec.
struct DataSetArguments {
  std::string root;
  std::vector<std::string> overrides;  // "data.labels.csv=labels.csv"

  // Returns the overrides that chexbench-data.json does not keep.
  std::vector<std::string> store_overrides() const;
  // Returns the others, which also apply to a copy of the data set.
  std::vector<std::string> layout_overrides() const;

  // Returns the data section of a spec with these keys, and with those in the folder's chexbench-data.json.
  // @throws SpecError if a key is not allowed here or a value is wrong
  spec::DataSpec spec() const;
};

// Adds the positional argument `name` and --set to `verb`.
std::shared_ptr<DataSetArguments> add_data_set(CLI::App& verb, const std::string& name);

// Adds --findings: "all" or a number.
CLI::Option* add_findings_option(CLI::App& verb, std::string& findings);

// Returns the options of a table on standard output: as wide as stdout_width(), and in colour unless NO_COLOR is set or
// the terminal has none; plain if standard output is not a terminal. It is brief unless it is to `explain`. `findings`
// is a value of --findings, or "" for the default.
// @throws SpecError if findings were requested and `format` is not the table
report::TableOptions table_options(const std::string& findings, const std::string& format, const std::string& folder,
                                   bool explain);

// Prints the answer, the table and the findings of a run whose results are in `folder`, with these options.
// @throws as print_shown()
void print_result(const analysis::Evaluation& evaluation, const std::string& findings, const std::string& folder,
                  bool explain);

}  // namespace chexbench::app
