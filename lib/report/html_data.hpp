// The numbers behind report.html.
#pragma once

#include <cstddef>
#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// A repeat's curve over time has at most this many points in the page; report.json keeps them all.
inline constexpr std::size_t kMostPoints = 300;

// JSON that may stand in a <script> of a page, for no '<' stays in it: environment, findings and ablations as in
// report.json; each trial with its figures as there, label, arm, flags, resolved spec, time shares by rank, queues by
// op, and curves over time of steps and GPUs. Milliseconds a trial, as derive_figures().
std::string page_data(const results::Report& report);

}  // namespace chexbench::report
