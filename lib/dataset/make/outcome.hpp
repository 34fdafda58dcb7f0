// The final output of the verbs that make, convert, copy and check data sets: sentences for people, the last one with
// the next command, or a JSON object for programs.
#pragma once

#include <string>
#include <vector>

#include "dataset/make/check.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/stage.hpp"
#include "dataset/make/synth.hpp"

namespace chexbench::dataset {

// A root as given to a command.
struct TypedRoot {
  std::string root;
  std::vector<std::string> overrides = {};  // "data.layout=csv"

  // Returns the words quoted for a shell: "set --set data.layout=csv".
  std::string words() const;
};

std::string synth_text(const SynthResult& result, const TypedRoot& made);
std::string synth_json(const SynthResult& result, const TypedRoot& made);

std::string conversion_text(const formats::Conversion& result, const TypedRoot& converted);
std::string conversion_json(const formats::Conversion& result, const TypedRoot& converted);

std::string staging_text(const Staging& result, const TypedRoot& copy);
std::string staging_json(const Staging& result, const TypedRoot& copy);

// The problems come first, one a line.
std::string check_text(const CheckReport& report, const TypedRoot& checked);
std::string check_json(const CheckReport& report, const TypedRoot& checked);

}  // namespace chexbench::dataset
