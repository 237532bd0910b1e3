// The tokens of one column as runs of text. Only blocks near the window have elements, so a million bytes scroll.

import { directionOf, fromHex, h, shownBytes } from "./dom.js";

const FEWEST = 120, MOST = 280, FEW = 4, NEWLINE = 10; // tokens of a block, blocks that are always shown
let n_views = 0;

export class TokenView {
  // `on.point(view, index | null)` when a token is pointed at, `on.choose(view, index)` when it is made the active one.
  constructor(box, on) {
    this.box = box;
    this.on = on;
    this.name = `t${n_views++}`;
    this.marked = [];
    this.active = -1;
    this.brought = null; // the token to stay in view while blocks around it get their height
    for (const name of ["wheel", "pointerdown", "touchmove"]) box.addEventListener(name, () => { this.brought = null; }, { passive: true });
    Object.assign(this, { n: 0, known: 0, blocks: [], byElement: new Map() });
    this.watcher = new IntersectionObserver((entries) => this.#seen(entries), { root: box, rootMargin: "600px" });
    box.addEventListener("pointerover", (event) => on.point(this, this.#indexOf(event.target)));
    box.addEventListener("pointerleave", () => on.point(this, null));
    box.addEventListener("click", (event) => {
      const index = this.#indexOf(event.target);
      if (index !== null) this.choose(index);
    });
    box.addEventListener("keydown", (event) => this.#key(event));
    box.addEventListener("focus", () => this.active < 0 && this.n > 0 && this.choose(0));
  }

  show(answer, bytes) {
    const same = this.#unchanged(answer);
    const { ids, starts, ends } = answer, n = ids.length, shift = n - this.n;
    Object.assign(this, { answer, bytes, ids, starts, ends, n, active: Math.min(this.active, n - 1), differs: null, brought: null });
    this.known = starts.length; // from there on the place of a token is not known
    this.begins = new Uint8Array(n);
    for (const i of answer.pieces ?? []) this.begins[i] = 1;
    this.#layOut(...same, shift);
  }

  // How many tokens at the beginning and at the end are shown as they are in `answer`; blocks of a long text are kept.
  #unchanged(answer) {
    const [old, now] = [this.answer, answer];
    if (this.blocks.length < FEW || [old, now].some(({ error, pieces, tokens }) => error || pieces || tokens)) return [0, 0];
    const most = Math.min(old.ids.length, now.ids.length);
    let before = 0, after = 0;
    while (before < most && old.ids[before] === now.ids[before]) before++;
    while (after < most - before && old.ids[old.ids.length - 1 - after] === now.ids[now.ids.length - 1 - after]) after++;
    return [before, after];
  }

  // Mark tokens whose flag is set; `flags` is null where nothing is compared.
  compare(flags) {
    this.differs = flags;
    for (const block of this.blocks) {
      for (const element of block.element.children) element.classList.toggle("differs", !!flags?.[element.dataset.i]);
    }
  }

  bytesOf(index) {
    if (this.answer.tokens !== null) return fromHex(this.answer.tokens[index]);
    return this.bytes.subarray(this.starts[index], this.ends[index]);
  }

  // The first and the end token that overlap these bytes of the text.
  overlapping(start, end) {
    const first = this.#search((i) => this.ends[i] > start || (this.ends[i] === start && start === end));
    let last = first;
    while (last < this.known && this.starts[last] < Math.max(end, start + 1)) last++;
    return [first, last];
  }

  mark(start, end) {
    for (const element of this.marked) element.classList.remove("same");
    this.marked = [];
    if (start === null) return;
    const [first, last] = this.overlapping(start, end);
    for (let i = first; i < last; i++) {
      const element = this.#element(i);
      if (element) this.marked.push(element);
    }
    for (const element of this.marked) element.classList.add("same");
  }

  // Bring the tokens of these bytes into view.
  reveal(start, end) {
    const [first] = this.overlapping(start, end);
    if (first < this.known) this.#bring(first);
  }

  choose(index) {
    this.#element(this.active)?.classList.remove("active");
    this.active = index;
    const element = this.#bring(index);
    element.classList.add("active");
    this.box.setAttribute("aria-activedescendant", element.id);
    this.on.choose(this, index);
  }

  // --- layout ---------------------------------------------------------------------------------------------------------

  #layOut(before, after, shift) {
    const scrolled = this.box.scrollTop;
    this.box.removeAttribute("aria-activedescendant");
    const head = this.blocks.filter(({ end }) => end <= before), tail = this.blocks.filter(({ first }) => first >= this.n - shift - after);
    for (const { element } of this.blocks.slice(head.length, this.blocks.length - tail.length)) {
      this.watcher.unobserve(element);
      this.byElement.delete(element);
      element.remove();
    }
    for (const block of tail) {
      block.first += shift;
      block.end += shift;
      if (block.filled && shift) this.#fill(block);
    }
    const middle = this.#blocksOf(head.at(-1)?.end ?? 0, tail[0]?.first ?? this.n);
    this.blocks = [...head, ...middle, ...tail];
    for (const block of middle) this.byElement.set(block.element, block);
    if (this.blocks.length < FEW) this.blocks.forEach((block) => this.#fill(block));
    const place = tail[0]?.element ?? null, added = document.createDocumentFragment();
    added.append(...middle.map((block) => block.element));
    this.box.insertBefore(added, place);
    middle.forEach((block) => this.watcher.observe(block.element));
    this.box.scrollTop = scrolled;
  }

  // Blocks of these tokens, without elements but of about the height they will have.
  #blocksOf(start, stop) {
    const width = Math.max(20, this.box.clientWidth / 9), line = 29, blocks = [];
    for (let first = start; first < stop;) {
      let end = Math.min(first + FEWEST, stop);
      while (end < stop && end < first + MOST && !this.#endsLine(end - 1)) end++;
      const n_bytes = end <= this.known ? this.ends[end - 1] - this.starts[first] : 4 * (end - first);
      const element = h("div", { role: "none" });
      element.style.height = `${line * Math.ceil(n_bytes / width)}px`;
      blocks.push({ first, end, element, filled: false });
      first = end;
    }
    return blocks;
  }

  #endsLine(index) {
    return index < this.known && this.bytes[this.ends[index] - 1] === NEWLINE;
  }

  #seen(entries) {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const block = this.byElement.get(target);
      if (!block) continue;
      if (isIntersecting && !block.filled) this.#fill(block);
      else if (!isIntersecting && block.filled && this.blocks.length >= FEW && !(this.active >= block.first && this.active < block.end)) {
        target.style.height = `${boundingClientRect.height}px`;
        target.replaceChildren();
        block.filled = false;
      }
    }
    if (this.brought !== null) this.#bring(this.brought);
  }

  #fill(block) {
    block.filled = true;
    const parts = [];
    for (let i = block.first; i < block.end; i++) parts.push(this.#token(i));
    block.element.replaceChildren(...parts);
    block.element.style.height = "";
    if (block.first < this.known) { // by the text, as bytes shown in hex would count as Latin
      const end = this.ends[Math.min(block.end, this.known) - 1];
      block.element.dir = directionOf(new TextDecoder().decode(this.bytes.subarray(this.starts[block.first], end)));
    }
  }

  #token(i) {
    const bytes = i < this.known || this.answer.tokens !== null ? this.bytesOf(i) : null;
    const nodes = bytes?.length ? shownBytes(bytes) : [h("code", {}, bytes === null || this.answer.tokens?.[i] === "" ? "unknown" : "∅")];
    const names = ["t", `c${i % 5}`, this.begins[i] && "piece", this.differs?.[i] && "differs", i === this.active && "active"];
    return h("span", { id: `${this.name}-${i}`, role: "option", class: names.filter(Boolean).join(" "), "data-i": i }, ...nodes);
  }

  #search(holds) {
    let low = 0, high = this.known;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) high = middle; else low = middle + 1;
    }
    return low;
  }

  #blockOf(index) {
    return this.blocks.find((block) => index >= block.first && index < block.end);
  }

  #element(index) {
    const block = this.#blockOf(index);
    return block?.filled ? block.element.children[index - block.first] : null;
  }

  #bring(index) {
    const block = this.#blockOf(index);
    if (!block.filled) this.#fill(block);
    const element = this.#element(index), box = this.box.getBoundingClientRect(), at = element.getBoundingClientRect();
    if (at.top < box.top || at.bottom > box.bottom) {
      this.box.scrollTop += at.top - box.top - box.height / 3;
    }
    this.brought = index;
    return element;
  }

  #indexOf(target) {
    const element = target.closest?.(".t");
    return element ? Number(element.dataset.i) : null;
  }

  #key(event) {
    const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -this.n, End: this.n };
    if (!(event.key in moves) || this.n === 0) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(this.n - 1, this.active + moves[event.key])));
  }
}
