// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Programs with a card in TOML are algorithms like any other; docs/isolation.md describes the
/// card.
namespace dpsosp {

/// Reads a card, unless it was read before, and registers its program. To be called before any
/// thread looks at the registry.
/// \return its key \throws InputError "CARD:LINE: ..." for anything unknown, missing or out of
/// range
std::string register_program(const std::filesystem::path& card);

/// Registers the cards that the environment variable DPSOSP_PROGRAMS lists, separated by colons:
/// files, or folders, of which every *.toml is read. \throws InputError
void register_listed_programs();

/// The cards of those of these algorithms that are programs, as absolute paths.
std::vector<std::filesystem::path> cards_of(const std::set<std::string>& algorithms);

/// Hides from guests what dpsosp writes into a folder of outputs: the secret of programs' noise,
/// the store, plans and journals, whose descriptions have secret and seeds, and pages, whose
/// numbers are computed from records. For a folder of which it is not yet known whether cards lie
/// in it.
void hide_runs_of(const std::filesystem::path& folder);
/// Hides all of a folder of outputs; where the card of a registered program lies in it, what
/// hide_runs_of hides.
void hide_outputs(const std::filesystem::path& folder);

/// From now on, files that this process makes are for their owner alone: they hold the secret.
void keep_to_owner();

/// Where a program is registered: hides the runs of the folder, and sets the secret that the folder
/// keeps for the noise of programs (set_program_secret), in FOLDER/programs.secret.
/// \param draw  draw one where the folder has none
/// \throws InputError where it cannot be read or written
void use_program_secret_of(const std::filesystem::path& folder, bool draw);

/// True if a word where the key of an algorithm may stand is the path of a card: it ends in .toml.
bool is_card(std::string_view word);

/// The card in the current folder that a word stands for which is no path: it is called so, or its
/// key is or ends so, in whatever case. Empty: none.
std::string card_meant_by(std::string_view word);

}  // namespace dpsosp
