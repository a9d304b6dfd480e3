// One search over the rows of a page. A template that keeps them is opened; at most STEP rows are drawn at a time.
document.documentElement.classList.add("js");
document.querySelectorAll("template.claims-kept").forEach(kept => kept.replaceWith(kept.content));
const STEP = 50;
const words = document.getElementById("words"), shown = document.getElementById("shown"), more = document.getElementById("more");
const picks = [...document.querySelectorAll(".filters select")];
const groups = [...document.querySelectorAll(".claims")].map(list => ({
  list, head: list.previousElementSibling,
  rows: [...list.children].map(item => ({ item, facets: item.dataset.facets.split("|"), text: item.textContent.toLowerCase() })),
}));
const total = groups.reduce((sum, group) => sum + group.rows.length, 0);
let limit = STEP;
function draw() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = row => picks.every(pick => !pick.value || row.facets[pick.dataset.at] === pick.value)
    && asked.every(word => row.text.includes(word));
  let count = 0;
  for (const { list, head, rows } of groups) {
    const found = rows.filter(fits);
    list.replaceChildren(...found.slice(0, Math.max(0, limit - count)).map(row => row.item));
    head.hidden = list.hidden = !list.children.length;
    head.querySelector("span").textContent = found.length;
    count += found.length;
  }
  more.hidden = count <= limit;
  more.textContent = `Show all ${count}`;
  shown.value = `${count} of ${total}` + (count > limit ? `, ${limit} shown` : "");
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
  const item = groups.flatMap(group => group.rows).find(row => row.item.querySelector("code").textContent === name)?.item;
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
