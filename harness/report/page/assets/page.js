// The page of a run: its scheme and its charts. Reads its data from the element "chart-data".
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
})();
