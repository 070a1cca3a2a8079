// Bars beside each other, a group for each row, as SVG that is read on light and on dark pages.

const WIDTH = 720;
const LABELS = 250;
const BAR = 14;
const GAP = 14;
const TOP = 62;
const LETTER = 6.5; // about as wide
const PEERS = ["#9aa5b1", "#c4cbd3", "#7b8794"];
const OURS = "#5b8def";

/**
 * `rows` are [label, …figures as the bench printed them], a figure for each of `columns`: ours is
 * the last. Where some are rates ("5460/s") the longest bar of each row is the fastest.
 */
export function barChart(title, columns, rows) {
  const areRates = rows.flat().some((text) => text.includes("/s"));
  const figures = rows.map((row) => row.slice(1).map(areRates ? rateIn : numberIn));
  const most = figures.map((row) => Math.max(...(areRates ? row : figures.flat())));
  const group = columns.length * BAR + GAP;
  const height = TOP + rows.length * group + 8;
  const longest = Math.max(...rows.flatMap((row) => row.slice(1).map((text) => text.length)));
  const room = WIDTH - LABELS - 14 - Math.ceil(longest * LETTER);
  const colourOf = (k) => (k === columns.length - 1 ? OURS : PEERS[k]);
  const bars = rows.map(([label, ...texts], i) => {
    const top = TOP + i * group;
    const drawn = figures[i].map((figure, k) => {
      const width = Math.round((figure / most[i]) * room);
      const y = top + k * BAR;
      return (
        `<rect x="${LABELS}" y="${y}" width="${width}" height="${BAR - 2}" fill="${colourOf(k)}"/>` +
        `<text x="${LABELS + width + 6}" y="${y + BAR - 4}" class="figure">${escaped(texts[k])}</text>`
      );
    });
    const middle = top + (columns.length * BAR) / 2 + 4;
    return `<text x="${LABELS - 10}" y="${middle}" text-anchor="end">${escaped(label)}</text>${drawn.join("")}`;
  });
  const names = columns.map((name) => name.replaceAll("*", ""));
  const widths = names.map((name) => 40 + Math.ceil(name.length * LETTER));
  const wide = widths.reduce((sum, width) => sum + width);
  let x = Math.min(LABELS, WIDTH - wide);
  const legend = names.map((name, k) => {
    if (k > 0) x += widths[k - 1];
    return (
      `<rect x="${x}" y="34" width="12" height="12" fill="${colourOf(k)}"/>` +
      `<text x="${x + 18}" y="45">${escaped(name)}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    "<style>text{font:12px system-ui,sans-serif;fill:#1f2933}.figure{font-size:11px}.title{font-size:15px;font-weight:600}",
    ".page{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.page{fill:#1b1b1f}}</style>",
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    `<text x="10" y="22" class="title">${escaped(title)}</text>`,
    ...legend,
    ...bars,
    "</svg>",
    "",
  ].join("\n");
}

function numberIn(text) {
  const [, digits, thousands] = /(\d*\.?\d+)(k)?/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`a bar needs a number: "${text}"`);
  return Number(digits) * (thousands ? 1000 : 1);
}

/** How many a second; also of what takes milliseconds. */
function rateIn(text) {
  return text.includes("/s") ? numberIn(text) : 1000 / numberIn(text);
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
