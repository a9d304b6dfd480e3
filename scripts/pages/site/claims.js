// One search over the rows of a page. A template that keeps them is opened; at most STEP rows are drawn at a time.
document.documentElement.classList.add("js");
document.querySelectorAll("template.claims-kept").forEach(kept => kept.replaceWith(kept.content));
const STEP = 50;
const words = document.getElementById("words"), shown = document.getElementById("shown"), more = document.getElementById("more");
const picks = [...document.querySelectorAll(".filters select")];
const best = document.getElementById("best");
const groups = [...document.querySelectorAll(".group")].map(list => ({ list, head: list.previousElementSibling, rows: [...list.children].map(read) }));
const every = groups.flatMap(group => group.rows);
let limit = STEP;
function read(item) {
  const lower = element => element.textContent.toLowerCase();
  return { item, name: lower(item.querySelector("code")), line: lower(item.querySelector("summary") || item), text: lower(item),
    facets: item.dataset.facets.split("|") };
}
// Lower is better: the name, the phrase in the line, its words in the line, the phrase below it, its words below it.
function rank(row, phrase, asked) {
  const has = text => text.includes(phrase) ? 0 : asked.every(word => text.includes(word)) ? 1 : 2;
  return row.name === phrase ? 0 : has(row.line) < 2 ? 1 + has(row.line) : 3 + has(row.text);
}
function draw() {
  const phrase = words.value.toLowerCase().trim().replace(/\s+/g, " "), asked = phrase.split(" ");
  const chosen = every.filter(row => picks.every(pick => !pick.value || row.facets[pick.dataset.at] === pick.value));
  const ranked = chosen.map(row => [rank(row, phrase, asked), row]).filter(([place]) => place < 5);
  const found = ranked.sort((p, q) => p[0] - q[0]).map(([, row]) => row);
  const hits = new Set(found), drawn = new Set(found.slice(0, limit));
  for (const { list, head, rows } of groups) {
    list.replaceChildren(...(phrase ? [] : rows.filter(row => drawn.has(row)).map(row => row.item)));
    head.hidden = list.hidden = !list.children.length;
    head.querySelector("span").textContent = rows.filter(row => hits.has(row)).length;
  }
  best.replaceChildren(...(phrase ? [...drawn].map(row => row.item) : []));
  more.hidden = found.length <= limit;
  more.textContent = `Show all ${found.length}`;
  shown.value = `${found.length} of ${every.length}` + (more.hidden ? "" : `, ${limit} shown`);
}
function search() {
  limit = STEP;
  draw();
  const state = new URLSearchParams([["q", words.value], ...picks.map(pick => [pick.dataset.key, pick.value])].filter(pair => pair[1]));
  history.replaceState(null, "", state.size ? "#?" + state : location.pathname);
}
function ask(state) {
  words.value = state.get("q") || "";
  for (const pick of picks) pick.value = state.get(pick.dataset.key) || "";
}
// An address may hold a search, the name of a claim, or that of a group.
function follow() {
  const name = location.hash.slice(1);
  const item = every.find(row => row.name === name.toLowerCase())?.item;
  const there = item || groups.find(group => group.head.id === name)?.head;
  if (name.startsWith("?") || there) {
    ask(new URLSearchParams(there ? [] : name.slice(1)));
    limit = there ? Infinity : STEP;
    draw();
  }
  item?.querySelector("details")?.setAttribute("open", "");
  there?.scrollIntoView();
  item?.querySelector("summary, a").focus({ preventScroll: true });
}
words.addEventListener("input", search);
for (const pick of picks) pick.addEventListener("change", search);
more.addEventListener("click", () => { limit = Infinity; draw(); });
addEventListener("hashchange", follow);
draw();
follow();
