// How the inspector looks: light or dark as the visitor has it, in one, two or three columns.

const STYLES = `
:host {
  color-scheme: light dark;
  --paper: light-dark(#f6f6f4, #15171a);
  --surface: light-dark(#ffffff, #1c1f23);
  --line: light-dark(#dddcd8, #363b41);
  --text: light-dark(#1f252a, #e8e6e1);
  --muted: light-dark(#5d646a, #a7adb2);
  --accent: light-dark(#1f5f8b, #8cc4ec);
  --on-accent: light-dark(#ffffff, #0d2233);
  --tint: light-dark(#e3eff8, #1f3343);
  --hover: light-dark(#f1f1ee, #24282d);
  --danger: light-dark(#a8322a, #f49a8f);
  --danger-tint: light-dark(#fdecea, #3a2220);
  --added: light-dark(#e7f4ea, #1c3324);
  --mark: light-dark(#fff0b8, #574a16);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace;
  display: block;
  height: 36rem;
  min-height: 20rem;
  color: var(--text);
  font: 15px / 1.5 ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif;
}
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
h2, h3, p, dl, dd, ol, ul, figure { margin: 0; padding: 0; }
h2 { font-size: 15px; font-weight: 600; }
h3 { font-size: 15px; font-weight: 600; overflow-wrap: anywhere; }
ul, ol { list-style: none; }
small, .note, .count, .path { color: var(--muted); font-size: 13px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible { outline-offset: 1px; }

.inspector {
  container-type: inline-size;
  display: flex;
  flex-direction: column;
  height: 100%;
  overflow: hidden;
  border: 1px solid var(--line);
  border-radius: 10px;
  background: var(--paper);
}
.tabs { display: flex; flex: none; gap: 2px; overflow-x: auto; padding: 6px 8px 0; border-bottom: 1px solid var(--line); }
.tabs button {
  border: 0;
  border-radius: 8px 8px 0 0;
  border-bottom: 2px solid transparent;
  background: none;
  color: var(--muted);
  padding: 8px 14px;
}
.tabs button[aria-selected="true"] { border-bottom-color: var(--accent); color: var(--text); font-weight: 600; }
.panel { flex: 1; min-height: 0; }

.barred { display: flex; flex-direction: column; height: 100%; }
.barred > .panes { flex: 1; min-height: 0; }
.bar { display: flex; order: -1; flex: none; flex-wrap: wrap; align-items: center; gap: 6px 10px; padding: 6px 14px; border-bottom: 1px solid var(--line); font-size: 13px; }
.bar input { width: auto; padding: 3px 8px; }
.bar button { padding: 3px 10px; }
.bar details { flex: 1; min-width: 0; }
.bar details[open] { flex-basis: 100%; }
.bar details[open] summary { margin-bottom: 8px; }
.filter { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); align-items: end; gap: 8px 12px; }
.filter input:not([type="checkbox"]), .filter select { width: 100%; }
.check { display: flex; align-items: center; gap: 8px; min-height: 32px; }
.check input { width: auto; }
.rule { align-items: center; }
.rule .note { margin: 0; }
meter { display: block; width: min(100%, 20rem); height: 12px; margin-top: 2px; }
.refused { color: var(--danger); }

.panes { display: grid; grid-template-columns: minmax(0, 1fr); height: 100%; }
.pane { display: flex; flex-direction: column; min-width: 0; min-height: 0; background: var(--surface); }
.pane > header { display: flex; flex: none; align-items: center; gap: 8px; min-height: 44px; padding: 6px 14px; border-bottom: 1px solid var(--line); }
.pane > header .count { flex: 1; min-width: 0; overflow: hidden; text-align: end; text-overflow: ellipsis; white-space: nowrap; }
.panes[data-step="0"] > :not(.pane-0), .panes[data-step="1"] > :not(.pane-1), .panes[data-step="2"] > :not(.pane-2) { display: none; }
button.back { padding: 0 12px; font-size: 20px; line-height: 28px; }

.list { position: relative; flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; contain: strict; }
.space { position: relative; }
.row {
  position: absolute;
  inset: 0 0 auto;
  display: flex;
  flex-direction: column;
  justify-content: center;
  overflow: hidden;
  border-bottom: 1px solid var(--line);
  padding: 0 14px;
  cursor: default;
}
[role="tree"] .row { flex-direction: row; align-items: center; justify-content: flex-start; border-bottom: 0; padding: 0 14px 0 6px; }
.row > * { pointer-events: none; }
.row:hover { background: var(--hover); }
.row[aria-selected="true"] { background: var(--tint); box-shadow: inset 3px 0 var(--accent); }
.list:focus-visible .row.active { outline: 2px solid var(--accent); outline-offset: -3px; }
.line { display: flex; align-items: baseline; gap: 10px; min-width: 0; }
.line .name, .line .link { flex: 1; min-width: 0; }
.line .preview { flex: 3; }
.step { display: grid; grid-template-columns: auto minmax(0, 1fr); column-gap: 10px; align-items: center; }
.step .lane { grid-row: 1 / 3; }
.line .count, .score { flex: none; font-variant-numeric: tabular-nums; }
.threads .row .preview { font-size: 13px; }
.name, .row .preview { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.name { flex: 1; font-weight: 600; }
/* What tells rows apart is their key: the place before it gives way. */
.name:has(> .key) { display: flex; }
.key.random { color: var(--muted); font-weight: 400; }
.place, .key { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre; }
.place { flex-shrink: 1000; min-width: 1.6em; color: var(--muted); font-weight: 400; }
[role="tree"] .name { font-weight: 400; }
.preview { color: var(--muted); font-size: 14px; overflow-wrap: anywhere; }
.twisty { flex: none; box-sizing: content-box; width: 22px; color: var(--muted); text-align: center; }
.lane { position: relative; z-index: 1; width: 10px; height: 10px; border: 2px solid var(--accent); border-radius: 50%; background: var(--surface); }
.rail { position: absolute; inset-block: 0; width: 2px; background: light-dark(#a9c3d6, #46617a); }
.rail.up { inset-block-end: 50%; }
.rail.down { inset-block-start: 50%; }

.scroll { flex: 1; min-height: 0; overflow: auto; overscroll-behavior: contain; padding: 14px; }
.detail, .forms, .forms form { display: flex; flex-direction: column; gap: 12px; }
.detail > * { flex: none; }
.path { overflow-wrap: anywhere; }
.empty { color: var(--muted); padding: 14px; }
.scroll > .empty { padding: 0; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 14px; font-size: 14px; }
.facts dt { color: var(--muted); }
.facts dd { overflow-wrap: anywhere; }
.field { display: flex; flex-direction: column; gap: 4px; }
.field label { font-size: 13px; font-weight: 600; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 14px; margin: 8px 0 12px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; }
.columns .actions { margin-top: 10px; }

input, select, textarea, button { font: inherit; color: inherit; }
input, select, textarea {
  width: 100%;
  border: 1px solid light-dark(#8b9096, #6d747b);
  border-radius: 7px;
  background: var(--surface);
  padding: 7px 10px;
}
::placeholder { color: var(--muted); opacity: 1; }
textarea { resize: vertical; }
.code, pre { font: 13px / 1.55 var(--mono); }
pre {
  max-height: 24rem;
  margin: 0;
  overflow: auto;
  border: 1px solid var(--line);
  border-radius: 7px;
  background: var(--paper);
  padding: 8px 10px;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
button { border: 1px solid light-dark(#b4b8bc, #565d64); border-radius: 7px; background: var(--surface); padding: 6px 14px; cursor: pointer; }
button:hover { background: var(--hover); }
button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button.primary:hover { filter: brightness(0.92); }
button.danger { border-color: var(--danger); background: var(--danger-tint); color: var(--danger); font-weight: 600; }
button.danger:hover { background: var(--danger); color: var(--surface); }
button:disabled { opacity: 0.55; cursor: not-allowed; }
button.link { border: 0; background: none; padding: 0; color: var(--accent); font-weight: 600; text-align: start; overflow-wrap: anywhere; }
button.link:hover { text-decoration: underline; }
details summary { color: var(--muted); font-size: 13px; cursor: pointer; }
details[open] summary { margin-bottom: 6px; }
.history li { padding: 8px 0; border-top: 1px solid var(--line); }
.history pre { margin: 4px 0; font: 13px/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
.note { margin-bottom: 6px; }

.hits > li { border-bottom: 1px solid var(--line); padding: 0 0 12px; }
.hits > li + li { padding-top: 12px; }
.hits > li:last-child { border-bottom: 0; }
.why { margin: 4px 0 6px; }
.why li { padding-inline-start: 18px; font-size: 14px; text-indent: -14px; }
.why li::before { content: "→ "; color: var(--accent); }
.score { border-radius: 999px; background: var(--tint); padding: 0 9px; font-size: 13px; }
mark { border-radius: 3px; background: var(--mark); color: var(--text); }
.missing { border-top: 1px solid var(--line); padding-top: 14px; }
.verdict:not(:empty) { border-inline-start: 3px solid var(--accent); padding-inline-start: 10px; }

.change { border: 1px solid var(--line); border-radius: 7px; overflow: hidden; }
.change figcaption { padding: 4px 10px; font-size: 13px; font-weight: 600; overflow-wrap: anywhere; }
.change pre { border: 0; border-top: 1px solid var(--line); border-radius: 0; }
.added figcaption { background: var(--added); }
.removed figcaption { background: var(--danger-tint); }

.storage { height: 100%; display: flex; flex-direction: column; gap: 14px; }
.card { flex: none; border: 1px solid var(--line); border-radius: 10px; background: var(--surface); padding: 14px; }
.card h2 { margin-bottom: 8px; }
.holds li { margin-top: 6px; font-size: 14px; }
.outcome, .card .verdict { margin-top: 10px; }
.outcome { display: flex; flex-direction: column; gap: 10px; }
.card .field + .actions { margin-top: 10px; }

.messages { flex: none; }
.messages.shown { border-top: 1px solid var(--line); background: var(--tint); padding: 8px 14px; }
.messages.error.shown { background: var(--danger-tint); }
.message { display: flex; align-items: center; gap: 12px; }
.message span { flex: 1; min-width: 0; overflow-wrap: anywhere; }

dialog {
  width: min(30rem, calc(100vw - 32px));
  border: 1px solid var(--line);
  border-radius: 12px;
  background: var(--surface);
  color: var(--text);
  padding: 20px;
}
dialog::backdrop { background: rgb(0 0 0 / 45%); }
dialog form { display: flex; flex-direction: column; gap: 14px; }
dialog p { overflow-wrap: anywhere; }
dialog .actions { justify-content: flex-end; }

@container (max-width: 420px) {
  .tabs { gap: 0; padding-inline: 2px; }
  .tabs button { flex: 1; padding: 8px 3px; font-size: 14px; }
  .facts { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); }
}
@container (min-width: 640px) {
  .panes { grid-template-columns: minmax(12rem, 2fr) minmax(0, 3fr); }
  .panes.two { grid-template-columns: minmax(20rem, 4fr) minmax(0, 5fr); }
  .panes.threads { grid-template-columns: minmax(20rem, 2fr) minmax(0, 3fr); }
  .pane + .pane { border-inline-start: 1px solid var(--line); }
  .panes[data-step] > .pane-0 { display: flex; }
  .panes[data-step="0"] > .pane-1 { display: flex; }
  .pane-1 .back { display: none; }
}
@container (min-width: 980px) {
  .panes { grid-template-columns: minmax(12rem, 1fr) minmax(0, 1.5fr) minmax(0, 1.7fr); }
  .panes.two { grid-template-columns: minmax(18rem, 1fr) minmax(0, 2fr); }
  .panes.threads { grid-template-columns: minmax(20rem, 1fr) minmax(0, 1.5fr) minmax(0, 1.7fr); }
  .panes[data-step] > .pane { display: flex; }
  .back { display: none; }
}
@media (prefers-reduced-motion: no-preference) {
  button { transition: background-color 0.12s; }
}
`;

let sheet: CSSStyleSheet | undefined;

/** One for all inspectors of a page; a strict CSP lets it pass. */
export function styleSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
  }
  return sheet;
}
