#include "model/fast_resnet.h"

#include <torch/custom_class.h>
#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/batch_norm.h"
#include "kernel/conv.h"
#include "kernel/scratch.h"
#include "model/resnet_units.h"

namespace kindred {
namespace {

constexpr double kRunningMomentum = 0.1;  // torch's default

// Of a value in a batch.
struct ValueShape {
  int64_t height, width, channels;

  size_t Floats(int64_t batch) const {
    return static_cast<size_t>(batch * height * width * channels);
  }
};

std::span<float> Values(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

// Everything a way back needs of a way forward, and the memory of its gradients. Reused.
struct Pass : torch::CustomClassHolder {
  int64_t batch = 0, groups = 1;
  std::vector<ValueShape> shapes;
  Scratch memory;
  size_t bytes = 0;
  std::vector<std::span<float>> normed;     // value i: the image, or z of unit i - 1
  std::vector<std::span<float>> convolved;  // unit i: what its norm takes
  std::vector<NormStatistics> statistics;   // of unit i
  std::vector<at::Tensor> gradients;        // of weight, gamma, beta of each unit
};

// Equal pieces of memory, handed out and taken back.
class Pieces {
 public:
  void Reset(size_t floats, size_t count) {
    const size_t apart = (floats + 15) / 16 * 16;
    float* begin = memory_.Get(apart * count);
    bytes_ = std::max(bytes_, apart * count * sizeof(float));
    free_.clear();
    for (size_t i = count; i-- > 0;) free_.push_back(begin + i * apart);
  }
  float* Take() {
    Check(!free_.empty(), "no piece of memory is left");
    float* piece = free_.back();
    free_.pop_back();
    return piece;
  }
  void Give(float* piece) { free_.push_back(piece); }
  size_t Bytes() const { return bytes_; }

 private:
  Scratch memory_;
  size_t bytes_ = 0;
  std::vector<float*> free_;
};

// [B, C, H, W] -> [B, H, W, C].
void ChannelsLast(const at::Tensor& x, float* out) {
  const int64_t batch = x.size(0), channels = x.size(1), area = x.size(2) * x.size(3);
  const float* from = x.data_ptr<float>();
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t c = 0; c < channels; ++c, from += area) {
      float* to = out + b * area * channels + c;
      for (int64_t p = 0; p < area; ++p) to[p * channels] = from[p];
    }
  }
}

class Engine : public FastResNet, public std::enable_shared_from_this<Engine> {
 public:
  Engine(const torch::nn::Module& resnet, const ModelOptions& options, int64_t channels)
      : units_(UnitsOf(resnet)),
        splits_(options.bn_splits),
        channels_(channels),
        threads_(options.threads) {
    for (const Unit& unit : units_) {
      for (const auto& tensor : {unit.weight, unit.gamma, unit.beta}) parameters_.push_back(tensor);
    }
  }

  at::Tensor Forward(const at::Tensor& x, bool training) override;

  // A pass that no graph holds.
  c10::intrusive_ptr<Pass> TakePass() {
    for (const auto& pass : passes_) {
      if (pass.use_count() == 1) return pass;
    }
    passes_.push_back(c10::make_intrusive<Pass>());
    return passes_.back();
  }

  // h of x, with all that the way back needs left in `pass`.
  at::Tensor ForwardKeeping(const at::Tensor& x, bool training, Pass& pass) {
    Begin(x, training, pass);
    size_t floats = 0;
    const auto reserve = [&](size_t count) {
      const size_t at = floats;
      floats += (count + 15) / 16 * 16;
      return at;
    };
    std::vector<size_t>& places = places_;
    places.clear();
    for (size_t v = 0; v < pass.shapes.size(); ++v) {
      const size_t size = pass.shapes[v].Floats(pass.batch);
      places.push_back(reserve(size));
      if (v > 0) places.push_back(reserve(size));
    }
    float* memory = pass.memory.Get(floats);
    pass.bytes = std::max(pass.bytes, floats * sizeof(float));
    pass.normed.resize(pass.shapes.size());
    pass.convolved.resize(units_.size());
    for (size_t v = 0, place = 0; v < pass.shapes.size(); ++v) {
      const size_t size = pass.shapes[v].Floats(pass.batch);
      pass.normed[v] = {memory + places[place++], size};
      if (v > 0) pass.convolved[v - 1] = {memory + places[place++], size};
    }
    ChannelsLast(x, pass.normed[0].data());
    for (size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      Convolve(unit, pass, pass.normed[unit.input], pass.convolved[u]);
      Statistics(unit, training, pass, pass.convolved[u], pass.statistics[u]);
      NormForward(ShapeOf(u, pass), pass.convolved[u], pass.statistics[u], WeightsOf(unit),
                  ThenOf(unit, pass), pass.normed[u + 1], Workers());
    }
    return Mean(pass, pass.normed.back());
  }

  // h of x; nothing is kept.
  at::Tensor ForwardOnly(const at::Tensor& x, bool training) {
    Pass& pass = passing_;
    Begin(x, training, pass);
    size_t most = 0;
    for (const auto& shape : pass.shapes) most = std::max(most, shape.Floats(pass.batch));
    pieces_.Reset(most, 3);
    auto& values = pass.normed;
    values.assign(pass.shapes.size(), {});
    const auto take = [&](size_t v) {
      return std::span<float>(pieces_.Take(), pass.shapes[v].Floats(pass.batch));
    };
    values[0] = take(0);
    ChannelsLast(x, values[0].data());
    for (size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      values[u + 1] = take(u + 1);
      Convolve(unit, pass, values[unit.input], values[u + 1]);
      Statistics(unit, training, pass, values[u + 1], pass.statistics[u]);
      NormForward(ShapeOf(u, pass), values[u + 1], pass.statistics[u], WeightsOf(unit),
                  ThenOf(unit, pass), values[u + 1], Workers());
      for (size_t v = 0; v <= u; ++v) {  // what no later unit reads
        if (!values[v].empty() && LastUse(v) <= u) {
          pieces_.Give(values[v].data());
          values[v] = {};
        }
      }
    }
    return Mean(pass, values.back());
  }

  // From dh, the gradient to h: pass.gradients.
  void Backward(const at::Tensor& dh, Pass& pass) {
    NewGradients(pass);
    size_t most = 0;
    for (const auto& shape : pass.shapes) most = std::max(most, shape.Floats(pass.batch));
    pieces_.Reset(most, 3);
    auto& gradients = value_gradients_;  // of value v; null: none yet
    gradients.assign(pass.shapes.size(), nullptr);
    const auto span = [&](size_t v) {
      return std::span<float>(gradients[v], pass.shapes[v].Floats(pass.batch));
    };
    gradients.back() = pieces_.Take();
    SpreadMean(dh, pass, span(units_.size()));
    for (size_t u = units_.size(); u-- > 0;) {
      const Unit& unit = units_[u];
      const std::span<float> dz = span(u + 1);
      // A residual's gradient is dz where ReLU was on: the same memory.
      std::span<float> dy = dz;
      if (unit.residual != 0) {
        Check(gradients[unit.residual] == nullptr, "a residual that is used earlier");
        dy = {pieces_.Take(), dz.size()};
        gradients[unit.residual] = dz.data();
      }
      NormBackward(ShapeOf(u, pass), pass.convolved[u], pass.normed[u + 1], pass.statistics[u],
                   WeightsOf(unit), ThenOf(unit, pass), dz,
                   {dy, Values(pass.gradients[3 * u + 1]), Values(pass.gradients[3 * u + 2])},
                   Workers());
      const auto shape = ConvOf(unit, pass);
      const std::span<const float> x = pass.normed[unit.input], w = Values(unit.weight);
      const std::span<float> dw = Values(pass.gradients[3 * u]);
      ConvWeightGradient(shape, unit.window, x, dy, dw, Options());
      if (unit.input != 0) {
        float*& dx = gradients[unit.input];
        const bool add = dx != nullptr;
        if (!add) dx = pieces_.Take();
        ConvDataGradient(shape, unit.window, dy, w, add, span(unit.input), Options());
      }
      pieces_.Give(dy.data());
    }
  }

  size_t BytesHeld() const override {
    size_t bytes = pieces_.Bytes();
    for (const auto& pass : passes_) bytes += pass->bytes;
    return bytes;
  }

 private:
  // Threads to compute with, for now.
  int Workers() const { return threads_ != nullptr ? threads_->load() : 1; }
  KernelOptions Options() const { return {.workers = Workers()}; }

  // The shapes and groups of a batch.
  void Begin(const at::Tensor& x, bool training, Pass& pass) {
    pass.batch = x.size(0);
    pass.groups = 1;
    if (training) {
      pass.groups = std::min(splits_, pass.batch);
      while (pass.batch % pass.groups != 0) --pass.groups;
    }
    pass.shapes.assign(1, {x.size(2), x.size(3), x.size(1)});
    for (const Unit& unit : units_) {
      const ValueShape& in = pass.shapes[unit.input];
      pass.shapes.push_back({(in.height + unit.window.stride - 1) / unit.window.stride,
                             (in.width + unit.window.stride - 1) / unit.window.stride, unit.out});
    }
    pass.statistics.resize(units_.size());
  }

  ConvShape ConvOf(const Unit& unit, const Pass& pass) const {
    const ValueShape& in = pass.shapes[unit.input];
    return {pass.batch, in.height, in.width, unit.in, unit.out};
  }

  static NormShape ShapeOf(size_t u, const Pass& pass) {
    const ValueShape& out = pass.shapes[u + 1];
    return {pass.batch, out.height * out.width, out.channels, pass.groups};
  }

  static NormWeights WeightsOf(const Unit& unit) { return {Values(unit.gamma), Values(unit.beta)}; }

  static NormThen ThenOf(const Unit& unit, const Pass& pass) {
    return {unit.residual != 0 ? std::span<const float>(pass.normed[unit.residual])
                               : std::span<const float>(),
            unit.relu};
  }

  // The last unit that reads a value.
  size_t LastUse(size_t v) const {
    size_t last = v;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (units_[u].input == v || (v != 0 && units_[u].residual == v)) last = std::max(last, u);
    }
    return last;
  }

  void Convolve(const Unit& unit, const Pass& pass, std::span<const float> x, std::span<float> y) {
    const auto shape = ConvOf(unit, pass);
    ConvForward(shape, unit.window, x, Values(unit.weight), y, Options());
  }

  // Of the batch, moving the running ones to the mean over groups; or the running ones.
  void Statistics(const Unit& unit, bool training, const Pass& pass, std::span<const float> y,
                  NormStatistics& statistics) {
    const auto mean = Values(unit.running_mean), variance = Values(unit.running_var);
    if (!training) {
      NormStatisticsFrom(mean, variance, statistics);
      return;
    }
    const int64_t area = static_cast<int64_t>(y.size()) / (pass.batch * unit.out);
    NormStatisticsOf({pass.batch, area, unit.out, pass.groups}, y, statistics, Workers());
    const auto count = static_cast<double>(area * (pass.batch / pass.groups));
    const double unbiased = count / std::max(count - 1, 1.0),
                 groups = static_cast<double>(pass.groups);
    for (size_t c = 0; c < mean.size(); ++c) {
      double means = 0, variances = 0;
      for (size_t i = c; i < statistics.mean.size(); i += mean.size()) {
        means += statistics.mean[i];
        variances += statistics.variance[i] * unbiased;
      }
      const auto move = [&](float& running, double sum) {
        running =
            static_cast<float>((1 - kRunningMomentum) * running + kRunningMomentum * sum / groups);
      };
      move(mean[c], means);
      move(variance[c], variances);
    }
    ++*unit.batches.data_ptr<int64_t>();
  }

  static at::Tensor Mean(const Pass& pass, std::span<const float> z) {
    const ValueShape& shape = pass.shapes.back();
    const int64_t area = shape.height * shape.width;
    const auto values =
        torch::from_blob(const_cast<float*>(z.data()), {pass.batch, area, shape.channels});
    return values.mean(1);
  }

  static void SpreadMean(const at::Tensor& dh, const Pass& pass, std::span<float> dz) {
    const ValueShape& shape = pass.shapes.back();
    const int64_t area = shape.height * shape.width;
    auto values = torch::from_blob(dz.data(), {pass.batch, area, shape.channels});
    values.copy_((dh / static_cast<double>(area)).unsqueeze(1).expand_as(values));
  }

  // Memory for the gradients of the parameters, unless someone still holds what it had.
  void NewGradients(Pass& pass) const {
    pass.gradients.resize(parameters_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor& gradient = pass.gradients[i];
      if (!gradient.defined() || gradient.use_count() > 1 || gradient.storage().use_count() > 1) {
        gradient = torch::empty_like(parameters_[i]).detach();
      }
    }
  }

  std::vector<Unit> units_;
  int64_t splits_, channels_;
  std::shared_ptr<const std::atomic<int>> threads_;
  std::vector<at::Tensor> parameters_;
  std::vector<c10::intrusive_ptr<Pass>> passes_;
  Pass passing_;  // of passes that keep nothing
  Pieces pieces_;
  std::vector<size_t> places_;
  std::vector<float*> value_gradients_;
};

// What a node holds: its pass, and the engine, which may outlive its module that way.
struct Held : torch::CustomClassHolder {
  c10::intrusive_ptr<Pass> pass;
  std::shared_ptr<Engine> engine;
};

// The node of autograd's graph.
class FastResNetNode : public torch::autograd::Function<FastResNetNode> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            at::TensorList parameters, const std::shared_ptr<Engine>& engine,
                            bool training) {
    const auto held = c10::make_intrusive<Held>();
    held->pass = engine->TakePass();
    held->engine = engine;
    context->saved_data["held"] = c10::IValue::make_capsule(held);
    // So that a parameter changed in between is noticed.
    context->save_for_backward(parameters.vec());
    return engine->ForwardKeeping(x, training, *held->pass);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& outputs) {
    context->get_saved_variables();
    const auto held =
        c10::static_intrusive_pointer_cast<Held>(context->saved_data["held"].toCapsule());
    Pass& pass = *held->pass;
    held->engine->Backward(outputs[0].contiguous(), pass);
    torch::autograd::variable_list gradients = {at::Tensor()};  // none to x
    gradients.insert(gradients.end(), pass.gradients.begin(), pass.gradients.end());
    gradients.emplace_back();
    gradients.emplace_back();
    return gradients;
  }
};

at::Tensor Engine::Forward(const at::Tensor& x, bool training) {
  Check(x.dim() == 4 && x.size(0) > 0 && x.size(1) == channels_ &&
            x.scalar_type() == torch::kFloat && !x.requires_grad(),
        "the fast engine takes float images without gradients");
  const auto images = x.contiguous();
  const bool graph =
      torch::GradMode::is_enabled() &&
      std::ranges::any_of(parameters_, [](const at::Tensor& p) { return p.requires_grad(); });
  if (!graph) {
    torch::NoGradGuard no_gradient;
    return ForwardOnly(images, training);
  }
  return FastResNetNode::apply(images, at::TensorList(parameters_), shared_from_this(), training);
}

}  // namespace

std::shared_ptr<FastResNet> MakeFastResNet(const torch::nn::Module& resnet,
                                           const ModelOptions& options, int64_t channels) {
  return std::make_shared<Engine>(resnet, options, channels);
}

}  // namespace kindred
