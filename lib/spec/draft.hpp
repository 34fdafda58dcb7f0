// A spec while it is being read: what its file states and what the command line puts over it, not yet checked for
// sense.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/document.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {

class Draft {
 public:
  // Takes over all keys of a document. @throws SpecError: not an object, unknown keys
  void read(const Node& document, const std::string& source);
  // Takes over "key=value" and removes the axis of that key. @throws SpecError
  void set(const std::string& assignment);
  // Checks every value, expands the trials and checks those. @throws SpecError
  SweepSpec finish() const;

 private:
  // A value and where it was stated: "spec.json: data.format".
  struct Stated {
    Node node;
    std::string path;
  };
  using Axes = std::vector<std::pair<std::string, Stated>>;

  void read_group(const std::string& prefix, const Object& object, const std::string& source);
  void read_sweep(const Node& node, const std::string& source);
  void state(const std::string& key, const Node& node, const std::string& source);
  void restate(const std::string& key, const Node& node, const std::string& source);  // null: no longer stated
  void add_axis(const std::string& key, const Node& node, const std::string& source);
  void remove_axis(const std::string& key);
  bool is_swept(const std::string& key) const;
  static Axis make_axis(const std::string& key, const Stated& stated);

  std::map<std::string, Stated> stated_;  // by key: those of the table, pipeline, and parameters of ops
  Axes axes_;
};

}  // namespace chexbench::spec
