//["a call, µs"]The explorer: runs, workloads and implementations to choose, drawn as a table with its dots and intervals.
//["a call, µs"]All figures come written from the records; this script chooses, orders and draws them.

//["a call, µs"]--- drawing ----------------------------------------------------------------------------------------------------
["a call, µs"]onst element = (tag, attributes = {}, ...children) => {
["a call, µs"] const made = document.createElement(tag);
["a call, µs"] for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
["a call, µs"] made.append(...children);
["a call, µs"] return made;
};
["a call, µs"]onst shape = (tag, attributes, text) => {
["a call, µs"] const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
["a call, µs"] for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
["a call, µs"] if (text !== undefined) made.textContent = text;
["a call, µs"] return made;
};
["a call, µs"]onst value = (written) => (written === null || written === undefined ? NaN : Number(written.replaceAll(",", "")));

fu["a call, µs"]ction scaleOf(values) {
["a call, µs"] const finite = values.filter((one) => one > 0 && Number.isFinite(one));
["a call, µs"] const low = Math.min(...finite) / 1.1;
["a call, µs"] const high = Math.max(...finite) * 1.1;
["a call, µs"] const at = (one) => (100 * Math.log(one / low)) / Math.log(high / low);
["a call, µs"] for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.1, 1.2, 1.3, 1.4, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
["a call, µs"]   const ticks = [];
["a call, µs"]   for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
["a call, µs"]     ticks.push(...steps.map((step) => Number(`${step}e${power}`)).filter((tick) => tick > low && tick < high));
["a call, µs"]   }
["a call, µs"]   if (ticks.length >= 3 || steps.length > 8) return { at, ticks: ticks.filter((_, i) => i % Math.ceil(ticks.length / 5) === 0) };
["a call, µs"] }
["a call, µs"] return { at, ticks: [] };
}

//["a call, µs"]The shapes of the kinds in every chart of a report, around (0, 0).
["a call, µs"]onst SHAPES = {
["a call, µs"] pure: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
["a call, µs"] compiled: "M0-5.8 5.8 0 0 5.8-5.8 0Z",
["a call, µs"] production: "M-4.2-4.2H4.2V4.2H-4.2Z",
["a call, µs"] peer: "M0-5.2 5.2 4.2H-5.2Z",
};

fu["a call, µs"]ction marksOf(row, scale, relative) {
["a call, µs"] const shapes = scale.ticks.map((tick) => shape("line", { class: "grid", x1: `${scale.at(tick)}%`, x2: `${scale.at(tick)}%`, y1: 0, y2: "100%" }));
["a call, µs"] if (relative) shapes.push(shape("line", { class: "one", x1: `${scale.at(1)}%`, x2: `${scale.at(1)}%`, y1: 0, y2: "100%" }));
["a call, µs"] if (value(row.figure) > 0) {
["a call, µs"]   const y = "50%";
["a call, µs"]   shapes.push(shape("line", { class: "range", x1: `${scale.at(value(row.low))}%`, x2: `${scale.at(value(row.high))}%`, y1: y, y2: y }));
["a call, µs"]   const dot = shape("svg", { class: "dot", x: `${scale.at(value(row.figure))}%`, y, overflow: "visible" });
["a call, µs"]   dot.append(shape("path", { d: SHAPES[row.kind] }));
["a call, µs"]   shapes.push(dot);
["a call, µs"] }
["a call, µs"] return shapes;
}

fu["a call, µs"]ction viewImage(table) {
["a call, µs"] // The view as one image: names, dots with their intervals, figures.
["a call, µs"] const rows = [...table.tBodies[0].rows];
["a call, µs"] const [width, step, left, plot] = [760, 22, 150, 480];
["a call, µs"] const style = getComputedStyle(document.documentElement);
["a call, µs"] const colour = (name) => style.getPropertyValue(`--${name}`).trim();
["a call, µs"] const image = shape("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: step * (rows.length + 3), viewBox: `0 0 ${width} ${step * (rows.length + 3)}`, "font-family": "sans-serif", "font-size": 12 });
["a call, µs"] image.append(shape("rect", { width: "100%", height: "100%", fill: colour("ground") }));
["a call, µs"] image.append(shape("text", { x: 8, y: 18, fill: colour("ink"), "font-weight": 600 }, document.getElementById("view-title").textContent));
["a call, µs"] const across = (percent) => left + (plot * parseFloat(percent)) / 100;
["a call, µs"] const lift = (svg, y, kind) => {
["a call, µs"]   for (const part of svg?.children ?? []) {
["a call, µs"]     const copy = shape(part.tagName, { fill: colour(kind ?? "quiet") });
["a call, µs"]     if (part.tagName === "text") {
["a call, µs"]       Object.entries({ x: across(part.getAttribute("x")), y: y + 4, "text-anchor": "middle" }).forEach(([k, v]) => copy.setAttribute(k, v));
["a call, µs"]       copy.textContent = part.textContent;
["a call, µs"]     } else if (part.matches(".dot")) {
["a call, µs"]       copy.append(shape("path", { d: part.firstChild.getAttribute("d") }));
["a call, µs"]       Object.entries({ x: across(part.getAttribute("x")), y, overflow: "visible" }).forEach(([k, v]) => copy.setAttribute(k, v));
["a call, µs"]     } else {
["a call, µs"]       const range = part.classList.contains("range");
["a call, µs"]       const half = range ? 0 : step / 2;
["a call, µs"]       Object.entries({ x1: across(part.getAttribute("x1")), x2: across(part.getAttribute("x2")), y1: y - half, y2: y + half, stroke: colour(range ? kind : "line"), "stroke-width": range ? 3 : 1, opacity: range ? 0.5 : 1 }).forEach(([k, v]) => copy.setAttribute(k, v));
["a call, µs"]     }
["a call, µs"]     image.append(copy);
["a call, µs"]   }
["a call, µs"] };
["a call, µs"] lift(table.tHead.querySelector(".dots svg"), step * 1.6);
["a call, µs"] rows.forEach((row, i) => {
["a call, µs"]   const y = step * (i + 2.5);
["a call, µs"]   const ink = colour(row.classList.contains("failed") ? "quiet" : "ink");
["a call, µs"]   image.append(shape("text", { x: 8, y: y + 4, fill: ink }, row.cells[0].textContent));
["a call, µs"]   lift(row.querySelector(".dots svg"), y, [...row.classList].find((name) => name.startsWith("kind-")));
["a call, µs"]   const failed = row.classList.contains("failed");
["a call, µs"]   const said = row.cells[failed ? 1 : 2].textContent;
["a call, µs"]   image.append(shape("text", { x: failed ? left : left + plot + 16, y: y + 4, fill: ink }, said.length > 90 ? `${said.slice(0, 90)}…` : said));
["a call, µs"] });
["a call, µs"] return new XMLSerializer().serializeToString(image);
}

//["a call, µs"]--- the explorer ----------------------------------------------------------------------------------------------
["a call, µs"]onst form = document.getElementById("view");
["a call, µs"]f (form) {
["a call, µs"] const data = JSON.parse(document.getElementById("view-data").textContent);
["a call, µs"] const table = document.getElementById("view-table");
["a call, µs"] const controls = Object.fromEntries([...form.querySelectorAll("select")].map((select) => [select.name, select]));
["a call, µs"] const choices = form.querySelector(".choices");
["a call, µs"] const runs = new Map(data.runs.map((run) => [run.id, run]));
["a call, µs"] let state = {};
["a call, µs"] table.image = () => viewImage(table);

["a call, µs"] const begin = () => {
["a call, µs"]   const first = runs.get(data.main).workloads.find((one) => one.name === data.begin);
["a call, µs"]   return { run: data.main, threads: "", work: first.work, model: first.model, text: first.text, as: "figures", base: "", only: null };
["a call, µs"] };
["a call, µs"] const restored = () => {
["a call, µs"]   const given = new URLSearchParams(location.hash.slice(1));
["a call, µs"]   const found = begin();
["a call, µs"]   for (const name of ["run", "threads", "work", "model", "text", "as", "base"]) if (given.has(name)) found[name] = given.get(name);
["a call, µs"]   if (!runs.has(found.run)) found.run = data.main;
["a call, µs"]   if (given.has("only")) found.only = new Set(given.getAll("only"));
["a call, µs"]   return found;
["a call, µs"] };
["a call, µs"] const addressed = () => {
["a call, µs"]   const kept = new URLSearchParams();
["a call, µs"]   const plain = begin();
["a call, µs"]   for (const name of ["run", "threads", "work", "model", "text", "as", "base"]) {
["a call, µs"]     if (state[name] !== plain[name] || ["run", "work", "model", "text"].includes(name)) kept.set(name, state[name]);
["a call, µs"]   }
["a call, µs"]   for (const name of state.only ?? []) kept.append("only", name);
["a call, µs"]   return `#${kept}`;
["a call, µs"] };

["a call, µs"] function fill(name, options, groups) {
["a call, µs"]   const select = controls[name];
["a call, µs"]   if (!options.some(([key]) => key === state[name])) state[name] = options[0]?.[0] ?? "";
["a call, µs"]   const items = options.map(([key, label]) => element("option", key === state[name] ? { value: key, selected: "" } : { value: key }, label));
["a call, µs"]   if (groups) {
["a call, µs"]     const boxes = new Map();
["a call, µs"]     items.forEach((item, i) => {
["a call, µs"]       if (!boxes.has(groups[i])) boxes.set(groups[i], element("optgroup", { label: groups[i] }));
["a call, µs"]       boxes.get(groups[i]).append(item);
["a call, µs"]     });
["a call, µs"]     select.replaceChildren(...boxes.values());
["a call, µs"]   } else select.replaceChildren(...items);
["a call, µs"]   select.disabled = options.length < 2;
["a call, µs"] }
["a call, µs"] const distinct = (values) => [...new Set(values)].map((one) => [one, one || "none"]);

["a call, µs"] // Narrows the choices one after the other; what is no longer there becomes the first that is.
["a call, µs"] function narrow() {
["a call, µs"]   fill("run", data.runs.map((run) => [run.id, run.label]), data.runs.map((run) => data.machines[run.machine]));
["a call, µs"]   const run = runs.get(state.run);
["a call, µs"]   const counts = [...new Set(run.workloads.map((one) => one.threads > 1))];
["a call, µs"]   fill("threads", counts.length < 2 ? [["", counts[0] ? "several" : "one"]] : [["", "one or several"], ["one", "one"], ["several", "several"]]);
["a call, µs"]   let left = run.workloads.filter((one) => !state.threads || one.threads > 1 === (state.threads === "several"));
["a call, µs"]   fill("work", distinct(left.map((one) => one.work)));
["a call, µs"]   left = left.filter((one) => one.work === state.work);
["a call, µs"]   fill("model", distinct(left.map((one) => one.model)));
["a call, µs"]   left = left.filter((one) => one.model === state.model);
["a call, µs"]   fill("text", distinct(left.map((one) => one.text)));
["a call, µs"]   const workload = left.find((one) => one.text === state.text);
["a call, µs"]   fill("as", workload.ranked.length > 1 ? [["figures", workload.unit], ["relative", "× the baseline"]] : [["figures", workload.unit]]);
["a call, µs"]   const usual = ["tiktoken", "tokenizers"].find((name) => workload.ranked.includes(name)) ?? workload.ranked[0] ?? "";
["a call, µs"]   if (!workload.ranked.includes(state.base)) state.base = usual;
["a call, µs"]   fill("base", workload.ranked.map((name) => [name, name]));
["a call, µs"]   controls.base.disabled = state.as !== "relative";
["a call, µs"]   return [run, workload];
["a call, µs"] }

["a call, µs"] function rowsOf(workload) {
["a call, µs"]   const base = workload.ranked.indexOf(state.base);
["a call, µs"]   const rows = workload.rows.map(([who, figure, low, high, ratio, alike, text, verdict]) => {
["a call, µs"]     const row = { who, kind: data.kinds[who], figure, low, high, ratio, mark: alike ? "≈ " : "", text, verdict, failed: figure === null };
["a call, µs"]     if (state.as !== "relative") return row;
["a call, µs"]     const place = workload.ranked.indexOf(who);
["a call, µs"]     if (place < 0) return { ...row, figure: null, mark: "" };
["a call, µs"]     const written = workload.ratios[base][place];
["a call, µs"]     [row.figure, row.low, row.high] = written.replace("≈", "").split(" ");
["a call, µs"]     row.mark = written.startsWith("≈") ? "≈ " : "";
["a call, µs"]     return row;
["a call, µs"]   });
["a call, µs"]   if (state.as === "relative") rows.sort((a, b) => (value(b.figure) || -1) - (value(a.figure) || -1));
["a call, µs"]   return rows;
["a call, µs"] }

["a call, µs"] function draw() {
["a call, µs"]   const [run, workload] = narrow();
["a call, µs"]   const rows = rowsOf(workload);
["a call, µs"]   const names = rows.map((row) => row.who);
["a call, µs"]   const chosen = rows.filter((row) => !state.only || state.only.has(row.who));
["a call, µs"]   const relative = state.as === "relative";
["a call, µs"]   const scale = scaleOf(rows.flatMap((row) => [value(row.low), value(row.high), value(row.figure)]));
["a call, µs"]   const axis = shape("svg", { "aria-hidden": "true" });
["a call, µs"]   axis.append(...scale.ticks.map((tick) => shape("text", { x: `${scale.at(tick)}%`, y: "75%", "text-anchor": "middle" }, tick.toLocaleString("en-US", { maximumSignificantDigits: 3 }))));
["a call, µs"]   const better = relative ? "higher" : workload.unit === "MB/s" ? "higher" : "lower";
["a call, µs"]   const unit = relative ? `× ${state.base}` : workload.unit;
["a call, µs"]   const noted = chosen.some((row) => !row.failed && row.verdict);
["a call, µs"]   const head = element("tr", {}, element("th", { scope: "col" }, "implementation"), element("th", { scope: "col", class: "dots" }, element("span", { class: "visually-hidden" }, "drawn, logarithmic"), axis));
["a call, µs"]   head.append(element("th", { scope: "col", class: "right" }, unit));
["a call, µs"]   for (const name of ["95 % interval", ...(relative ? [] : ["time × best"]), "a call, µs"]) head.append(element("th", { scope: "col", class: "right aside" }, name));
["a call, µs"]   if (noted || chosen.every((row) => row.failed)) head.append(element("th", { scope: "col" }, "note"));
["a call, µs"]   table.tHead.replaceChildren(head);
["a call, µs"]   table.tBodies[0].replaceChildren(...chosen.map((row) => {
["a call, µs"]     const svg = shape("svg", { "aria-hidden": "true" });
["a call, µs"]     svg.append(...marksOf(row, scale, relative));
["a call, µs"]     const shown = row.figure === null ? "—" : `${row.mark}${row.figure}`;
["a call, µs"]     const range = row.figure === null ? "—" : `${row.low}–${row.high}`;
["a call, µs"]     const marks = [`kind-${data.kinds[row.who]}`, row.failed && "failed", relative && row.who === state.base && "base"];
["a call, µs"]     const line = element("tr", { class: marks.filter(Boolean).join(" ") }, element("th", { scope: "row", title: `${data.kinds[row.who]}, version ${run.versions[row.who]}` }, row.who), element("td", { class: "dots" }, svg));
["a call, µs"]     if (row.failed) {
["a call, µs"]       line.lastChild.remove();
["a call, µs"]       line.append(element("td", { class: "why", colspan: head.cells.length - 1 }, row.verdict));
["a call, µs"]       return line;
["a call, µs"]     }
["a call, µs"]     line.append(element("td", { class: "right figure" }, shown), element("td", { class: "right aside" }, range));
["a call, µs"]     if (!relative) line.append(element("td", { class: "right aside" }, row.ratio));
["a call, µs"]     line.append(element("td", { class: "right aside" }, row.text));
["a call, µs"]     if (noted) line.append(element("td", { class: "long" }, row.verdict));
["a call, µs"]     return line;
["a call, µs"]   }));
["a call, µs"]   table.caption.textContent = `${workload.name}, run ${run.id}, ${unit}`;
["a call, µs"]   table.dataset.name = `${run.id}-${workload.name}${relative ? `-to-${state.base}` : ""}`;
["a call, µs"]   document.getElementById("view-title").textContent = `${workload.name}: ${relative ? `times as fast as ${state.base}` : `${workload.unit}, ${better} is better`} · ${run.label}`;
["a call, µs"]   document.getElementById("view-about").textContent = workload.about;
["a call, µs"]   document.getElementById("view-command").textContent = run.command;
["a call, µs"]   document.getElementById("view-claimed").textContent = run.claimed;
["a call, µs"]   document.getElementById("view-chosen").textContent = `${chosen.length} of ${names.length}`;
["a call, µs"]   choices.replaceChildren(...[...names].sort().map((name) => {
["a call, µs"]     const box = element("input", { type: "checkbox", value: name });
["a call, µs"]     box.checked = !state.only || state.only.has(name);
["a call, µs"]     return element("label", {}, box, name);
["a call, µs"]   }));
["a call, µs"] }
["a call, µs"] const keep = () => history.replaceState(null, "", addressed());

["a call, µs"] form.addEventListener("change", (event) => {
["a call, µs"]   if (event.target.matches("select")) state[event.target.name] = event.target.value;
["a call, µs"]   else {
["a call, µs"]     const boxes = [...choices.querySelectorAll("input")];
["a call, µs"]     const on = boxes.filter((box) => box.checked).map((box) => box.value);
["a call, µs"]     state.only = on.length === boxes.length ? null : new Set(on);
["a call, µs"]   }
["a call, µs"]   const at = event.target.value;
["a call, µs"]   draw();
["a call, µs"]   keep();
["a call, µs"]   if (!event.target.isConnected) [...choices.querySelectorAll("input")].find((box) => box.value === at)?.focus();
["a call, µs"] });
["a call, µs"] form.addEventListener("click", (event) => {
["a call, µs"]   if (!event.target.matches("button")) return;
["a call, µs"]   state.only = event.target.value === "all" ? null : new Set();
["a call, µs"]   draw();
["a call, µs"]   keep();
["a call, µs"] });
["a call, µs"] form.addEventListener("submit", (event) => event.preventDefault());
["a call, µs"] addEventListener("hashchange", () => {
["a call, µs"]   if (location.hash.includes("=") || !location.hash) {
["a call, µs"]     state = restored();
["a call, µs"]     draw();
["a call, µs"]   }
["a call, µs"] });
["a call, µs"] state = restored();
["a call, µs"] form.hidden = false;
["a call, µs"] document.getElementById("view-kinds").hidden = false;
["a call, µs"] draw();
}
