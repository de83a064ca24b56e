/** How the report of a rehearsal looks: light or dark as the reader has it, and on paper. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1d2125; --soft: #5c646d; --line: #e3e6ea; --tint: #f6f7f9;
  --error: #b3261e; --warning: #8a5a00; --good: #1b6e3c; --note: #2f5d8a;
  --error-tint: #fdf1f0; --good-tint: #eff8f2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #e4e7ea; --soft: #98a1ab; --line: #2c3137; --tint: #1c2025;
    --error: #ff8a80; --warning: #e0b050; --good: #74c994; --note: #86b6e6;
    --error-tint: #2a1a1a; --good-tint: #16241b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.3; font-weight: 600; margin: 0 0 .8rem; overflow-wrap: anywhere; text-wrap: pretty; }
h2 { font-size: .8rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 3rem 0 .9rem; }
h3 { font-size: 1rem; font-weight: 600; line-height: 1.4; margin: 0 0 .4rem; overflow-wrap: anywhere; }
p { margin: 0 0 .6rem; overflow-wrap: anywhere; }
code, pre, .mono { font: .86em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
td.mono, td .mono { overflow-wrap: break-word; }
.soft { color: var(--soft); }
.kicker { color: var(--soft); margin: 0; }
.verdict { border-left: 4px solid var(--good); padding: .1rem 0 .1rem 1.25rem; margin-top: .9rem; }
.verdict.fails { border-color: var(--error); }
.verdict p.next { max-width: 50rem; margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; margin: 1.75rem 0 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.finding { border-top: 1px solid var(--line); padding: 1rem 0 .8rem; break-inside: avoid; }
.finding:last-child { border-bottom: 1px solid var(--line); }
.finding header { display: flex; gap: .9rem; align-items: baseline; margin-bottom: .25rem; font-size: .86rem; }
.finding .seen { color: var(--soft); margin: 0 0 .5rem; }
.finding .remedy { max-width: 50rem; }
.error { color: var(--error); } .warning { color: var(--warning); } .info { color: var(--note); } .good { color: var(--good); }
.severity { font-weight: 600; }
.rail { list-style: none; margin: 0; padding: 0 0 0 1.6rem; position: relative; }
.rail::before { content: ""; position: absolute; left: .42rem; top: .6rem; bottom: .8rem; width: 2px; background: var(--line); }
.rail > li { position: relative; padding-bottom: 1rem; break-inside: avoid; }
.rail > li::before { content: ""; position: absolute; left: -1.55rem; top: .34rem; width: .8rem; height: .8rem; border-radius: 50%;
  background: var(--paper); border: 2px solid var(--good); }
.rail > li.done::before { background: var(--good); }
.rail > li.broken::before { background: var(--error); border-color: var(--error); }
.rail > li.idle::before { border-color: var(--line); }
.rail > li.idle { color: var(--soft); }
.rail .unit { display: flex; gap: .9rem; align-items: baseline; flex-wrap: wrap; }
.rail .unit b { font-weight: 600; }
.stages { display: flex; flex-wrap: wrap; gap: .3rem; list-style: none; padding: 0; margin: .45rem 0 0; font-size: .82rem; }
.stages li { padding: .05rem .5rem; border-radius: 3px; background: var(--good-tint); color: var(--good); }
.stages li.broken { background: var(--error); color: var(--paper); font-weight: 600; }
pre { margin: .6rem 0 0; padding: .7rem .9rem; background: var(--tint); border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; font-weight: 500; color: var(--soft); padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: .34rem .9rem .34rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
tbody th { padding-top: .9rem; white-space: normal; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.mark, .whole { white-space: nowrap; }
tr { break-inside: avoid; }
details { margin-top: .8rem; }
summary { cursor: pointer; color: var(--soft); }
summary:hover { color: var(--ink); }
.life { display: inline-block; width: 7rem; height: .4rem; border-radius: 3px; background: var(--line); vertical-align: .08rem; overflow: hidden; }
.life i { display: block; height: 100%; background: var(--good); }
.life.short i { background: var(--warning); } .life.over i { background: var(--error); }
ul.plain { margin: 0; padding-left: 1.1rem; }
footer { margin-top: 3rem; color: var(--soft); font-size: .86rem; }
@media (max-width: 40rem) { main { padding: 1.5rem 1rem; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } .wide { overflow-x: auto; } }
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #ccc; --tint: #f4f4f4; --error: #a00; --warning: #740; --good: #064; --note: #036;
    --good-tint: #eef6f0; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; } h2 { margin-top: 1.6rem; break-after: avoid; }
  .rail > li::before, .stages li, .life, .life i, .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`
