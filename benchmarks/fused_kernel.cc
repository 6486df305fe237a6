// f(x) = relu(x W + b) v + c for x (B, D), W (D, 64), and its gradient, hidden units in registers: no hidden layer is
// ever written to memory, and the gradient computes it again. For XLA's foreign function interface; a leading axis of
// every array counts members. See fused_kernel.py.
#include <cstdint>
#include <cstring>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

constexpr int LANES = 16, WIDTH = 64, VECTORS = WIDTH / LANES;
constexpr int AT_ONCE = 6;    // samples whose hidden units lie in registers: 24 of 32
constexpr int BLOCK = 48;     // samples whose hidden gradients lie in the first cache: 12 KiB
constexpr int MOST_ROWS = 7;  // rows of W's gradient in registers: 28 of 32

typedef float vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float half __attribute__((vector_size(2 * LANES)));
typedef float quarter __attribute__((vector_size(LANES)));

static inline vector load(const float* p) { return *reinterpret_cast<const vector*>(p); }
static inline void store(float* p, vector v) { *reinterpret_cast<vector*>(p) = v; }
static inline vector all(float x) { return x - vector{}; }

static inline float sum(vector v) {
  half low, high;
  std::memcpy(&low, &v, sizeof low);
  std::memcpy(&high, reinterpret_cast<char*>(&v) + sizeof low, sizeof high);
  low += high;
  quarter a, b;
  std::memcpy(&a, &low, sizeof a);
  std::memcpy(&b, reinterpret_cast<char*>(&low) + sizeof a, sizeof b);
  a += b;
  return (a[0] + a[2]) + (a[1] + a[3]);
}

template <int N>
static inline void hidden(const float* x, const float* w, const float* b, int d, vector (&h)[N][VECTORS]) {
  for (int j = 0; j < VECTORS; j++)
    for (int n = 0; n < N; n++) h[n][j] = load(b + LANES * j);
  for (int i = 0; i < d; i++) {
    vector row[VECTORS];
    for (int j = 0; j < VECTORS; j++) row[j] = load(w + i * WIDTH + LANES * j);
    for (int n = 0; n < N; n++)
      for (int j = 0; j < VECTORS; j++) h[n][j] += all(x[n * d + i]) * row[j];
  }
  for (int n = 0; n < N; n++)
    for (int j = 0; j < VECTORS; j++) h[n][j] = h[n][j] > 0.f ? h[n][j] : vector{};
}

template <int N>
static inline void forward(const float* x, const float* w, const float* b, const float* v, float c, int d, float* out) {
  vector h[N][VECTORS];
  hidden<N>(x, w, b, d, h);
  for (int n = 0; n < N; n++) {
    vector s = h[n][0] * load(v);
    for (int j = 1; j < VECTORS; j++) s += h[n][j] * load(v + LANES * j);
    out[n] = sum(s) + c;
  }
}

struct Sums {
  vector v[VECTORS] = {}, b[VECTORS] = {};
};

template <int N>
static inline void through(const float* x, const float* w, const float* b, const float* v, const float* g, int d,
                           float* dz, Sums& sums) {
  vector h[N][VECTORS];
  hidden<N>(x, w, b, d, h);
  for (int j = 0; j < VECTORS; j++)
    for (int n = 0; n < N; n++) {
      sums.v[j] += all(g[n]) * h[n][j];
      vector z = h[n][j] > 0.f ? all(g[n]) * load(v + LANES * j) : vector{};
      sums.b[j] += z;
      store(dz + n * WIDTH + LANES * j, z);
    }
}

template <int ROWS>
static inline void rows(const float* x, const float* dz, int count, int d, float* dw) {
  vector sums[ROWS][VECTORS];
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < VECTORS; j++) sums[i][j] = load(dw + i * WIDTH + LANES * j);
  for (int n = 0; n < count; n++) {
    vector z[VECTORS];
    for (int j = 0; j < VECTORS; j++) z[j] = load(dz + n * WIDTH + LANES * j);
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < VECTORS; j++) sums[i][j] += all(x[n * d + i]) * z[j];
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < VECTORS; j++) store(dw + i * WIDTH + LANES * j, sums[i][j]);
}

template <int ROWS>
static inline void remaining(int left, const float* x, const float* dz, int count, int d, float* dw) {
  if (left == ROWS) return rows<ROWS>(x, dz, count, d, dw);
  if constexpr (ROWS > 1) remaining<ROWS - 1>(left, x, dz, count, d, dw);
}

using In = ffi::Buffer<ffi::F32>;
using Out = ffi::ResultBuffer<ffi::F32>;

struct Sizes {
  int64_t members, samples, inputs;
  explicit Sizes(const In& x) {
    auto shape = x.dimensions();
    inputs = shape.back(), samples = shape[shape.size() - 2], members = x.element_count() / (inputs * samples);
  }
};

static ffi::Error Forward(In x_, In w_, In b_, In v_, In c_, Out out_) {
  Sizes size(x_);
  const int d = size.inputs;
  for (int64_t m = 0; m < size.members; m++) {
    const float *x = x_.typed_data() + m * size.samples * d, *w = w_.typed_data() + m * d * WIDTH;
    const float *b = b_.typed_data() + m * WIDTH, *v = v_.typed_data() + m * WIDTH, c = c_.typed_data()[m];
    float* out = out_->typed_data() + m * size.samples;
    int64_t n = 0;
    for (; n + AT_ONCE <= size.samples; n += AT_ONCE) forward<AT_ONCE>(x + n * d, w, b, v, c, d, out + n);
    for (; n < size.samples; n++) forward<1>(x + n * d, w, b, v, c, d, out + n);
  }
  return ffi::Error::Success();
}

static ffi::Error Backward(In x_, In w_, In b_, In v_, In g_, Out dw_, Out db_, Out dv_, Out dc_) {
  Sizes size(x_);
  const int d = size.inputs;
  alignas(64) float dz[BLOCK * WIDTH];
  for (int64_t m = 0; m < size.members; m++) {
    const float *x = x_.typed_data() + m * size.samples * d, *w = w_.typed_data() + m * d * WIDTH;
    const float *b = b_.typed_data() + m * WIDTH, *v = v_.typed_data() + m * WIDTH;
    const float* g = g_.typed_data() + m * size.samples;
    float* dw = dw_->typed_data() + m * d * WIDTH;
    std::memset(dw, 0, sizeof(float) * d * WIDTH);
    Sums sums;
    float dc = 0;
    for (int64_t first = 0; first < size.samples; first += BLOCK) {
      const int count = size.samples - first < BLOCK ? size.samples - first : BLOCK;
      const float *xs = x + first * d, *gs = g + first;
      int n = 0;
      for (; n + AT_ONCE <= count; n += AT_ONCE)
        through<AT_ONCE>(xs + n * d, w, b, v, gs + n, d, dz + n * WIDTH, sums);
      for (; n < count; n++) through<1>(xs + n * d, w, b, v, gs + n, d, dz + n * WIDTH, sums);
      for (n = 0; n < count; n++) dc += gs[n];
      int i = 0;
      for (; i + MOST_ROWS <= d; i += MOST_ROWS) rows<MOST_ROWS>(xs + i, dz, count, d, dw + i * WIDTH);
      remaining<MOST_ROWS - 1>(d - i, xs + i, dz, count, d, dw + i * WIDTH);
    }
    for (int j = 0; j < VECTORS; j++) {
      store(dv_->typed_data() + m * WIDTH + LANES * j, sums.v[j]);
      store(db_->typed_data() + m * WIDTH + LANES * j, sums.b[j]);
    }
    dc_->typed_data()[m] = dc;
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    forward_, Forward, ffi::Ffi::Bind().Arg<In>().Arg<In>().Arg<In>().Arg<In>().Arg<In>().Ret<In>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(backward_, Backward,
                              ffi::Ffi::Bind()
                                  .Arg<In>()
                                  .Arg<In>()
                                  .Arg<In>()
                                  .Arg<In>()
                                  .Arg<In>()
                                  .Ret<In>()
                                  .Ret<In>()
                                  .Ret<In>()
                                  .Ret<In>());
