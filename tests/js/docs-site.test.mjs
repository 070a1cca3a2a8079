// `npm run docs`: every page is there, and no link of the site is dead.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { tablesOf, withTables } from "../../scripts/benchmarks.mjs";
import { barChart } from "../../scripts/docs/bar-chart.mjs";
import { contentsOf } from "../../scripts/docs/site.mjs";
import { projectRoot, run } from "./support/installed-package.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const read = (path) => readFileSync(join(projectRoot, path), "utf8");
const contents = contentsOf(read("docs/README.md"));
const listed = contents.flatMap(({ items }) => items);

test("docs/README.md lists every page, each with what it is about", () => {
  const there = readdirSync(join(projectRoot, "docs")).filter((name) =>
    /^(?!README).*\.md$/.test(name),
  );
  expect(listed.map(({ file }) => file).sort()).toEqual(there.sort());
  expect(listed.every(({ about }) => about.length > 10)).toBe(true);
});

describe("the site", () => {
  let site;
  let pages;
  let ids;

  beforeAll(() => {
    site = join(temporaryFolder(), "site");
    // A build that hangs ends as an error.
    run(process.execPath, ["scripts/docs.mjs", "--out", site], {
      cwd: projectRoot,
      timeout: 170_000,
    });
    pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html"));
    ids = new Map(pages.map((page) => [page, idsOf(readFileSync(join(site, page), "utf8"))]));
  }, 180_000);

  test("has every page, and a reference of every entry", () => {
    const names = listed.map(({ file }) => file.replace(/md$/, "html"));
    const entries = "index cloudflare sqlite langchain files embed bucket inspector".split(" ");
    const reference = entries.map((name) => `api/modules/${name}.html`);
    expect(pages).toEqual(
      expect.arrayContaining([
        "index.html",
        "contents.html",
        "api/index.html",
        ...names,
        ...reference,
      ]),
    );
    expect(pages.length).toBeGreaterThan(100);
  });

  test("has no link that leads nowhere", () => {
    const dead = pages.flatMap((page) =>
      linksOf(readFileSync(join(site, page), "utf8"))
        .filter((link) => isDead(page, link))
        .map((link) => `${page}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  test("a dead link would be found", () => {
    expect(isDead("index.html", "/no-such-page.html")).toBe(true);
    expect(isDead("index.html", "./search.html#no-such-part")).toBe(true);
    expect(isDead("index.html", "./search.html")).toBe(false);
  });

  test("shows no expression of its generator in the place of a text", () => {
    const withoutCode = (html) => html.replace(/<(code|script)\b.*?<\/\1>/gs, "");
    // The reference has another generator, and texts with braces.
    const own = pages.filter((page) => !page.startsWith("api"));
    const guilty = own.filter((page) =>
      withoutCode(readFileSync(join(site, page), "utf8")).includes("{{"),
    );
    expect(guilty).toEqual([]);
    expect(readFileSync(join(site, "agents.html"), "utf8")).toContain("exchange_{{#sys");
    expect(readFileSync(join(site, "index.html"), "utf8")).toMatch(
      /class="title"[^>]*>.*?Keepsake/s,
    );
  });

  test("has an index for models, and each page as text", () => {
    const index = readFileSync(join(site, "llms.txt"), "utf8");
    expect(index).toMatch(/^# Keepsake\n\n> Memory for LangGraph\.js agents/);
    for (const { text, file } of listed) {
      expect(index).toContain(`- [${text}](${file}): `);
      expect(readFileSync(join(site, file), "utf8")).toBe(read(`docs/${file}`));
    }
  });

  function isDead(page, link) {
    const [path, anchor] = decodeURI(link.replaceAll("&amp;", "&")).split("#");
    let target = page;
    if (path.startsWith("/")) target = path.slice(1) || "index.html";
    else if (path !== "") target = normalize(join(dirname(page), path));
    if (!existsSync(join(site, target)) || !statSync(join(site, target)).isFile()) return true;
    return Boolean(anchor) && target.endsWith(".html") && !ids.get(target).has(anchor);
  }
});

const linksOf = (html) =>
  [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)]
    .map(([, link]) => link)
    .filter((link) => !/^(?:[a-z]+:|#$)/.test(link));

const idsOf = (html) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));

describe("the tables of docs/benchmarks.md", () => {
  const page = read("docs/benchmarks.md");

  test("are what the pictures show", () => {
    const made = withTables(page, page);
    expect(made.page).toBe(page);
    const names = ["recall", "cold", "vectors", "items", "threads", "files", "edge", "page"];
    expect(Object.keys(made.pictures)).toEqual(names);
    for (const [name, svg] of Object.entries(made.pictures))
      expect(read(`docs/pictures/${name}.svg`)).toBe(svg);
  });

  test("are drawn so that the fastest of a row has the longest bar", () => {
    const rows = [
      ["open", "40 ms", "1000/s"],
      ["read", "1.5k/s", "900/s"],
    ];
    const bars = barChart("title", ["other", "**ours**"], rows).matchAll(
      /width="(\d+)" height="12"/g,
    );
    const [, , ...widths] = [...bars].map(([, width]) => Number(width));
    const [slow, fast, first, second] = widths;
    expect(slow / fast).toBeCloseTo(25 / 1000, 2);
    expect(second / first).toBeCloseTo(900 / 1500, 2);
    expect(first).toBe(fast);
  });

  test("follow what a bench printed", () => {
    const [header, , row] = tablesOf(page).find(({ heading }) => heading === "Recall").lines;
    const place = header.indexOf("Keepsake, nothing fitted");
    const lineOf = (cells) => `| ${cells.join(" | ")} |`;
    const output = page.replace(lineOf(row), lineOf(row.with(place, ".9999")));
    const made = withTables(page, output);
    expect(made.page).toBe(output);
    expect(made.page).not.toBe(page);
    expect(made.pictures.recall).toContain(">.9999<");
    expect(() => withTables(page, "| | FTS5 |\n| --- | --- |\n")).toThrow("no table has a row");
    const mark = '<!-- table "put" under "In memory" -->\n<!-- end -->';
    const both = "### On a file\n\n| put | 1 |\n\n### In memory\n\n| put | 2 |\n";
    expect(withTables(mark, both).page).toContain("| put | 2 |");
    expect(() => withTables(mark, "| put | 1 |\n")).toThrow('no table under "In memory"');
  });
});
