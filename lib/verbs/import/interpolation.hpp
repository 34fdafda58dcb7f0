// Resolves the references in the values of a Hydra file the way OmegaConf does.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/import/yaml.hpp"

namespace chexbench::verbs {

// Understands ${a.b} from the top of the file, or from Hydra's group (${workload.a.b}), ${.b} and ${..a.b} relative to
// the value, ${oc.env:NAME} and ${oc.env:NAME,default}, any of them nested, and \${ for the literal characters.
class Interpolation {
 public:
  // `values` must outlive the object.
  Interpolation(const std::vector<YamlValue>& values, const std::string& source);

  // Returns the text of a value with all references resolved.
  // @throws SpecError with source, line and path if it refers to something missing in the file or the environment, to a
  // mapping, to itself or to another resolver of Hydra, or must be given on the command line (???)
  std::string text_of(const YamlValue& value);

 private:
  std::string filled(const YamlValue& value, std::string_view text);
  std::string referred(const YamlValue& value, std::string_view reference);
  std::string node(const YamlValue& value, const std::string& reference);
  std::string environment_of(const YamlValue& value, std::string_view arguments);
  [[noreturn]] void fail(const std::string& complaint) const;

  const std::string& source_;
  std::map<std::string, const YamlValue*> values_;  // by their paths with points alone: "columns.0.name"
  const YamlValue* asked_ = nullptr;                // whose text is requested
  std::size_t references_ = 0;                      // followed for it
  std::size_t depth_ = 0;
};

}  // namespace chexbench::verbs
