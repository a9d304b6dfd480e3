document.documentElement.classList.add("js");
const items = [...document.querySelectorAll(".claims li")].map(item => [item, item.textContent.toLowerCase()]);
const words = document.getElementById("words"), shown = document.getElementById("shown");
const picks = [...document.querySelectorAll(".filters select")];
const heads = [...document.querySelectorAll(".claims")].map(list => [list, list.previousElementSibling]);
function filter() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const [item, text] of items) {
    const fits = picks.every(pick => !pick.value || item.dataset[pick.dataset.key] === pick.value);
    item.hidden = !(fits && asked.every(word => text.includes(word)));
    count += !item.hidden;
  }
  for (const [list, head] of heads) head.hidden = list.hidden = !list.querySelector("li:not([hidden])");
  shown.value = count + " of " + items.length;
  const state = new URLSearchParams([["q", words.value], ...picks.map(pick => [pick.dataset.key, pick.value])].filter(pair => pair[1]));
  if (state.size || location.hash.startsWith("#?")) location.replace("#" + (state.size ? "?" + state : ""));
}
const asked = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
words.value = asked.get("q") || "";
for (const pick of picks) pick.value = asked.get(pick.dataset.key) || "";
words.addEventListener("input", filter);
for (const pick of picks) pick.addEventListener("change", filter);
filter();
