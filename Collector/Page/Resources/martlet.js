// This module adds what needs a script: refresh, live tail, keys, copy buttons. Every view is readable without it.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const leadsTo = (row) => one("a[href]", row)?.getAttribute("href");
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const clock = () => new Date().toISOString().slice(11, 19); // UTC, like all times on the page

// The region has to exist before its text, because a screen reader only speaks changes.
const region = make("p", { className: "say", role: "status" });
function say(text) {
  region.textContent = text;
  setTimeout(() => { if (region.textContent === text) region.replaceChildren(); }, 3000);
}

// Refresh: loads the page's address again and replaces the parts that change.
const parts = ["main", ".health", ".scope .period", ".foot > span:last-of-type"];
const period = one("main [data-live]") ? 2 : Number(document.body.dataset.refresh) || 0;
const editedForms = new Set();
let timer, asking = false, paused = false, failures = 0, lastAnswer = clock();

// After a failure the wait doubles, up to a minute.
function schedule() {
  clearTimeout(timer);
  timer = setTimeout(refresh, 1000 * Math.min(period * 2 ** failures, Math.max(period, 60)));
}

async function refresh() {
  if (!period || asking || paused || document.hidden) return;
  if (isHeld()) {
    if (!failures) showState(`on hold since ${lastAnswer}`, false);
    return schedule();
  }
  asking = true;
  try {
    const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(10_000) });
    if (answer.status === 401) return location.reload(); // The address now returns the login form.
    if (!answer.ok) throw answer;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    failures = 0;
    if (paused || isHeld()) return;
    replaceWith(page);
    lastAnswer = clock();
  } catch (error) {
    failures += 1;
    if (!paused) showState(`${error.status ?? "no answer"} since ${lastAnswer}`, true);
    if (failures === 1) say("The page could not be refreshed");
  } finally {
    asking = false;
    schedule();
  }
}

// Whether the reader is doing something that new content would interrupt.
function isHeld() {
  const busy = "dialog[open], main :is(input, select, textarea):focus, main :active, [data-live]:is(:hover, :focus-within)";
  return !document.getSelection().isCollapsed || one(busy) !== null;
}

function showState(text, stale) {
  one(".fresh")?.replaceChildren(text);
  one(".fresh")?.classList.toggle("stale", stale);
}

function replaceWith(page) {
  // The view gained or lost its window bar, because the first request has arrived.
  if (!one("main", page) || !one(".scope") !== !one(".scope", page)) return location.reload();
  const restore = remember();
  const rows = () => all("[data-live] tbody tr");
  const known = new Set(rows().map(leadsTo));
  for (const part of parts) {
    const content = one(part, page);
    if (content) one(part)?.replaceChildren(...content.childNodes);
  }
  restore();
  rows().filter((row) => !known.has(leadsTo(row))).forEach((row) => row.classList.add("arrived"));
}

// Returns a function that repeats on the new content what the reader did to the old.
function remember() {
  const steps = [];
  const keep = (element, step) => {
    const find = locator(element);
    steps.push(() => [find()].filter(Boolean).forEach(step));
  };
  for (const form of editedForms) if (form.isConnected) keep(form, (found) => found.replaceWith(form));
  for (const details of all("main details")) keep(details, (found) => { found.open = details.open; });
  for (const box of all("main :is(.scroll, pre)")) {
    const { scrollLeft, scrollTop } = box;
    if (scrollLeft || scrollTop) keep(box, (found) => found.scrollTo(scrollLeft, scrollTop));
  }
  const focus = document.activeElement;
  if (focus.closest(parts.join())) keep(focus, (found) => found.focus({ preventScroll: true }));
  return () => steps.forEach((step) => step());
}

// Returns a function that finds the element in new content: by its link, or else by its position.
function locator(element) {
  const place = placeOf(element);
  const href = element.getAttribute("href");
  const twins = () => all("a[href]").filter((link) => link.getAttribute("href") === href);
  const index = twins().indexOf(element);
  return () => twins()[index] ?? one(place);
}

// Returns a selector that starts at the nearest element with an id.
function placeOf(element) {
  if (element.id || element === document.body) return element.id ? `#${CSS.escape(element.id)}` : "body";
  const parent = element.parentElement;
  const alike = [...parent.children].filter((other) => other.localName === element.localName);
  return `${placeOf(parent)} > ${element.localName}:nth-of-type(${alike.indexOf(element) + 1})`;
}

// The link and the address swap, so that a copied address shows what the reader sees.
function togglePause(link) {
  paused = !paused;
  const here = location.href;
  history.replaceState(null, "", link.href);
  link.href = here;
  link.firstChild.data = paused ? "Resume" : "Pause";
  return paused ? showState(`paused at ${clock()}`, false) : refresh();
}

// Keys are single characters without a modifier. They do nothing in a field, and can be turned off (WCAG 2.1.4).
const keys = {
  "/": ["search requests", goToSearch],
  "j": ["next row", () => moveRow(1)],
  "k": ["previous row", () => moveRow(-1)],
  "[": ["earlier window", () => one('.scope a[rel~="prev"]')?.click()],
  "]": ["later window", () => one('.scope a[rel~="next"]')?.click()],
  "?": ["show this list", showKeys],
};

// The fragment makes the next view focus its search field.
const searchField = () => one('main input[type="search"]');
function goToSearch() {
  const field = searchField();
  if (field) return field.focus();
  const link = one('nav a[href^="/requests"]');
  if (link) location.href = `${link.getAttribute("href")}#search`;
}

function arriveAtSearch() {
  if (location.hash !== "#search") return;
  history.replaceState(null, "", location.pathname + location.search);
  searchField()?.focus();
}

function moveRow(step) {
  const rows = all("main tbody tr").filter((row) => one("a[href]", row)?.checkVisibility());
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  rows[current < 0 ? 0 : current + step]?.querySelector("a[href]").focus();
}

// The browser may forbid localStorage. Then the choice lasts until the reader leaves the page.
let keysAreOn = true;
try { keysAreOn = localStorage.getItem("martlet.keys") !== "off"; } catch {}
function turnKeys(on) {
  keysAreOn = on;
  try { localStorage.setItem("martlet.keys", on ? "on" : "off"); } catch {}
}

function onKey(event) {
  // Some keyboards type [ and ] with AltGr, which is reported as Control and Alt.
  const modified = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (modified || event.isComposing || !Object.hasOwn(keys, event.key) || !keysAreOn) return;
  if (event.target.closest("input, select, textarea, dialog")) return;
  event.preventDefault();
  keys[event.key][1]();
}

function showKeys() {
  const list = Object.entries(keys).map(([key, [text]]) =>
    make("div", {}, make("dt", {}, make("kbd", { textContent: key })), make("dd", { textContent: text })));
  const on = make("input", { type: "checkbox", checked: keysAreOn, onchange: () => turnKeys(on.checked) });
  const dialog = make("dialog", { className: "keys", ariaLabel: "Keys", onclose: () => dialog.remove() },
    make("h2", { textContent: "Keys" }), make("dl", { className: "pairs" }, ...list), make("label", {}, on, "Keys are on"),
    make("button", { type: "button", textContent: "Close", autofocus: true, onclick: () => dialog.close() }));
  document.body.append(dialog);
  dialog.showModal();
}

// Copy: browsers have no clipboard API without TLS. Then the text is selected and copied the old way.
async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    getSelection().selectAllChildren(source);
    if (!document.execCommand("copy")) return say("Selected; press Ctrl+C to copy");
    getSelection().removeAllRanges();
  }
  say("Copied");
}

function onClick(event) {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(one(button.dataset.copy));
  const link = event.target.closest("a[data-pause]");
  if (!link || !period || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  togglePause(link);
}

document.documentElement.classList.add("scripted");
document.body.append(region);
one(".foot")?.append(make("button", { type: "button", className: "quiet", textContent: "Keys", onclick: showKeys }));
document.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
document.addEventListener("input", ({ target }) => { if (target.form?.closest("main")) editedForms.add(target.form); });
document.addEventListener("visibilitychange", refresh);
arriveAtSearch();
schedule();
