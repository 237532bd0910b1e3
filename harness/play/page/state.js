// What the page shows, and the same in the fragment of its address, which is never sent anywhere.

const LONGEST_TEXT = 20_000;

export const state = { text: "", columns: [], price: null, special: false, tab: "tokens" };
export const choices = { implementations: [], models: [] };

const toBase64 = (text) =>
  btoa(String.fromCodePoint(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const fromBase64 = (text) =>
  new TextDecoder("utf-8", { fatal: true }).decode(
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.codePointAt(0)));

export const fits = () => state.text.length <= LONGEST_TEXT;

export function keep() {
  const kept = { text: fits() ? state.text : undefined, columns: state.columns.map((c) => [c.implementation, c.model]) };
  if (state.price !== null) kept.price = state.price;
  if (state.special) kept.special = true;
  if (state.tab !== "tokens") kept.tab = state.tab;
  history.replaceState(null, "", `#${toBase64(JSON.stringify(kept))}`);
}

// The state of the address; null where it has none, or something else.
export function kept() {
  try {
    const saved = JSON.parse(fromBase64(location.hash.slice(1)));
    const columns = saved.columns.slice(0, 6).map(([implementation, model]) => {
      if (typeof implementation !== "string" || typeof model !== "string") throw new TypeError("columns are names");
      return { implementation, model };
    });
    return {
      columns,
      text: typeof saved.text === "string" ? saved.text : "",
      price: Number.isFinite(saved.price) ? saved.price : null,
      special: saved.special === true,
      tab: ["tokens", "steps", "train", "languages"].includes(saved.tab) ? saved.tab : "tokens",
    };
  } catch {
    return null;
  }
}
