"""The look of the HTML report: one style sheet for light and dark, screens and paper."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2128; --soft: #5b6572; --line: #e1e5ea;
  --grid: #eceff3;
  --ok: #1f883d; --ok-soft: #dcf3e2; --fail: #cf222e; --fail-soft: #fde3e4;
  --wait: #9a6700; --wait-soft: #fbefc9; --idle: #7d8894; --idle-soft: #e9ecf0; --undo: #8250df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #171c23; --ink: #e4e9ef; --soft: #97a3b0; --line: #2a313b;
    --grid: #222932;
    --ok: #3fb950; --ok-soft: #12301c; --fail: #f85149; --fail-soft: #3b1517;
    --wait: #d9a520; --wait-soft: #35290a; --idle: #6e7a87; --idle-soft: #242b34;
    --undo: #a371f7;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 2rem 1.25rem 3rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 68rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 .9rem; font-size: 1rem; }
code, .mono {
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .9em;
}
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; }
.verdict { margin: .45rem 0 1.5rem; color: var(--soft); overflow-wrap: anywhere; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.15rem 1.25rem; margin: 0 0 1.1rem;
}
.badge {
  display: inline-block; padding: .1rem .6rem; border-radius: 99px; font-size: .82rem;
  font-weight: 600; white-space: nowrap;
}
.ok { color: var(--ok); background: var(--ok-soft); }
.fail { color: var(--fail); background: var(--fail-soft); }
.wait { color: var(--wait); background: var(--wait-soft); }
.idle { color: var(--soft); background: var(--idle-soft); }
.facts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: .9rem 1.5rem; margin: 0;
}
.facts dt { color: var(--soft); font-size: .8rem; }
.facts dd { margin: 0; font-size: .875rem; overflow-wrap: anywhere; }
.failure { border-left: 4px solid var(--fail); }
.failure p { margin: 0 0 .5rem; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
.lane {
  display: grid; grid-template-columns: minmax(7rem, 14rem) 1fr; column-gap: 1rem;
  align-items: center;
}
.lane.phase { margin-top: .8rem; padding-bottom: .15rem; }
.phase-name { grid-column: 1 / -1; font-weight: 600; font-size: .9rem; }
.phase-name span { color: var(--undo); font-weight: 500; }
.step-name {
  color: var(--soft); font-size: .85rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; padding-left: .75rem;
}
.track { position: relative; height: 1.75rem; border-left: 1px solid var(--grid); }
.track .tick { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--grid); }
.bar { position: absolute; top: .4rem; height: .95rem; min-width: 4px; border-radius: 4px; }
.bar.ok { background: var(--ok); } .bar.fail { background: var(--fail); }
.bar.wait { background: var(--wait); } .bar.idle { background: var(--idle); }
.label {
  position: absolute; top: 0; line-height: 1.75rem; font-size: .78rem; color: var(--soft);
  white-space: nowrap; padding: 0 .4rem;
}
.label.within { color: var(--card); font-weight: 600; }
.axis .track { height: 1.3rem; border: 0; }
.axis .at {
  position: absolute; font-size: .74rem; color: var(--soft); transform: translateX(-50%);
  white-space: nowrap;
}
.axis .at:first-child { transform: none; }
.axis .at.last { transform: translateX(-100%); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: .8rem; }
th, td {
  padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
}
tr:last-child td { border-bottom: 0; }
td.num { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.note { overflow-wrap: anywhere; min-width: 12rem; }
footer { color: var(--soft); font-size: .8rem; }
@media (max-width: 40rem) {
  body { padding: 1.25rem .75rem 2rem; }
  .lane { grid-template-columns: 1fr; }
  .step-name { padding-left: 0; margin-top: .35rem; }
  .axis .at:first-child:nth-last-child(n+6) ~ .at:nth-child(even) { display: none; }
  .facts { grid-template-columns: 1fr 1fr; gap: .75rem 1rem; }
  .facts .wide { grid-column: 1 / -1; }
  thead { display: none; }
  tr { display: grid; grid-template-columns: 1fr auto auto; column-gap: .8rem; }
  tr { align-items: baseline; padding: .55rem 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; padding-bottom: 0; }
  td { border: 0; padding: 0; overflow-wrap: anywhere; }
  td.what, td.note { grid-column: 1 / -1; color: var(--soft); font-size: .82rem; }
  td.what { order: 1; }
  td.note { order: 2; min-width: 0; }
  td.note:empty { display: none; }
}
@media print { body { background: none; padding: 0; } .card { break-inside: avoid; } }
"""
