// Chooses among the candidates of a request, by their times and by what they computed.
#pragma once

#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_candidates.hpp"

namespace chexbench::engine::cuda {

// Collects candidates that ran, in cuDNN's order. Not thread-safe.
class CandidateChoice {
 public:
  // Two samples agree if the L2 norm of their difference is at most `tolerance` of the larger one's norm.
  explicit CandidateChoice(double tolerance) : tolerance_(tolerance) {}

  // Returns why the candidate cannot be used (it left results unwritten or not finite), or "" if it was added.
  std::string add(int index, const Plan& plan, CandidateRun run);

  struct Candidate {
    int index = 0;
    Plan plan;
    CandidateRun run;
  };
  // Returns the fastest of those that agree with most; of equally fast ones, the one with the smallest workspace, then
  // the first. No candidate may be the judge of the others, because any of them may be wrong; where they form groups of
  // the same size, the group of cuDNN's best guess counts. At least one candidate must have been added.
  const Candidate& best() const;
  // Returns the engines of those that do not agree with most.
  std::vector<std::string> outsiders() const;

  int count() const { return static_cast<int>(candidates_.size()); }
  double least_s() const;  // infinite without candidates

 private:
  bool agree(const Candidate& a, const Candidate& b) const;
  const Candidate& most_trusted() const;

  const double tolerance_;
  std::vector<Candidate> candidates_;
};

// Returns a tolerance that correct plans keep whatever the order of their additions, and wrong ones (which differ by
// about 1) do not.
double sample_tolerance(spec::Precision precision);

}  // namespace chexbench::engine::cuda
