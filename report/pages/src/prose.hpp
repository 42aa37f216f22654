// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/report/model.hpp"
#include "html.hpp"

/// What every page is written with.
namespace dpsosp::report {

/// A page's place in the report.
struct Place {
  const Site& site;
  std::string here;  ///< address of the page: "claims/lowy-2024-c1.html"

  /// An address of the report as seen from here; "" of "".
  std::string link(std::string_view address) const;
  /// Of what a text may name; "" if it has no page.
  std::string address_of(std::string_view name) const;
  /// Of a claim, which an exhibit may share its id with.
  std::string address_of_claim(std::string_view id) const;
};

/// A text with its scripts, code, and a link wherever it names what has a page.
Html prose(std::string_view markup, const Place& place);
/// The same without links.
Html plain(std::string_view markup);
/// A paragraph; nothing for an empty text.
Html paragraph(std::string_view markup, const Place& place, std::string_view type = {});
Html paragraphs(const std::vector<std::string>& texts, const Place& place);
/// Links to what has these names, after each other.
Html links(const std::vector<std::string>& names, const Place& place);
Html link_to(std::string_view address, std::string_view label, const Place& place);
/// The name as a link where it has a page; a method with its colour.
Html named(std::string_view name, const Place& place);
/// The id of a claim as a link to it.
Html claim_link(std::string_view id, const Place& place);

/// "slip" of "slip", "bound" of "bound met, exponent open"; empty of what is no headline word.
std::string_view word_class(std::string_view word);
std::string_view short_word(std::string_view word);
/// The worst of words; empty of none.
std::string_view worst_word(const std::vector<std::string_view>& words);
Html word_mark(std::string_view word);  ///< an SVG of 12 by 12
Html word_label(std::string_view word, bool whole = false);
const std::vector<std::string_view>& headline_words();

/// Colours of methods are classes: "c3 m1".
struct Look {
  int colour = 0;  ///< 0: grey
  int shape = 0;   ///< circle, square, diamond, triangle
};
Look look_of(std::string_view algorithm, const Site& site);
std::string colour_class(const Look& look);

std::string signed_number(double value, int digits = 3);  ///< "−0.674"
std::string exponent(double value);                       ///< "−2/3", or with three digits
std::string claimed_text(const Rate& rate);               ///< "−2/3", "−4/3 to −1", "–"
std::string interval_text(double low, double high);       ///< "[−0.678, −0.672]"
/// "exponent in n: claimed −2/3, measured −0.674 [−0.678, −0.672]"
std::string rate_text(const Rate& rate);
std::string short_number(double value);  ///< "0.0012", "3.2·10⁵"
std::string power_of_ten(int exponent);  ///< "10⁵"

Html command_box(std::string_view command);
Html heading(int level, std::string_view title, std::string_view id);
Html fold(std::string_view title, std::string_view remark, const Html& content);

/// A whole page. \param section  of the navigation: "Claims"
std::string page(const Place& place,
                 std::string_view section,
                 std::string_view title,
                 const Html& body);

}  // namespace dpsosp::report
