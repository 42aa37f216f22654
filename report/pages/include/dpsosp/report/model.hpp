// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/plots/exhibit.hpp"

/// What the pages of a report show, as data. dpsosp.report makes a page from its model, which is
/// written beside it as JSON; their schema is models.json. Texts use the markup
/// of plots/markup.hpp, and `code`.
namespace dpsosp::report {

/// A claimed exponent and the slope that was measured for it. Where none is claimed, its range and
/// zone are NaN.
struct Rate {
  std::string claim{};
  std::string axis{};  ///< "n", "d" or "ε"; a setting's name where it stands for one
  double claimed_low = 0;
  double claimed_high = 0;
  double zone_low = 0;
  double zone_high = 0;
  std::optional<double> value{};  ///< none: no slope was fitted
  double low = 0;                 ///< 95 % interval
  double high = 0;
  std::optional<double> plan{};  ///< slope of the accuracy that the schedules solved for
  double drift = 0;
  bool drifting = false;
  bool in_noise = false;  ///< the axis is √ρ(ε, δ)
  std::string metric{};
  std::string word{};     ///< the headline: "confirmed"
  std::string verdict{};  ///< of the exponent: "as claimed"
  std::string bound{};    ///< of the bound: "below the promise"
  std::string reason{};
  int seeds = 0;
  int cells = 0;
  std::vector<std::string> privacy{};
  std::string algorithm{};
  std::string problem{};
  std::string sweep{};
  std::string part{};
  std::string arm{};
};

/// Whether an exponent is claimed for it.
inline bool is_claimed(const Rate& rate) { return !std::isnan(rate.claimed_high); }

/// A method on one statement: a row of the forest plot.
struct ForestRow {
  std::string claim{};
  std::string method{};
  std::string algorithm{};
  std::string paper{};
  std::string word{};
  std::vector<Rate> rates{};        ///< at most one an axis
  std::vector<std::string> also{};  ///< claims of other papers that the same slopes answer
};

/// The worst of headline words; empty of none.
std::string worst_word(const std::vector<std::string>& words);

/// An id as the name of a file: "lowy-2024-c1".
std::string file_name(std::string id);

/// Rows of one paper that speak of the same quantity.
struct ForestGroup {
  std::string paper{};
  std::string quantity{};  ///< "first order, empirical"
  bool printed = true;     ///< whether the paper itself states the rates
  std::vector<ForestRow> rows{};
};

/// What was found, in a sentence, with a figure and a command.
struct Highlight {
  std::string sentence{};
  std::string page{};  ///< address of what it rests on
  std::string command{};
  std::vector<std::string> claims{};
  std::vector<Rate> intervals{};        ///< drawn as measured minus claimed, or
  std::optional<plots::Panel> panel{};  ///< a panel of an exhibit
};

/// Numbers of claims by headline word.
struct WordCounts {
  std::string paper{};  ///< key
  std::string name{};   ///< "Xu, Tao, Ding, Fan, Wang 2026"
  std::map<std::string, int> counts{};
  int all = 0;
};

/// A statement that something is missing, and the command that brings it.
struct Missing {
  std::string what{};
  std::string why{};
  std::string command{};
  std::string page{};
};

struct ExhibitCard {
  std::string id{};  ///< "xu-2026/table-1"
  std::string paper{};
  std::string title{};
  std::string verdict{};
  std::string page{};
};

struct ClaimLine {
  std::string id{};
  std::string paper{};
  std::string place{};
  std::string of{};
  std::string reading{};
  std::string measured{};
  std::string word{};
  std::string evidence{};
};

struct IndexPage {
  std::string title{};
  std::string lead{};
  std::string warning{};  ///< what makes the numbers worthless, if anything
  std::string rule{};     ///< by which highlights are chosen
  std::vector<Highlight> highlights{};
  std::vector<WordCounts> words{};  ///< of what the papers print; the last row is of all papers
  std::vector<WordCounts> others{};
  std::vector<ForestGroup> forest{};
  std::vector<Missing> missing{};
  std::vector<std::string> not_private{};
  std::vector<ExhibitCard> exhibits{};
};

/// The list of all claims.
struct ClaimsPage {
  std::vector<ClaimLine> claims{};
};

struct Command {
  std::string what{};
  std::string command{};
};

struct ExhibitPage {
  std::string id{};
  std::string folder{};
  std::string paper{};
  std::string paper_key{};
  std::string title{};    ///< "xu-2026, Table 1"
  std::string finding{};  ///< the verdict, one line
  std::vector<std::string> notice{};
  std::vector<std::string> summary{};  ///< in short, where the runs bear it out
  std::vector<std::string> paper_says{};
  std::vector<std::string> differences{};
  std::vector<plots::Figure> figures{};
  std::vector<plots::Table> tables{};   ///< shown
  std::vector<plots::Table> details{};  ///< folded
  std::vector<Rate> rates{};
  std::vector<ForestGroup> forest{};      ///< of its paper's statements, where it has several
  std::vector<std::string> claims{};      ///< that its runs answer
  std::vector<std::string> algorithms{};  ///< that its runs run
  std::vector<Command> commands{};
  std::vector<std::pair<std::string, std::string>> files{};  ///< label, name
};

struct ClaimPage {
  std::string id{};
  std::string paper{};
  std::string place{};
  std::string word{};
  std::string verdict{};
  std::string evidence{};
  std::string runs{};     ///< sizes and budgets of those that it rests on
  std::string printed{};  ///< the paper's words; formulas in LaTeX between $
  std::map<std::string, std::string> formulas{};  ///< these as MathML, by their LaTeX
  std::string no_quotation{};                     ///< why there are none
  std::string hypotheses{};
  std::string reading{};
  std::string ambiguity{};
  std::string measure{};
  std::string expected{};
  std::string holds_if{};
  std::string instead{};
  std::string measured{};
  std::string reason{};
  std::string reference{};
  std::string stands{};
  std::string change{};
  std::string objection{};
  std::string answer{};
  std::string changed{};
  std::string open{};
  std::vector<Rate> rates{};
  std::vector<std::string> notes{};  ///< why a range is what it is
  std::optional<plots::Figure> figure{};
  std::vector<Command> commands{};
  std::vector<std::string> exhibits{};
  std::vector<std::string> algorithms{};
  std::vector<std::string> problems{};
  std::string previous{};
  std::string next{};
};

struct Fact {
  std::string name{};
  std::string text{};
};

/// Where an algorithm stands among those that are tuned alike.
struct LeagueRank {
  std::string board{};  ///< "league/tuned"
  int d = 0;
  int rank = 0;
  int of = 0;
  double score = 0;                                   ///< share of targets reached
  double frequency = 0;                               ///< of the first group
  std::string word{};                                 ///< first group, undecided or behind
  std::vector<std::pair<std::string, double>> all{};  ///< scores of everybody
};

struct LedgerLine {
  std::string query{};
  double count = 0;
  std::string event{};
  std::string records{};
  double sensitivity = 0;
};

/// One stored run of an algorithm.
struct ShownRun {
  std::string command{};
  std::string setting{};  ///< "ripple-location, n = 10000, d = 16, ε = 1, δ = 1e-6"
  double guarantee = 0;
  double spent = 0;
  std::string accountant{};
  std::vector<LedgerLine> ledger{};
  std::vector<Fact> parameters{};
  std::optional<plots::Figure> trace{};  ///< gradient norm and level against the step
};

/// A block of numbered lines.
struct PseudoCode {
  std::string heading{};  ///< "2.1 Algorithm 1: DP-SPIDER"
  std::string source{};   ///< the page that has it
  std::vector<std::string> lines{};
};

struct AlgorithmPage {
  std::string key{};
  std::string title{};
  std::string paper{};
  std::string claim{};  ///< what is claimed for it, in symbols
  std::string bibtex{};
  std::vector<PseudoCode> pseudocode{};
  std::vector<Fact> card{};
  std::vector<Fact> settings{};  ///< name, meaning and default
  std::vector<ForestRow> rows{};
  std::vector<LeagueRank> ranks{};
  std::optional<ShownRun> run{};
  std::vector<Fact> audit{};
  std::vector<std::string> exhibits{};
  std::vector<Command> commands{};
};

struct ConstantLine {
  std::string symbol{};
  std::string name{};
  double value = 0;
  std::string bound{};
  std::string where{};
  std::string why{};
};

/// Values on a grid in a plane, as numbers of quantile bands, lowest first.
struct Picture {
  std::string caption{};
  std::string x_label{};
  std::string y_label{};
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  std::vector<std::vector<int>> bands{};  ///< rows from y_low up
  struct Point {
    std::string kind{};
    double x = 0, y = 0;
  };
  std::vector<Point> points{};
};

struct ProblemPage {
  std::string name{};
  std::string group{};
  std::string summary{};
  std::string formula{};
  std::string source{};
  std::string critical_points{};
  std::string size{};     ///< empty where it comes from data that are missing
  std::string missing{};  ///< data that this machine lacks
  std::vector<ConstantLine> constants{};
  std::vector<Fact> settings{};
  std::optional<Picture> picture{};
  std::vector<std::string> algorithms{};  ///< that have stored runs on it here
  std::vector<std::string> sweeps{};
};

/// What a paper claims and what was found.
struct PaperPage {
  std::string key{};
  std::string name{};
  WordCounts words{};
  std::vector<ForestGroup> forest{};
  std::vector<ClaimLine> refuted{};   ///< and slips
  std::vector<ClaimLine> untested{};  ///< open ones
  std::vector<ClaimLine> claims{};    ///< all others
  std::vector<ExhibitCard> exhibits{};
  std::vector<std::string> algorithms{};
  std::string errata{};  ///< address
};

/// Instances of a group at one n, d and ε.
struct LeagueCell {
  std::string group{};
  std::string title{};
  double n = 0;
  double d = 0;
  double epsilon = 0;
  double start = 0;  ///< median
  double floor = 0;  ///< length of the noise of one gradient that has all the budget
  struct Level {
    std::string algorithm{};
    double median = 0, low = 0, high = 0;  ///< over instances; none above the start
    int instances = 0;
    std::string settings{};  ///< that were chosen
  };
  std::vector<Level> levels{};  ///< the best first
};

struct LeagueControl {
  std::string group{};
  std::string algorithm{};
  double n = 0, epsilon = 0;
  double as_run = 0, no_noise = 0, no_data = 0, start = 0;
};

/// What the league says to a question: shares of targets, standings, and the nearest cells.
struct WhichPage {
  double n = 0, d = 0, epsilon = 0;
  std::string start{};
  std::string warning{};
  std::optional<plots::Figure> shares{};
  std::optional<plots::Figure> levels{};
  std::vector<plots::Table> standings{};  ///< one a dimension
  std::vector<LeagueCell> cells{};        ///< all
  std::vector<std::size_t> nearest{};
  std::vector<LeagueControl> controls{};
  std::vector<std::string> can{};
  std::vector<std::string> cannot{};
  std::vector<Fact> groups{};  ///< id and title
};

/// A page of headings, paragraphs and tables.
struct TextPage {
  std::string id{};  ///< file stem
  std::string title{};
  std::string lead{};
  struct Section {
    std::string id{};
    std::string heading{};
    std::vector<std::string> paragraphs{};
    std::vector<Fact> facts{};
    std::vector<Rate> intervals{};  ///< drawn as measured minus claimed
    std::vector<plots::Table> tables{};
    std::vector<Command> commands{};
    std::vector<std::pair<std::string, std::string>> links{};  ///< text, address
    std::string markdown{};
    std::map<std::string, std::string> formulas{};  ///< of its quotations, as in a claim
  };
  std::vector<Section> sections{};
};

struct AlgorithmLine {
  std::string key{};
  std::string title{};
  std::string word{};  ///< the worst of its exponents
  std::string guarantee{};
  std::string claim{};
  std::string privacy{};
  std::string ranks{};  ///< "escape 1, benign 2"
};

/// The list of all algorithms.
struct AlgorithmsPage {
  std::vector<AlgorithmLine> algorithms{};
};

struct ProblemLine {
  std::string name{};
  std::string group{};
  std::string summary{};
  int algorithms = 0;  ///< that have runs on it
};

/// The list of all problems.
struct ProblemsPage {
  std::vector<ProblemLine> problems{};
};

struct Method {
  std::string key{};
  std::string title{};
};

/// A whole report.
struct Site {
  std::string scale{};
  std::string version{};
  std::vector<Method> methods{};  ///< all algorithms, in the registry's order: they have colours
  std::map<std::string, std::string> addresses{};  ///< of what a text may name
  IndexPage index{};
  ClaimsPage claim_list{};
  std::vector<ClaimPage> claims{};
  std::vector<ExhibitPage> exhibits{};
  std::vector<PaperPage> papers{};
  std::vector<AlgorithmPage> algorithms{};
  std::vector<ProblemPage> problems{};
  std::optional<WhichPage> which{};
  std::vector<TextPage> texts{};
};

struct PageEntry {
  std::string address{};  ///< "claims/lowy-2024-c1.html"
  std::string kind{};     ///< of its model: "ClaimPage"
};

/// What the pages of a report have in common: site.json.
struct SiteFile {
  std::string scale{};
  std::string version{};
  std::vector<std::string> methods{};  ///< whose places are their colours
  std::map<std::string, std::string> addresses{};
  std::map<std::string, std::string> drawn{};  ///< files of figures, equal ones in one place
  std::vector<PageEntry> pages{};              ///< in the order in which the search lists them
};

}  // namespace dpsosp::report
