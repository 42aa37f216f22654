// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/members.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/report/model.hpp"

/// The members of the models and the words of their enumerations, as their JSON names them.
namespace dpsosp::plots {

constexpr auto words_of(Scale) {
  using enum Scale;
  return word_list<Scale>("scale", {{linear, "linear"}, {log, "log"}});
}
constexpr auto words_of(Direction) {
  using enum Direction;
  return word_list<Direction>("direction", {{horizontal, "horizontal"}, {vertical, "vertical"}});
}
constexpr auto words_of(Tone) {
  using enum Tone;
  return word_list<Tone>(
      "tone", {{neutral, "neutral"}, {good, "good"}, {caution, "caution"}, {bad, "bad"}});
}

DPSOSP_MEMBERS(NumberFormat, digits, scientific);
DPSOSP_MEMBERS(Number, value, format);
DPSOSP_MEMBERS(Spread, median, low, high, count, failed, failure, format);
DPSOSP_MEMBERS(Label, text, tone);
DPSOSP_MEMBERS(Cell, content, strong, labels, footnotes);
DPSOSP_MEMBERS(ColumnGroup, label, columns);
DPSOSP_MEMBERS(Row, label, cells, footnotes);
DPSOSP_MEMBERS(RowGroup, label, rows);
DPSOSP_MEMBERS(Table, id, title, caption, row_header, column_groups, row_groups, footnotes, notes,
               sweep);
DPSOSP_MEMBERS(Axis, label, scale, range);
DPSOSP_MEMBERS(Series, label, style, dashed, algorithm, x, y, low, high);
DPSOSP_MEMBERS(Marker, label, style, x, y);
DPSOSP_MEMBERS(ReferenceLine, label, direction, value);
DPSOSP_MEMBERS(Origin, sweep, part, metric);
DPSOSP_MEMBERS(Panel, title, origin, x, y, series, markers, lines);
DPSOSP_MEMBERS(Figure, id, title, caption, alternative, panels, columns);

}  // namespace dpsosp::plots
namespace dpsosp::report {

DPSOSP_MEMBERS(Rate, claim, axis, claimed_low, claimed_high, zone_low, zone_high, value, low, high,
               plan, drift, drifting, in_noise, metric, word, verdict, bound, reason, seeds, cells,
               privacy, algorithm, problem, sweep, part, arm);
DPSOSP_MEMBERS(ForestRow, claim, method, algorithm, paper, word, rates, also);
DPSOSP_MEMBERS(ForestGroup, paper, quantity, printed, rows);
DPSOSP_MEMBERS(Highlight, sentence, page, command, claims, intervals, panel);
DPSOSP_MEMBERS(WordCounts, paper, name, counts, all);
DPSOSP_MEMBERS(Missing, what, why, command, page);
DPSOSP_MEMBERS(ExhibitCard, id, paper, title, verdict, page);
DPSOSP_MEMBERS(ClaimLine, id, paper, place, of, reading, measured, word, evidence);
DPSOSP_MEMBERS(IndexPage, title, lead, warning, rule, highlights, words, others, forest, missing,
               not_private, exhibits);
DPSOSP_MEMBERS(ClaimsPage, claims);
DPSOSP_MEMBERS(Command, what, command);
DPSOSP_MEMBERS(ExhibitPage, id, folder, paper, paper_key, title, finding, notice, summary, paper_says, algorithms,
               differences, figures, tables, details, rates, forest, claims, commands, files);
DPSOSP_MEMBERS(ClaimPage, id, paper, place, word, verdict, evidence, runs, printed, formulas, no_quotation,
               hypotheses, reading, ambiguity, measure, expected, holds_if, instead, measured,
               reason, reference, stands, change, objection, answer, changed, open, rates, notes,
               figure, commands, exhibits, algorithms, problems, previous, next);
DPSOSP_MEMBERS(Fact, name, text);
DPSOSP_MEMBERS(LeagueRank, board, d, rank, of, score, frequency, word, all);
DPSOSP_MEMBERS(LedgerLine, query, count, event, records, sensitivity);
DPSOSP_MEMBERS(ShownRun, command, setting, guarantee, spent, accountant, ledger, parameters,
               trace);
DPSOSP_MEMBERS(PseudoCode, heading, source, lines);
DPSOSP_MEMBERS(AlgorithmPage, key, title, paper, claim, bibtex, pseudocode, card, settings, rows, ranks, run,
               audit, exhibits, commands);
DPSOSP_MEMBERS(ConstantLine, symbol, name, value, bound, where, why);
DPSOSP_MEMBERS(Picture::Point, kind, x, y);
DPSOSP_MEMBERS(Picture, caption, x_label, y_label, x_low, x_high, y_low, y_high, bands, points);
DPSOSP_MEMBERS(ProblemPage, name, group, summary, formula, source, critical_points, size, missing,
               constants, settings, picture, algorithms, sweeps);
DPSOSP_MEMBERS(PaperPage, key, name, words, forest, refuted, untested, claims, exhibits, algorithms,
               errata);
DPSOSP_MEMBERS(LeagueCell::Level, algorithm, median, low, high, instances, settings);
DPSOSP_MEMBERS(LeagueCell, group, title, n, d, epsilon, start, floor, levels);
DPSOSP_MEMBERS(LeagueControl, group, algorithm, n, epsilon, as_run, no_noise, no_data, start);
DPSOSP_MEMBERS(WhichPage, n, d, epsilon, start, warning, shares, levels, standings, cells, nearest, controls,
               can, cannot, groups);
DPSOSP_MEMBERS(TextPage::Section, id, heading, paragraphs, facts, intervals, tables, commands,
               links, markdown, formulas);
DPSOSP_MEMBERS(TextPage, id, title, lead, sections);
DPSOSP_MEMBERS(AlgorithmLine, key, title, word, guarantee, claim, privacy, ranks);
DPSOSP_MEMBERS(AlgorithmsPage, algorithms);
DPSOSP_MEMBERS(ProblemLine, name, group, summary, algorithms);
DPSOSP_MEMBERS(ProblemsPage, problems);
DPSOSP_MEMBERS(PageEntry, address, kind);
DPSOSP_MEMBERS(SiteFile, scale, version, methods, addresses, drawn, pages);

}  // namespace dpsosp::report
