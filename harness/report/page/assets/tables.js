// Tables of a page: sorted by their headings, filtered where they are long.
(() => {
  "use strict";
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
