// SPDX-License-Identifier: Apache-2.0
#include "reports/html_parts.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::string_view kStyle = R"(
:root { --paper: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d0d7de; --card: #f6f8fa;
  --good: #1a6f37; --bad: #b3202a; --h0: #e6e9ec; --h1: #a8d3b4; --h2: #f5d37a; --h3: #f0954a;
  --h4: #d1495b; --h5: #7a1040; --on: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --quiet: #9ea7b3;
  --line: #3d444d; --card: #161b22; --good: #56d364; --bad: #ff8e85; --h0: #2a3038; --h1: #2f6f45;
  --h2: #b58a1f; --h3: #d9772b; --h4: #e0566a; --h5: #f4a3c8; --on: #0d1117; } }
@media print { :root { --paper: #ffffff; --ink: #000000; } .tools { display: none; }
  .picture { max-width: 100%; height: auto; } section, header { break-inside: avoid-page; } details > * { display: block; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main, footer { max-width: 66rem; margin: 0 auto; padding: 1rem; }
h1 { margin: 0; font-size: 1.8rem; letter-spacing: .02em; }
h2 { margin: 2rem 0 .5rem; font-size: 1.2rem; }
.card { border: 1px solid var(--line); border-left: .5rem solid var(--quiet); border-radius: .4rem;
  background: var(--card); padding: 1rem 1.2rem; }
.card.diverged { border-left-color: var(--bad); } .card.diverged h1 { color: var(--bad); }
.card.equal, .card.noise { border-left-color: var(--good); }
.card.equal h1, .card.noise h1 { color: var(--good); }
.lead { font-size: 1.15rem; margin: .2rem 0 1rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: 7rem 1fr; gap: .2rem 1rem; margin: 0 0 1rem; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--quiet); }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; white-space: nowrap; }
td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
th.n { text-align: right; }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr.first td { font-weight: 600; } tr.diverged td:nth-child(4) { color: var(--bad); font-weight: 600; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible, .scroll:focus-visible, summary:focus-visible, input:focus-visible {
  outline: 2px solid var(--ink); outline-offset: 2px; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: var(--card); border: 1px solid var(--line); padding: .6rem; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; } summary { cursor: pointer; }
li.error b { color: var(--bad); }
.scroll { overflow-x: auto; } figure { margin: 0; } figcaption, .legend, footer { color: var(--quiet); }
.picture { display: block; max-width: none; }
.picture text { font: 11px system-ui, sans-serif; fill: var(--ink); paint-order: stroke;
  stroke: var(--paper); stroke-width: 3px; }
.picture text.on { fill: var(--on); stroke: none; font-weight: 600; }
.legend span { white-space: nowrap; margin-right: 1rem; }
.key { width: .8rem; height: .8rem; margin-right: .3rem; vertical-align: -.05rem; }
.grid { stroke: var(--line); } .limit { stroke: var(--ink); stroke-dasharray: 4 3; }
.mark { stroke: var(--bad); stroke-width: 1.5; }
.h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); } .h3 { fill: var(--h3); }
.h4 { fill: var(--h4); } .h5 { fill: var(--h5); } .first { stroke: var(--ink); stroke-width: 2; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .4rem; }
  td:first-child { min-width: 9rem; } }
)";

// Nothing is said by it that the page does not say without it: rows are filtered and sorted.
constexpr std::string_view kScript = R"(
"use strict";
const table = document.getElementById("rows");
if (table) {
  const body = table.tBodies[0], rows = Array.from(body.rows);
  const filter = document.getElementById("filter"), count = document.getElementById("count");
  filter.closest("p").hidden = false;
  const show = () => {
    const words = filter.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(words);
      if (!row.hidden) shown += 1;
    }
    count.textContent = shown + " of " + rows.length + " rows";
  };
  filter.addEventListener("input", show);
  show();
  const value = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v || cell.textContent;
    const number = text === "inf" ? Infinity : text === "" ? NaN : Number(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => {
        const x = value(a, column), y = value(b, column);
        const less = typeof x === typeof y ? x < y : typeof x === "number";
        return x === y ? 0 : less === down ? 1 : -1;
      });
      body.append(...rows);
    });
  });
}
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
)";

}  // namespace

std::string_view page_style() { return kStyle; }
std::string_view page_script() { return kScript; }

}  // namespace ttcheck::reports
