// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/markup.hpp"
#include "render.hpp"

namespace dpsosp::plots {
namespace {

namespace fs = std::filesystem;

// A folder that is removed with its contents.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& parent) {
    std::string name = (parent / ".drawing.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw InputError(fmt::format(
          "{}: cannot make a folder in it ({})", parent.string(), std::strerror(errno)));
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The environment, with decimal points and a fixed time zone. Cairo 1.18 would else compress the
// date of drawing.
std::vector<std::string> drawing_environment() {
  std::vector<std::string> variables{"TZ=UTC0", "LC_ALL=C.UTF-8", "CAIRO_DEBUG_PDF=1"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("TZ=") && !text.starts_with("LC_ALL=")) variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Runs the program inside `folder`; its messages go to the file `messages` there.
// Returns the error number of the start, 0 if it ran and succeeded, -1 if it ran and failed.
int run(std::vector<std::string> command, const fs::path& folder) {
  std::vector<std::string> variables = drawing_environment();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(
      &actions, 1, (folder / "messages").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int error = ::posix_spawnp(&child,
                                   command[0].c_str(),
                                   &actions,
                                   nullptr,
                                   pointers(command).data(),
                                   pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return error;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

void replace_first(std::string& text, std::string_view from, const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Gnuplot does not report a full disk.
bool is_drawn_to_its_end(std::string_view file, std::string_view format) {
  const std::string_view end = format == "svg" ? "</svg>" : format == "pdf" ? "%%EOF" : "IEND";
  const auto place = file.rfind(end);
  return place != std::string_view::npos && file.size() - place < 16;
}

// Gnuplot's SVG contains its version, one font and no text for screen readers.
std::string described_svg(std::string svg, const Drawing& drawing) {
  replace_first(svg,
                "<title>Gnuplot</title>",
                fmt::format("<title>{}</title>", html_attribute(drawing.title)));
  if (const auto begin = svg.find("<desc>"); begin != std::string::npos) {
    const auto end = svg.find("</desc>", begin);
    svg.replace(begin + 6, end - begin - 6, html_attribute(drawing.alternative));
  }
  replace_all(svg,
              "font-family=\"DejaVu Sans\"",
              "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\"");
  return svg;
}

// The date of drawing is not part of the figure.
std::string dateless_pdf(std::string pdf) {
  constexpr std::string_view key = "/CreationDate (D:";
  constexpr std::string_view epoch = "19700101000000";
  const auto at = pdf.find(key);
  if (at != std::string::npos && at + key.size() + epoch.size() <= pdf.size())
    pdf.replace(at + key.size(), epoch.size(), epoch);
  return pdf;
}

[[noreturn]] void refuse_gnuplot(const std::string& gnuplot, int error) {
  throw InputError(fmt::format(
      "figures: cannot run {} ({}); install gnuplot 5.4 or later", gnuplot, std::strerror(error)));
}

}  // namespace

void require_gnuplot(const fs::path& folder, const std::string& gnuplot) {
  const WorkFolder work(folder);
  if (const int error = run({gnuplot, "--version"}, work.path()); error > 0)
    refuse_gnuplot(gnuplot, error);
}

std::vector<std::string> draw(const Drawing& drawing,
                              const std::vector<std::string>& formats,
                              const fs::path& folder,
                              const std::string& gnuplot) {
  ensure_writable_folder(folder);
  const WorkFolder work(folder);
  const auto drawn = [&](const std::string& ending) {
    return work.path() / fmt::format("{}.{}", drawing.id, ending);
  };
  write_file(drawn("gp"), drawing.script);
  write_file(drawn("dat"), drawing.data);
  std::vector<std::string> files;
  for (const std::string& format : formats) {
    const int error = run({gnuplot, "-d", "-c", drawing.id + ".gp", format}, work.path());
    if (error > 0) refuse_gnuplot(gnuplot, error);
    if (error < 0 || !fs::exists(drawn(format))) {
      std::string messages = read_file(work.path() / "messages");
      std::ranges::replace(messages, '\n', ' ');
      throw InputError(
          fmt::format("figure '{}': gnuplot made no {}: {}", drawing.id, format, messages));
    }
    files.push_back(read_file(drawn(format)));
    if (!is_drawn_to_its_end(files.back(), format))
      throw InputError(
          fmt::format("figure '{}': gnuplot did not write its {} to the end; is the "
                      "disk of {} full?",
                      drawing.id,
                      format,
                      folder.string()));
    if (format == "svg") files.back() = described_svg(std::move(files.back()), drawing);
    if (format == "pdf") files.back() = dateless_pdf(std::move(files.back()));
  }
  return files;
}

namespace {

Drawing drawing_of(const Figure& figure) {
  return {figure.id,
          gnuplot_script(figure),
          gnuplot_data(figure),
          figure.title,
          alternative_text(figure)};
}

}  // namespace

fs::path write_pdf(const Figure& figure, const fs::path& folder, const std::string& gnuplot) {
  const fs::path file = folder / (figure.id + ".pdf");
  write_file(file, draw(drawing_of(figure), {"pdf"}, folder, gnuplot).front());
  return file;
}

FigureFiles write_figure(const Figure& figure, const fs::path& folder, const std::string& gnuplot) {
  const Drawing drawing = drawing_of(figure);
  const auto files = draw(drawing, {"svg", "pdf", "png"}, folder, gnuplot);
  const auto target = [&](const std::string& ending) { return folder / (figure.id + ending); };
  write_file(target(".svg"), files[0]);
  write_file(target(".pdf"), files[1]);
  write_file(target(".png"), files[2]);
  write_file(target(".gp"), drawing.script);
  write_file(target(".dat"), drawing.data);
  return {target(".svg"), target(".pdf"), target(".png"), target(".gp"), target(".dat")};
}

}  // namespace dpsosp::plots
