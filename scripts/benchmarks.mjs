// `npm run benchmarks`: the tables of docs/benchmarks.md, and its pictures, from what benches printed.
//
//   npm run benchmarks                          draws the pictures of the page's own tables
//   npm run benchmarks -- output.md other.md    takes tables that stand there in their place
//
// Each table of docs/benchmarks.md stands between two marks. The first names a row of the table that
// is meant, the heading above it where several have such a row, and which picture is drawn of which
// columns, if any.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { barChart } from "./docs/bar-chart.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const PAGE = `${root}docs/benchmarks.md`;
const PICTURES = `${root}docs/pictures`;
const MARKED =
  /<!-- table "([^"]+)"(?: under "([^"]+)")?(?: picture (\w+) "([^"]+)" of ((?:"[^"]+"(?:, )?)+))? -->\n[\s\S]*?<!-- end -->/g;

/** All tables of Markdown texts: { heading: the one above it, lines: [[cells]] } */
export function tablesOf(markdown) {
  const tables = [];
  let heading = "";
  let lines = [];
  for (const line of [...markdown.split("\n"), ""]) {
    if (line.startsWith("|")) lines.push(cellsOf(line));
    else if (lines.length > 0) {
      tables.push({ heading, lines });
      lines = [];
    }
    heading = /^#+ (.*)/.exec(line)?.[1] ?? heading;
  }
  return tables;
}

function cellsOf(line) {
  const cells = line.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim());
}

/** The page with its tables made anew: { page, pictures: name → SVG } */
export function withTables(page, output) {
  const tables = tablesOf(output);
  const pictures = {};
  const made = page.replace(MARKED, (whole, first, above, name, title, columns) => {
    const { lines } =
      tables.find(
        ({ heading, lines }) =>
          heading === (above ?? heading) && lines.some(([cell]) => cell === first),
      ) ?? noTable(first, above);
    const [header, , ...rows] = lines;
    if (name) {
      const drawn = [...columns.matchAll(/"([^"]+)"/g)].map(([, column]) => column);
      const places = [0, ...drawn.map((column) => placeOf(header, column))];
      const cells = rows.map((row) => places.map((place) => row[place]));
      pictures[name] = barChart(title, drawn, cells);
    }
    const [mark] = whole.split("\n");
    const picture = name ? `![${title}](pictures/${name}.svg)\n\n` : "";
    const table = lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
    return `${mark}\n\n${picture}${table}\n\n<!-- end -->`;
  });
  return { page: made, pictures };
}

function noTable(first, above) {
  const place = above === undefined ? "" : ` under "${above}"`;
  throw new Error(`no table${place} has a row that begins with "${first}"`);
}

function placeOf(header, column) {
  const place = header.indexOf(column);
  if (place > 0) return place;
  throw new Error(`the table has no column "${column}": ${header.join(", ")}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = [...process.argv.slice(2), PAGE]; // what no file has stays as it is
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const { page, pictures } = withTables(texts.at(-1), texts.join("\n\n"));
  await writeFile(PAGE, page);
  await mkdir(PICTURES, { recursive: true });
  for (const [name, svg] of Object.entries(pictures))
    await writeFile(`${PICTURES}/${name}.svg`, svg);
}
