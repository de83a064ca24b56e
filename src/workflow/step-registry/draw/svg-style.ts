/** Light or dark as the reader has it. Everything is under one class: the SVG may stand in a page. */
export const svgStyle = `
.sallyport-graph { --paper: #ffffff; --ink: #1d2125; --soft: #5c646d; --line: #c3c9d0; --box: rgb(255 255 255 / .55); --step: #ffffff;
  --good: #1b6e3c; --bad: #b3261e; --busy: #1f5fa8;
  --c0: #2a66b0; --t0: #edf3fb; --c1: #7448a8; --t1: #f4effa; --c2: #9a5b10; --t2: #fbf3e8; --c3: #12736b; --t3: #e8f6f4; --c4: #a03a63; --t4: #fbeef3; }
@media (prefers-color-scheme: dark) {
  .sallyport-graph { --paper: #15181c; --ink: #e4e7ea; --soft: #98a1ab; --line: #444c55; --box: rgb(255 255 255 / .035); --step: #1d2126;
    --good: #74c994; --bad: #ff8a80; --busy: #86b6e6;
    --c0: #79aeea; --t0: #182230; --c1: #b795e6; --t1: #211b2d; --c2: #dda95a; --t2: #2a2217; --c3: #62c4b8; --t3: #142624; --c4: #e88fb2; --t4: #2b1a22; }
}
.sallyport-graph { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace; }
.sallyport-graph .paper { fill: var(--paper); }
.sallyport-graph text { fill: var(--ink); white-space: pre; }
.sallyport-graph .heading { font-weight: 600; }
.sallyport-graph .p0 { --c: var(--c0); --t: var(--t0); }
.sallyport-graph .p1 { --c: var(--c1); --t: var(--t1); }
.sallyport-graph .p2 { --c: var(--c2); --t: var(--t2); }
.sallyport-graph .p3 { --c: var(--c3); --t: var(--t3); }
.sallyport-graph .p4 { --c: var(--c4); --t: var(--t4); }
.sallyport-graph .phase > rect { fill: var(--t); stroke: var(--c); stroke-opacity: .35; }
.sallyport-graph .phase > .label { fill: var(--c); font-weight: 600; }
.sallyport-graph .beside > rect { fill-opacity: .45; stroke-dasharray: 5 4; stroke-opacity: .6; }
.sallyport-graph .group > rect { fill: var(--box); stroke: var(--c); stroke-opacity: .4; }
.sallyport-graph .group > .label { fill: var(--soft); }
.sallyport-graph .step > rect { fill: var(--step); stroke: var(--line); }
.sallyport-graph .step > .bar { fill: var(--c); stroke: none; }
.sallyport-graph .blank > rect { fill: none; stroke-dasharray: 3 3; }
.sallyport-graph .blank text, .sallyport-graph .note, .sallyport-graph .skipped text { fill: var(--soft); }
.sallyport-graph .arrow { stroke: var(--soft); fill: none; stroke-width: 1.3; }
.sallyport-graph .head { fill: var(--soft); }
.sallyport-graph .mark { fill: none; stroke: var(--soft); stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
.sallyport-graph .running > rect:first-of-type { stroke: var(--busy); stroke-width: 2; }
.sallyport-graph .running .mark { stroke: var(--busy); }
.sallyport-graph .succeeded .mark { stroke: var(--good); }
.sallyport-graph .failed > rect:first-of-type { stroke: var(--bad); stroke-width: 2; }
.sallyport-graph .failed .mark { stroke: var(--bad); }
.sallyport-graph .failed text { font-weight: 600; }
.sallyport-graph .step:hover > rect:first-of-type { stroke: var(--c); }
`
