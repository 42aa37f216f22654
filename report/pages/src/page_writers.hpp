// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "dpsosp/report/model.hpp"
#include "prose.hpp"

/// A page of each kind, from its model.
namespace dpsosp::report {

std::string index_html(const IndexPage& page, const Site& site);
std::string claims_html(const ClaimsPage& page, const Site& site);
std::string claim_html(const ClaimPage& page, const Site& site);
std::string exhibit_html(const ExhibitPage& page, const Site& site);
std::string paper_html(const PaperPage& page, const Site& site);
std::string algorithm_html(const AlgorithmPage& page, const Site& site);
std::string problem_html(const ProblemPage& page, const Site& site);
std::string which_html(const WhichPage& page, const Site& site);
std::string text_html(const TextPage& page, const Site& site);
std::string algorithms_html(const Site& site);
std::string problems_html(const Site& site);

// Addresses of pages, and of drawings without their ending.
std::string drawing_of(const ClaimPage& page);
std::string drawing_of(const ExhibitPage& page, const plots::Figure& figure);
std::string address_of(const ClaimPage& page);
std::string address_of(const ExhibitPage& page);
std::string address_of(const PaperPage& page);
std::string address_of(const AlgorithmPage& page);
std::string address_of(const ProblemPage& page);
std::string address_of(const TextPage& page);

/// Headings, paragraphs, lists, tables, quotations and code of Markdown; `###` sections have their
/// first word as anchor.
Html markdown_html(std::string_view markdown, const Place& place);

/// A quotation with its formulas, LaTeX between $, as MathML.
Html quotation_html(std::string_view quotation);

}  // namespace dpsosp::report
