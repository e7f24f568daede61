// The convolutions of ResNet-18 by kernel/ beside LibTorch's (oneDNN), shape by shape: forward,
// data gradient, weight gradient, on one core. LibTorch's side is the faster of its two layouts,
// channels first and last; its time includes the tensor it returns. Then a whole training step
// beside the machine's own matrix product. All sides take turns in one run; medians are compared.
//
//   bench_layers [turns]
#include <cblas.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "bench/timing.h"
#include "kernel/conv.h"
#include "method/method.h"
#include "model/one_thread.h"

namespace kindred {
namespace {

constexpr int64_t kBatch = 128;
const char* const kWays[] = {"forward", "data", "weight"};

struct Layer {
  std::string name;
  int times;  // in the network
  int64_t in, out, side, size, stride;

  double Flops() const {
    const int64_t after = (side + stride - 1) / stride;
    return 2.0 * static_cast<double>(kBatch * after * after * in * out * size * size);
  }
};

std::vector<Layer> Layers(int64_t width, int64_t side) {
  std::vector<Layer> layers = {{"stem", 1, 3, width, side, 3, 1},
                               {"stage 1", 4, width, width, side, 3, 1}};
  for (int stage = 2; stage <= 4; ++stage, side = (side + 1) / 2, width *= 2) {
    const auto name = fmt::format("stage {}", stage);
    layers.push_back({name + ", 3x3 / 2", 1, width, 2 * width, side, 3, 2});
    layers.push_back({name + ", 1x1 / 2", 1, width, 2 * width, side, 1, 2});
    layers.push_back({name, 3, 2 * width, 2 * width, (side + 1) / 2, 3, 1});
  }
  return layers;
}

std::span<float> Values(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

// One layer both ways; the data of both sides is the same.
class Contest {
 public:
  explicit Contest(const Layer& layer)
      : layer_(layer), shape_{kBatch, layer.side, layer.side, layer.in, layer.out} {
    x_ = torch::randn({kBatch, layer.in, layer.side, layer.side});
    w_ = torch::randn({layer.out, layer.in, layer.size, layer.size}) /
         std::sqrt(9.0 * static_cast<double>(layer.in));
    torch::NoGradGuard no_gradient;
    dy_ = torch::randn_like(torch::conv2d(x_, w_, {}, layer.stride, layer.size / 2));
    own_x_ = x_.permute({0, 2, 3, 1}).contiguous();
    own_dy_ = dy_.permute({0, 2, 3, 1}).contiguous();
    own_y_ = torch::empty_like(own_dy_);
    own_dx_ = torch::empty_like(own_x_);
    own_dw_ = torch::empty_like(w_);
    last_x_ = x_.contiguous(at::MemoryFormat::ChannelsLast);
    last_w_ = w_.contiguous(at::MemoryFormat::ChannelsLast);
    last_dy_ = dy_.contiguous(at::MemoryFormat::ChannelsLast);
  }

  double Own(int way) const {
    return Seconds([&] {
      const Window window = {layer_.size, layer_.stride};
      if (way == 0) {
        ConvForward(shape_, window, Values(own_x_), Values(w_), Values(own_y_));
      } else if (way == 1) {
        ConvDataGradient(shape_, window, Values(own_dy_), Values(w_), false, Values(own_dx_));
      } else {
        ConvWeightGradient(shape_, window, Values(own_x_), Values(own_dy_), Values(own_dw_));
      }
    });
  }

  // last: with channels last, as ours; else as LibTorch's modules have it.
  double Torch(int way, bool last) const {
    torch::NoGradGuard no_gradient;
    const int64_t stride = layer_.stride, padding = layer_.size / 2;
    const at::Tensor &x = last ? last_x_ : x_, &w = last ? last_w_ : w_,
                     &dy = last ? last_dy_ : dy_;
    return Seconds([&] {
      if (way == 0) {
        torch::conv2d(x, w, {}, stride, padding);
      } else {
        at::convolution_backward(dy, x, w, c10::nullopt, {stride, stride}, {padding, padding},
                                 {1, 1}, false, {0, 0}, 1, {way == 1, way == 2, false});
      }
    });
  }

 private:
  Layer layer_;
  ConvShape shape_;
  at::Tensor x_, w_, dy_, own_x_, own_dy_, own_y_, own_dx_, own_dw_;
  at::Tensor last_x_, last_w_, last_dy_;
};

// Prints the table of a width; the stem's data gradient, which training never needs, is left out.
void CompareLayers(int64_t width, int64_t side, int turns) {
  fmt::print("\nwidth {}, {}x{}, batch {}: GFLOP/s by the definition, and times LibTorch's\n",
             width, side, side, kBatch);
  fmt::print("{:20} {:>18} {:>18} {:>18}\n", "layer", kWays[0], kWays[1], kWays[2]);
  double all = 0, all_torch = 0, least = 1e9;
  std::string least_name;
  for (const Layer& layer : Layers(width, side)) {
    const Contest contest(layer);
    fmt::print("{:20}", layer.name);
    for (int way = 0; way < 3; ++way) {
      if (way == 1 && layer.in == 3) {
        fmt::print(" {:>18}", "-");
        continue;
      }
      std::vector<double> own, first, last;
      contest.Own(way);
      contest.Torch(way, false);
      contest.Torch(way, true);
      for (int turn = 0; turn < turns; ++turn) {
        own.push_back(contest.Own(way));
        first.push_back(contest.Torch(way, false));
        last.push_back(contest.Torch(way, true));
      }
      const double torch = std::min(Median(first), Median(last)), ratio = torch / Median(own);
      all += layer.times * Median(own);
      all_torch += layer.times * torch;
      if (ratio < least) {
        least = ratio;
        least_name = fmt::format("{}, {}", layer.name, kWays[way]);
      }
      fmt::print(" {:>9.1f} {:>7.2f}x", layer.Flops() / Median(own) / 1e9, ratio);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  fmt::print("ratio layers w{} {}x{} {:.2f}, least {:.2f} ({})\n", width, side, side,
             all_torch / all, least, least_name);
}

// FLOPs of a training step by the definition: the main model's way forward and back, the momentum
// model's forward.
double StepFlops(int64_t width) {
  double flops = 0;
  for (const Layer& layer : Layers(width, 32)) {
    flops += layer.times * layer.Flops() * (layer.in == 3 ? 3 : 4);
  }
  return flops;
}

// A step of CCL but its views: both models, the loss, SGD, the momentum update, the bank.
class Steps {
 public:
  Steps(int64_t width, const std::string& engine)
      : method_(MakeMethod({.model = {.width = static_cast<int>(width), .engine = engine},
                            .method = {.name = "ccl"},
                            .batch = kBatch})),
        local_(method_->NewLocalState()),
        sgd_(method_->Trained(), torch::optim::SGDOptions(1e-3).momentum(0.9)) {
    method_->BeginRound({}, local_);
    batch_.first = torch::randn({kBatch, 3, 32, 32});
    batch_.second = torch::randn({kBatch, 3, 32, 32});
    batch_.samples.resize(kBatch);
  }

  double One() {
    return Seconds([&] {
      sgd_.zero_grad();
      method_->Loss(batch_, local_).backward();
      sgd_.step();
      method_->AfterStep(local_);
    });
  }

 private:
  std::unique_ptr<Method> method_;
  NamedTensors local_;
  torch::optim::SGD sgd_;
  Batch batch_;
};

void CompareStep(int64_t width, int turns) {
  constexpr int kSize = 2048;
  const auto a = torch::randn({kSize, kSize}), b = torch::randn({kSize, kSize});
  auto c = torch::empty({kSize, kSize});
  Steps fast(width, "fast"), slow(width, "torch");
  std::vector<double> product, own, torch;
  for (int turn = 0; turn <= turns; ++turn) {  // the first warms up
    const double seconds[] = {Seconds([&] {
                                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize,
                                            kSize, 1, a.data_ptr<float>(), kSize,
                                            b.data_ptr<float>(), kSize, 0, c.data_ptr<float>(),
                                            kSize);
                              }),
                              fast.One(), slow.One()};
    if (turn == 0) continue;
    product.push_back(seconds[0]);
    own.push_back(seconds[1]);
    torch.push_back(seconds[2]);
  }
  const double peak = 2.0 * kSize * kSize * kSize / Median(product) / 1e9;
  const double step_own = StepFlops(width) / Median(own) / 1e9,
               step_torch = StepFlops(width) / Median(torch) / 1e9;
  fmt::print("\na step of CCL, width {}: {:.1f} GFLOP/s, LibTorch's {:.1f}; SGEMM {:.1f}\n", width,
             step_own, step_torch, peak);
  fmt::print("ratio step over sgemm w{} {:.2f} (LibTorch's {:.2f})\n", width, step_own / peak,
             step_torch / peak);
}

void Main(int turns) {
  UseOneThread();
  torch::manual_seed(1);
  for (const int64_t width : {64, 16}) {
    for (const int64_t side : {32, 28}) CompareLayers(width, side, turns);
  }
  for (const int64_t width : {64, 16}) CompareStep(width, turns);
}

}  // namespace
}  // namespace kindred

int main(int count, char** words) { kindred::Main(count > 1 ? std::stoi(words[1]) : 7); }
