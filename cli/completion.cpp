// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "choices.hpp"
#include "commands.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view bash_script = R"(# Completions of dpsosp for bash.
_dpsosp() {
  local offer
  COMPREPLY=()
  while IFS= read -r offer; do
    if [ "${offer%%$'\t'*}" = :files ]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("${offer%%$'\t'*}")
    fi
  done < <("$1" help --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _dpsosp dpsosp dpsosp-neural
)";

constexpr std::string_view zsh_script = R"(#compdef dpsosp dpsosp-neural
# Completions of dpsosp for zsh.
_dpsosp() {
  local name title files=
  local -a offers
  while IFS=$'\t' read -r name title; do
    if [[ $name = :files ]]; then files=yes; else offers+=("${name//:/\\:}:$title"); fi
  done < <("$words[1]" help --complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#offers )) && _describe -t offers dpsosp offers
  [[ -n $files ]] && _files
}
if [[ $zsh_eval_context[-1] = loadautofunc ]]; then _dpsosp "$@"; else compdef _dpsosp dpsosp dpsosp-neural; fi
)";

constexpr std::string_view fish_script = R"(# Completions of dpsosp for fish.
function __dpsosp_offers
    set -l words (commandline -opc)
    for offer in ($words[1] help --complete $words[2..-1] (commandline -ct) 2>/dev/null)
        if string match -q ':files*' -- $offer
            __fish_complete_path (commandline -ct)
        else
            echo $offer
        end
    end
end
complete -c dpsosp -f -a '(__dpsosp_offers)'
complete -c dpsosp-neural -f -a '(__dpsosp_offers)'
)";

/// Those that begin with what is typed; else the only one whose last part does.
std::vector<Named> beginning_with(std::string_view typed, std::vector<Named> all) {
  std::vector<Named> found, by_last_part;
  for (Named& n : all) {
    if (n.name.starts_with(typed))
      found.push_back(std::move(n));
    else if (n.name.substr(n.name.find_last_of('/') + 1).starts_with(typed))
      by_last_part.push_back(std::move(n));
  }
  // Shells replace what is typed by what all offers begin with: several would take it away.
  return found.empty() && by_last_part.size() == 1 ? by_last_part : found;
}

std::vector<Named> offered(const Offers& offers, std::string_view typed) {
  std::vector<Named> all = offers.words;
  if (offers.names != nullptr) std::ranges::move(offers.names(), std::back_inserter(all));
  std::vector<Named> found = beginning_with(typed, std::move(all));
  if (offers.files) found.push_back({complete_files});
  return found;
}

const OptionText* option_called(const Description& d, std::string_view word) {
  if (!word.starts_with("--")) return nullptr;
  for (const OptionGroup& group : d.groups)
    for (const OptionText& option : group.options)
      if (option.name == word.substr(2)) return &option;
  return nullptr;
}

std::vector<Named> options_beginning_with(const Description& d, std::string_view typed,
                                          const std::vector<std::string>& before) {
  std::vector<Named> all;
  for (const OptionGroup& group : d.groups)
    for (const OptionText& option : group.options)
      if (option.repeatable || std::ranges::find(before, "--" + option.name) == before.end())
        all.push_back({"--" + option.name, option.meaning});
  return beginning_with(typed, std::move(all));
}

std::vector<Named> in_command(const Description& d, std::vector<std::string> before,
                              const std::string& typed) {
  const std::size_t equals = typed.find('=');
  if (typed.starts_with("--") && equals != std::string::npos) {
    const OptionText* option = option_called(d, typed.substr(0, equals));
    if (option == nullptr) return {};
    std::vector<Named> values = offered(option->offers, typed.substr(equals + 1));
    for (Named& n : values)
      if (n.name != complete_files) n.name.insert(0, typed.substr(0, equals + 1));
    return values;
  }
  if (!before.empty())
    if (const OptionText* option = option_called(d, before.back());
        option != nullptr && !option->value.empty())
      return offered(option->offers, typed);
  if (typed.starts_with('-')) return options_beginning_with(d, typed, before);
  if (d.words.empty())
    return typed.empty() ? options_beginning_with(d, typed, before) : std::vector<Named>{};
  return offered(d.word_offers, typed);
}

}  // namespace

std::vector<Named> completions(std::vector<std::string> words) {
  if (words.empty()) return {};
  std::string typed = std::exchange(words.back(), {});
  words.pop_back();
  if (words.empty()) {
    std::vector<Named> all;
    for (const Command& c : commands())
      all.push_back({c.description().name, c.description().summary});
    all.push_back({"--help", "all commands"});
    all.push_back({"--version", "the version"});
    return beginning_with(typed, std::move(all));
  }
  const auto command = std::ranges::find(commands(), words.front(),
                                         [](const Command& c) { return c.description().name; });
  if (command == commands().end()) return {};
  // bash: "--scale", "=", "sm"
  if (typed == "=") typed.clear();
  std::erase(words, "=");
  return in_command(command->description(), {words.begin() + 1, words.end()}, typed);
}

std::string completion_script(const std::string& shell) {
  return std::string(
      choose("shell", shell,
             Choices<std::string_view>{
                 {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}}));
}

}  // namespace dpsosp
