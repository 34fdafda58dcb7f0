// A core's speed with vectors of 512 bits, in f32 and in bf16 without AMX: the possible gain from bf16 on this CPU with
// any library. Run by hand.
#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <cstddef>

namespace {

constexpr std::size_t kSums = 12;  // independent ones, which is more than latency x instructions a cycle
constexpr int kRounds = 1000;

void report(benchmark::State& state, int operations) {
  const auto instructions = static_cast<double>(state.iterations()) * kRounds * kSums;
  state.counters["FLOP/s"] = benchmark::Counter(instructions * operations, benchmark::Counter::kIsRate);
}

// The factors are zero, so that no sum leaves the range of fast numbers; the empty statement hides that they are.
[[gnu::target("avx512f")]] void f32_multiply_add(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx512f")) return state.SkipWithError("this CPU has no AVX-512");
  __m512 sums[kSums] = {};
  __m512 factor{};
  for ([[maybe_unused]] const auto iteration : state) {
    for (int round = 0; round < kRounds; ++round) {
      asm volatile("" : "+v"(factor));
      for (__m512& sum : sums) sum = _mm512_fmadd_ps(factor, factor, sum);
    }
    benchmark::DoNotOptimize(sums);
  }
  report(state, 2 * 16);
}
BENCHMARK(f32_multiply_add);

[[gnu::target("avx512f,avx512bf16")]] void bf16_dot_product(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx512bf16")) return state.SkipWithError("this CPU has no AVX-512 BF16");
  __m512 sums[kSums] = {};
  __m512bh factor{};
  for ([[maybe_unused]] const auto iteration : state) {
    for (int round = 0; round < kRounds; ++round) {
      asm volatile("" : "+v"(factor));
      for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, factor, factor);
    }
    benchmark::DoNotOptimize(sums);
  }
  report(state, 2 * 32);
}
BENCHMARK(bf16_dot_product);

}  // namespace

BENCHMARK_MAIN();
