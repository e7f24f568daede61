#include "export/scatter.h"

#include <cairo-svg.h>
#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <numbers>

#include "base/error.h"

namespace kindred {
namespace {

constexpr double kSide = 640, kMargin = 24, kTop = 48, kLegend = 190;
constexpr size_t kMostNames = 28;

cairo_status_t AppendBytes(void* out, const unsigned char* data, unsigned int size) {
  auto& bytes = *static_cast<Bytes*>(out);
  bytes.insert(bytes.end(), data, data + size);
  return CAIRO_STATUS_SUCCESS;
}

// Ten colours that stay apart (after Tableau's); more groups than that take the golden ratio's
// hues.
void SetColor(cairo_t* cairo, int group, double alpha) {
  static constexpr double kColors[][3] = {
      {.30, .47, .66}, {.95, .56, .17}, {.88, .34, .35}, {.46, .72, .70}, {.35, .63, .31},
      {.93, .79, .28}, {.69, .48, .63}, {1.0, .62, .65}, {.61, .46, .37}, {.45, .45, .45}};
  if (group < 10) {
    const auto& [r, g, b] = kColors[group];
    cairo_set_source_rgba(cairo, r, g, b, alpha);
    return;
  }
  const double hue = 6 * std::fmod(group * (std::numbers::phi - 1), 1.0);
  const auto channel = [&](double shift) {
    const double at = std::fmod(hue + shift, 6.0);
    return 0.25 + 0.6 * std::clamp(std::abs(at - 3) - 1, 0.0, 1.0);
  };
  cairo_set_source_rgba(cairo, channel(0), channel(4), channel(2), alpha);
}

void DrawOn(cairo_t* cairo, const Scatter& scatter) {
  cairo_set_source_rgb(cairo, 1, 1, 1);
  cairo_paint(cairo);
  cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  const auto write = [&](double x, double y, const std::string& text) {
    cairo_set_source_rgb(cairo, 0.15, 0.15, 0.15);
    cairo_move_to(cairo, x, y);
    cairo_show_text(cairo, text.c_str());
  };
  cairo_set_font_size(cairo, 15);
  write(kMargin, 28, Printable(scatter.title));
  cairo_set_source_rgb(cairo, 0.85, 0.85, 0.85);
  cairo_rectangle(cairo, kMargin, kTop, kSide - 2 * kMargin, kSide - 2 * kMargin);
  cairo_stroke(cairo);

  const auto points = scatter.points.to(torch::kDouble).contiguous();
  const auto least = std::get<0>(points.min(0)), most = std::get<0>(points.max(0));
  const double* at = points.data_ptr<double>();
  const auto place = [&](int64_t i, int axis) {
    const double low = least[axis].item<double>(), high = most[axis].item<double>();
    return high > low ? (at[2 * i + axis] - low) / (high - low) : 0.5;
  };
  const int64_t count = points.size(0);
  const double radius = count > 5000 ? 1.5 : count > 500 ? 2.2 : 3.5;
  const double inner = kSide - 2 * kMargin - 16;
  for (int64_t i = 0; i < count; ++i) {
    SetColor(cairo, scatter.groups.empty() ? 0 : scatter.groups[static_cast<size_t>(i)], 0.65);
    cairo_arc(cairo, kMargin + 8 + inner * place(i, 0), kTop + 8 + inner * (1 - place(i, 1)),
              radius, 0, 2 * std::numbers::pi);
    cairo_fill(cairo);
  }
  cairo_set_font_size(cairo, 12);
  const size_t shown = std::min(scatter.names.size(), kMostNames);
  for (size_t g = 0; g < shown; ++g) {
    const double y = kTop + 12 + 20 * static_cast<double>(g);
    SetColor(cairo, static_cast<int>(g), 1);
    cairo_arc(cairo, kSide + 6, y - 4, 5, 0, 2 * std::numbers::pi);
    cairo_fill(cairo);
    write(kSide + 18, y, Shortened(Printable(scatter.names[g]), 24));
  }
  if (shown < scatter.names.size()) {
    write(kSide + 18, kTop + 12 + 20 * static_cast<double>(shown),
          fmt::format("and {} more", scatter.names.size() - shown));
  }
}

}  // namespace

PictureKind PictureKindOf(const std::string& name) {
  if (name.ends_with(".svg")) return PictureKind::kSvg;
  if (name.ends_with(".png")) return PictureKind::kPng;
  throw UsageError("{}: a picture's name ends in .svg or .png", Printable(name));
}

Bytes DrawScatter(const Scatter& scatter, PictureKind kind) {
  Bytes bytes;
  const double width = kSide + (scatter.names.empty() ? 0 : kLegend), height = kSide + 24;
  const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
      kind == PictureKind::kSvg
          ? cairo_svg_surface_create_for_stream(AppendBytes, &bytes, width, height)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                       static_cast<int>(height)),
      cairo_surface_destroy);
  const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(surface.get()),
                                                           cairo_destroy);
  DrawOn(cairo.get(), scatter);
  if (kind == PictureKind::kPng) {
    cairo_surface_write_to_png_stream(surface.get(), AppendBytes, &bytes);
  }
  cairo_surface_finish(surface.get());
  if (cairo_status(cairo.get()) != CAIRO_STATUS_SUCCESS || bytes.empty()) {
    throw DataError("the picture cannot be drawn: {}",
                    cairo_status_to_string(cairo_status(cairo.get())));
  }
  return bytes;
}

}  // namespace kindred
