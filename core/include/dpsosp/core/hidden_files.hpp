// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dpsosp {

/// Notes a file, or a folder with all in it, that holds records, results or secrets of the noise:
/// from now on no program of a guest is started that could read it.
void hide_from_guests(const std::filesystem::path& path);

/// A hidden file that is, holds or lies in one of these files and folders; empty: none. Links
/// are followed.
std::string hidden_among(const std::vector<std::string>& readable);

}  // namespace dpsosp
