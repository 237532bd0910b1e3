// The page's own behaviour: scheme, charts, sorting and filtering. Reads its data from the element "chart-data".
(() => {
  "use strict";
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("chart-data").textContent);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const key = "bpebench-scheme";

  // --- scheme -----------------------------------------------------------------------------------------------
  const kept = () => { try { return localStorage.getItem(key); } catch { return null; } };
  const keep = (scheme) => { try { localStorage.setItem(key, scheme); } catch { /* a page without storage forgets */ } };
  let chosen = kept();
  const scheme = () => (chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light");
  const toggle = document.getElementById("scheme");
  const applyScheme = () => {
    if (chosen === "light" || chosen === "dark") root.dataset.scheme = chosen;
    toggle.setAttribute("aria-pressed", String(scheme() === "dark"));
    drawn.forEach((element) => draw(element));
  };
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    chosen = scheme() === "dark" ? "light" : "dark";
    keep(chosen);
    applyScheme();
  });
  system.addEventListener("change", applyScheme);

  // --- charts: drawn when they come near the window -----------------------------------------------------------
  const drawn = new Set();
  const views = new Map();
  async function draw(element) {
    drawn.add(element);
    views.get(element)?.finalize();
    const choice = document.getElementById(data.choice);
    if (choice && element.closest("figure").contains(choice)) choice.replaceChildren();
    try {
      const result = await window.vegaEmbed(element, data.charts[element.dataset.chart], {
        mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false,
        config: data.config[scheme()], tooltip: { disableDefaultStyle: true },
      });
      views.set(element, result);
      element.dataset.drawn = scheme();
    } catch (error) {
      element.textContent = "This chart could not be drawn; the table below holds its figures.";
      throw error;
    }
  }
  const plots = [...document.querySelectorAll(".plot")];
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        watcher.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "600px 0px" });
  applyScheme();
  plots.forEach((element) => watcher.observe(element));
  addEventListener("beforeprint", () => plots.forEach((element) => drawn.has(element) || draw(element)));

  // --- tables -------------------------------------------------------------------------------------------------
  const valueOf = (row, index) => {
    const cell = row.cells[index];
    if (!("value" in cell.dataset)) return cell.textContent.trim();
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  const isAbsent = (value) => value === null || value === "" || value === "—";

  function sortBy(table, heading) {
    const index = heading.cellIndex;
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row, index), row]);
    rows.sort(([a], [b]) => {
      if (isAbsent(a) || isAbsent(b)) return Number(isAbsent(a)) - Number(isAbsent(b));
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
  }

  function filter(table, input, output) {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    output.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("th[aria-sort]");
      if (heading && event.target.closest("button")) sortBy(table, heading);
    });
  }
  for (const tools of document.querySelectorAll(".tools")) {
    const table = document.getElementById(tools.dataset.table);
    const input = tools.querySelector("input");
    tools.hidden = false;
    input.addEventListener("input", () => filter(table, input, tools.querySelector("output")));
  }
})();
