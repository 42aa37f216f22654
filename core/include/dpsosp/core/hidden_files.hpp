// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dpsosp {

/// Notes a file that holds records, or secrets of the noise: from now on no program of a guest is
/// started that could read it.
void hide_from_guests(const std::filesystem::path& file);

/// A hidden file that is one of these files or lies below one of these folders; empty: none. Links
/// are followed.
std::string hidden_among(const std::vector<std::string>& readable);

}  // namespace dpsosp
