// Implements convolutions.hpp and linear_products.hpp on the host.
#include <algorithm>
#include <vector>

#include "core/errors.hpp"
#include "engine/cuda/convolution/conv_candidates.hpp"
#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/host/host_arithmetic.hpp"
#include "engine/cuda/host/host_convolutions.hpp"
#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/runtime/linear_products.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

// The only plan of a request.
class HostPlan final : public ConvCandidates {
 public:
  explicit HostPlan(const PlanRequest& request) : request_(request) {}

  int count() const override { return 1; }
  std::string engine(int) const override { return "host"; }
  Plan build(int) override { return {.state = PlanState::ready, .engine = "host", .workspace_bytes = 1000}; }
  int keep_only(int index) override { return index; }
  std::unique_ptr<CandidateTimer> timer() override { return std::make_unique<HostTimer>(request_); }

  void run(int, const std::vector<OperandMemory>& memory, void* workspace, kernels::Stream stream) override {
    if (workspace == nullptr) throw DeviceError("host twin: a plan got no workspace");
    host::shapes_run().insert(request_.shape);
    host::launch_plan(stream, [request = request_, memory] { host::run(request, memory); });
  }

 private:
  // Sums that a convolution returns are always faster here, so they are used if a norm needs them. So are outputs that
  // are packed, so that dense layers write those.
  class HostTimer final : public CandidateTimer {
   public:
    explicit HostTimer(const PlanRequest& request)
        : plan_s_(request.shape.packed() ? 1 : 1.5), statistics_s_(is_fused(request.pattern) ? 1 : 2) {}
    CandidateRun run_plan(int, const Plan&, double) override { return {.seconds = plan_s_}; }
    double plan_and_statistics_s(int, const Plan&) override { return statistics_s_; }
    double own_pass_s(OwnPass pass) override { return pass < OwnPass::affine ? 1 : 0; }

   private:
    double plan_s_, statistics_s_;
  };

  const PlanRequest request_;
};

ConvDevice host_device() {
  return {.machine = {.device = "host twin"}, .candidates = [](const PlanRequest& request) {
            if (std::ranges::count(host::lacking_patterns(), request.pattern) > 0)
              throw DeviceError("host twin: no plan for " + request.text());
            return std::make_unique<HostPlan>(request);
          }};
}

// Timings of the twin must not be stored.
ConvolutionsConfig without_file(ConvolutionsConfig config) {
  config.cache_file.clear();
  return config;
}

}  // namespace

std::vector<ConvPattern>& host::lacking_patterns() {
  static std::vector<ConvPattern> patterns;
  return patterns;
}

std::set<ConvShape>& host::shapes_run() {
  static std::set<ConvShape> shapes;
  return shapes;
}

Convolutions::Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config)
    : Convolutions(shapes, without_file(config), host_device()) {}

// A matrix product is a 1x1 convolution over images of one pixel.
struct LinearProducts::Impl {
  Convolutions convolutions;
  std::byte workspace[1000];

  Impl(const std::vector<LinearShape>& shapes, Precision precision)
      : convolutions(convolution_shapes(shapes), {.precision = precision, .fused = false}) {
    convolutions.use_workspace(workspace);
  }
  static ConvShape convolution_shape(const LinearShape& shape) {
    return {.images = shape.images,
            .in_channels = shape.inputs,
            .height = 1,
            .width = 1,
            .out_channels = shape.outputs,
            .in_pixel_stride = shape.inputs,
            .out_pixel_stride = shape.outputs};
  }
  static std::vector<ConvShape> convolution_shapes(const std::vector<LinearShape>& shapes) {
    std::vector<ConvShape> result;
    for (const LinearShape& shape : shapes) result.push_back(convolution_shape(shape));
    return result;
  }
};

LinearProducts::LinearProducts(const std::vector<LinearShape>& shapes, Precision precision)
    : impl_(std::make_unique<Impl>(shapes, precision)) {}
LinearProducts::~LinearProducts() = default;
std::size_t LinearProducts::workspace_bytes() const { return 500; }
void LinearProducts::forward(const LinearShape& shape, const void* x, const void* w, void* y, Stream stream) {
  impl_->convolutions.forward(Impl::convolution_shape(shape), x, w, y, {}, {}, stream);
}
void LinearProducts::data_gradient(const LinearShape& shape, const void* dy, const void* w, void* dx, Stream stream) {
  impl_->convolutions.data_gradient(Impl::convolution_shape(shape), dy, w, dx, {}, stream);
}
void LinearProducts::weight_gradient(const LinearShape& shape, const void* x, const void* dy, void* dw, Stream stream) {
  impl_->convolutions.weight_gradient(Impl::convolution_shape(shape), x, dy, dw, {}, stream);
}

}  // namespace chexbench::engine::cuda
