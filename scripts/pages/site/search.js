"use strict";
// One search over all that the site has. Its index is a script, which a page opened from a file may load.
(() => {
const here = document.currentScript.src;
const KINDS = ["question", "command", "page", "function", "figure", "word", "claim"], SHOWN = 12;
const TOLD = new Set(["question", "command"]); // their words rank as a title does
const SHORT = {appendix: "app", equation: "eq", figure: "fig", section: "sec", table: "tab", theorem: "thm"};
const SMALL = new Set(("a an and are can do does for how i in is it my of on or the to what where which who why with " +
  "your").split(" "));
const form = document.getElementById("finder"), box = document.getElementById("search");
const list = document.getElementById("found"), said = document.getElementById("said");
let rows = null;

const parts = text => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
const sort = letter => /\p{L}/u.test(letter) ? "letter" : /\p{N}/u.test(letter) ? "digit" : "";

/** Whether a word of the text begins so; a number is a whole one. */
function starts(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = sort(text[at - 1] ?? ""), last = sort(word.at(-1)), after = sort(text[at + word.length] ?? "");
    const decimals = sort(word[0]) === "digit" && text[at - 1] === "." && sort(text[at - 2] ?? "") === "digit";
    if (before !== sort(word[0]) && !decimals && !(last === "digit" && after === "digit")) return true;
  }
  return false;
}

const begins = (text, word) => starts(text, word) || (word in SHORT && starts(text, SHORT[word]));

/** The words of a phrase that count, less the s of a plural. */
function wordsOf(phrase) {
  const all = phrase.split(/\s+/).map(word => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")).filter(Boolean);
  const large = all.filter(word => !SMALL.has(word));
  return (large.length ? large : all).map(word => /..[^s]s$/.test(word) ? word.slice(0, -1) : word);
}

/** Whether the phrase has a command's name, or a function's or claim's name ends so (alibi scope, thm3.3), or a claim's
    begins so (kv.thm). */
function names(row, phrase, asked) {
  if (row.kind === "command") return asked.includes(row.name);
  const end = new RegExp(`(^|\\.)${asked.join("[._ ]")}$`).test(row.head);
  if (row.kind === "claim") return phrase.includes(".") && (end || row.head.startsWith(phrase));
  return row.kind === "function" && end;
}

/** The order of what has every word, less first: the phrase is the title, or names it, or all words are in the title;
    the words side by side; the kind; how many words the title lacks; its length. */
function order(row, phrase, words) {
  if (!words.length || !words.every(word => begins(row.all, word))) return null;
  const asked = parts(phrase), told = TOLD.has(row.kind) ? row.all : row.head;
  const heading = row.kind === "page" && row.link.includes("#"), exact = row.name === asked.join(" ") && !heading;
  const titled = words.every(word => begins(told, word));
  const first = exact ? 0 : !titled ? 3 : names(row, phrase, asked) ? 1 : 2;
  const together = starts(first < 3 ? told : row.all, phrase) ? 0 : 1;
  const missing = words.filter(word => !begins(row.head, word)).length;
  return [first, together, KINDS.indexOf(row.kind) + heading / 2, missing, row.title.length];
}

function ranked(text) {
  const phrase = text.trim().toLowerCase(), words = wordsOf(phrase);
  const found = rows.map(row => [order(row, phrase, words), row]).filter(([place]) => place);
  return found.sort(([a], [b]) => a.map((part, k) => part - b[k]).find(Boolean) ?? 0).map(([, row]) => row);
}

function entry(row) {
  const item = document.createElement("li"), link = document.createElement("a");
  link.href = new URL(row.link, here);
  link.dataset.kind = row.kind;
  for (const [tag, kind, text] of [["b", "", row.title], ["span", "tag", row.kind], ["span", "meta", row.text]]) {
    const part = document.createElement(tag);
    part.className = kind;
    part.textContent = text;
    link.append(part, " ");
  }
  item.append(link);
  return item;
}

function show() {
  const phrase = box.value, found = rows ? ranked(phrase) : [];
  list.replaceChildren(...found.slice(0, SHOWN).map(entry));
  list.dataset.phrase = rows ? phrase : "";
  said.textContent = !phrase.trim() ? "" : !rows ? "Reading the index." : !found.length ? "Nothing found."
    : found.length > SHOWN ? `${SHOWN} of ${found.length}` : `${found.length} found`;
}

function load() {
  if (document.getElementById("search-index")) return;
  const script = document.createElement("script");
  script.id = "search-index";
  script.src = new URL("search-index.js", here);
  script.onload = () => {
    rows = window.searchIndex.map(([kind, title, link, text]) => ({kind: KINDS[kind], title, link, text,
      name: parts(title).join(" "), head: title.toLowerCase(),
      all: `${title} ${text} ${KINDS[kind] === "page" ? link.split(".html")[0] : ""}`.toLowerCase()}));
    show();
  };
  script.onerror = () => { said.textContent = "The index is missing."; };
  document.head.append(script);
}

function close() {
  box.value = "";
  show();
}

box.addEventListener("input", () => { load(); show(); });
form.addEventListener("submit", event => { event.preventDefault(); list.querySelector("a")?.click(); });
list.addEventListener("click", close);
form.addEventListener("keydown", event => {
  if (event.key === "Escape") { close(); box.focus(); event.preventDefault(); }
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key], stops = [box, ...list.querySelectorAll("a")];
  if (!step) return;
  stops[Math.max(0, Math.min(stops.length - 1, stops.indexOf(document.activeElement) + step))].focus();
  event.preventDefault();
});
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  box.focus();
  event.preventDefault();
});
form.hidden = false;
})();
