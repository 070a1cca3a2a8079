// What the site is, for vitepress. docs/README.md is its table of contents.

const HEADING = /^## (.+)$/;
const ENTRY = /^- \[([^\]]+)\]\(([\w-]+\.md)\): (.+)$/;

/** The sections of docs/README.md: [{ text, items: [{ text, file, about }] }] */
export function contentsOf(markdown) {
  const sections = [];
  for (const line of markdown.split("\n")) {
    const heading = HEADING.exec(line);
    const entry = ENTRY.exec(line);
    if (heading) sections.push({ text: heading[1], items: [] });
    if (entry) sections.at(-1).items.push({ text: entry[1], file: entry[2], about: entry[3] });
  }
  return sections;
}

/** Options of vitepress as JSON can say them. */
export function siteOptions({ contents, out, base = "/" }) {
  const sections = contentsOf(contents).map(({ text, items }) => ({
    text,
    items: items.map((page) => ({
      text: page.text,
      link: `/${page.file.slice(0, -".md".length)}`,
    })),
  }));
  const reference = { text: "API reference", link: "/api/index.html", target: "_self" };
  return {
    title: "Keepsake",
    description: "The memory of LangGraph.js agents, in one SQLite database",
    base,
    outDir: out,
    cleanUrls: false,
    markdown: { attrs: { disable: true } },
    vite: { logLevel: "warn", build: { chunkSizeWarningLimit: 4000 } },
    themeConfig: {
      search: { provider: "local" },
      outline: [2, 3],
      nav: [{ text: "Get started", link: "/get-started" }, reference],
      sidebar: [...sections, { text: "Reference", items: [reference] }],
    },
  };
}
