// `kindred embed`: features of images for other tools, and a picture of them.
#include "cli/command.h"
#include "cli/learning_library.h"

namespace kindred {

void AddEmbedCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<EmbedFlags>();
  CLI::App* command =
      AddCommand(app, program, "embed", "Features of images as npy or csv, and a picture of them",
                 [flags] { return LoadLearning().embed(*flags); });
  AddEncoderFlags(*command, flags->encoder, false);
  AddConfigFlags(*command, flags->config);
  command->add_option_function<std::string>(
      "--images",
      [flags](const std::string& value) {
        flags->images = true;
        flags->config.given.push_back({"data.name", "folder", "--images"});
        flags->config.given.push_back({"data.path", value, "--images"});
        flags->config.given.push_back({"data.limit", "0", "--images"});
      },
      "a folder of PNG and JPEG files, instead of the run's dataset");
  command->add_option("--out", flags->out, "a file that ends in .npy or .csv")->required();
  command->add_option("--plot", flags->plot,
                      "a scatter plot too: a file that ends in .svg or .png");
  command->add_option("--split", flags->split, "train, test or all")
      ->check(CLI::IsMember({"train", "test", "all"}))
      ->capture_default_str();
  command
      ->add_option("--color", flags->color,
                   "colour of the plot's points: class, client or cluster; default: the first of "
                   "these that is "
                   "known")
      ->check(CLI::IsMember({"class", "client", "cluster"}));
  command->add_option("--clusters", flags->clusters, "k-means clusters, a column of the table")
      ->check(CLI::Range(1, 100000));
  command->add_flag("--force", flags->force, "replace files that are there");
}

}  // namespace kindred
