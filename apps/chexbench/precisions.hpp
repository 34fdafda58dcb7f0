// The names of precisions on the command line.
#pragma once

#include <map>
#include <string>

#include "spec/trial_spec.hpp"

namespace chexbench::app {

inline const std::map<std::string, spec::Precision> kPrecisions{{"f32", spec::Precision::f32},
                                                                {"tf32", spec::Precision::tf32},
                                                                {"fp16", spec::Precision::fp16},
                                                                {"bf16", spec::Precision::bf16}};

}  // namespace chexbench::app
