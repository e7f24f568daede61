// FedCA's base model: trained on public images, the same for all clients.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "method/method.h"

namespace kindred {

class PublicBase final : public Foundation {
 public:
  // Reads fedca.public_images images of fedca.public_data, scaled to the clients'. Throws a usage
  // error when they are the dataset `data`, which the clients hold, a data error when they cannot
  // be read. With `data` empty nothing is read or trained: images and features are noise.
  PublicBase(const MethodContext& context, const std::string& data, std::filesystem::path folder);

  // Trains a network on those images by SimCLR: from the clients' initial weights,
  // fedca.base_epochs epochs, default views, SGD with momentum .9 and decay 5e-4. A function of the
  // context and the images: its features are kept in the folder, and taken from there by a run that
  // goes on.
  void Make(const std::atomic<bool>* stop) override;
  std::string DataHash() const override { return kindred::DataHash(data_); }

  // After Make. [M, C, S, S], normalised, without augmentation.
  const at::Tensor& PublicImages() const { return images_; }
  // [M, D] unit rows: what the base model makes of them.
  const at::Tensor& Features() const { return features_; }

 private:
  void MakeNoise();

  MethodContext context_;
  bool noise_;
  std::filesystem::path folder_;
  Dataset data_;  // until it is made
  at::Tensor images_, features_;
};

// FedCA's foundation; null without alignment.
std::shared_ptr<Foundation> MakePublicBase(const MethodContext& context, const std::string& data,
                                           const std::filesystem::path& folder);

}  // namespace kindred
