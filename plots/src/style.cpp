// SPDX-License-Identifier: Apache-2.0
#include "style.hpp"

namespace dpsosp::plots {

std::string_view style_sheet() {
  return R"css(:root {
  color-scheme: light dark;
  --paper: #ffffff; --ground: #f4f5f7; --ink: #1c1f24; --soft: #59606b; --line: #d5d9e0;
  --link: #0b5cad; --stripe: #f7f8fa;
  --good: #0d6b3f; --good-ground: #e2f4ea; --caution: #7a5200; --caution-ground: #fdf0d2;
  --bad: #a3201d; --bad-ground: #fce5e3; --neutral: #444b55; --neutral-ground: #e9ebef;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #1d2127; --ground: #14171b; --ink: #e4e7ec; --soft: #a3abb8; --line: #3a414c;
    --link: #7db8f5; --stripe: #22272e;
    --good: #8fdcb1; --good-ground: #12382a; --caution: #f0c872; --caution-ground: #40310d;
    --bad: #ffaca6; --bad-ground: #4a1b19; --neutral: #c5cbd5; --neutral-ground: #323842;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "DejaVu Sans", Arial, sans-serif;
}
main, header, footer { max-width: 100rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
footer { padding: 1.5rem 1.25rem 3rem; color: var(--soft); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; font-size: .95rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: .6rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1.05rem; line-height: 1.35; margin: 0; }
p { margin: .5rem 0; max-width: 48rem; }
a { color: var(--link); }
a:focus-visible, .scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.paper { color: var(--soft); margin: 0; }
.label {
  display: inline-block; padding: 0 .5em; border-radius: .7em; font-size: .85em; font-weight: 600;
  line-height: 1.6; color: var(--neutral); background: var(--neutral-ground);
}
.label.good { color: var(--good); background: var(--good-ground); }
.label.caution { color: var(--caution); background: var(--caution-ground); }
.label.bad { color: var(--bad); background: var(--bad-ground); }
.verdict .label { font-size: 1rem; padding: .15em .7em; }
.cards {
  list-style: none; margin: 0; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr));
}
.cards li {
  background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem;
  display: flex; flex-direction: column; gap: .6rem;
}
.cards img { margin-top: auto; }
img { display: block; max-width: 100%; height: auto; background: #ffffff; border-radius: .25rem; }
figure {
  margin: 0 0 1.5rem; padding: 1rem; background: var(--paper);
  border: 1px solid var(--line); border-radius: .5rem;
}
figcaption { margin-top: .6rem; }
figcaption p { margin: .25rem 0; }
.zoom { display: block; cursor: zoom-in; max-width: 80rem; margin: 0 auto; }
.zoom img { margin: 0 auto; }
.files { display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-size: .9rem; margin: .6rem 0 0; color: var(--soft); }
.notes { font-size: .9rem; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8125rem; line-height: 1.35; }
caption { text-align: left; padding-bottom: .7rem; font-size: 1rem; line-height: 1.5; }
caption span {
  display: inline-block; position: sticky; left: 0; max-width: min(60rem, calc(100vw - 5rem));
}
sub, sup { line-height: 0; }
th, td { padding: .4rem .5rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid var(--line); vertical-align: bottom; }
thead th[scope="colgroup"] { text-align: center; }
thead tr:last-child th { border-bottom: 2px solid var(--soft); }
thead th[rowspan] { border-bottom: 2px solid var(--soft); }
tbody th { font-weight: 600; white-space: nowrap; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody + tbody { border-top: 2px solid var(--soft); }
tbody tr:nth-child(even) > * { background: var(--stripe); }
tr.group th { font-weight: 400; font-style: italic; color: var(--soft); }
td.numeric, th.numeric { text-align: right; font-variant-numeric: tabular-nums; }
.number, .median, .range { white-space: nowrap; }
.range { display: block; font-size: .85em; color: var(--soft); }
.failed { display: block; font-size: .85em; color: var(--bad); }
.mark { color: var(--soft); padding-left: .15em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .5rem; } }
@media (min-width: 60rem) {
  tbody th, thead tr:first-child th:first-child { position: sticky; left: 0; background: var(--paper); }
}
@media print {
  @page { size: A4 landscape; margin: 12mm; }
  :root {
    --paper: #ffffff; --ground: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb;
    --stripe: #ffffff; --link: #000000;
  }
  html { font-size: 9.5pt; }
  main, header, footer { max-width: none; padding: 0; }
  nav, .files { display: none; }
  figure { border: 0; padding: 0; break-inside: avoid; }
  figure.table { break-inside: auto; }
  tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 7pt; }
  th, td { padding: 1.5pt 3pt; }
  h2, h3 { break-after: avoid; }
}
)css";
}

}  // namespace dpsosp::plots
