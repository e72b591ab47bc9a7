// The frame: which view is shown is in the address behind "#", so that back, forward and reload work.
//
//     #/keys/settings?prefix=ui.

import { element, notice, say } from "/elements.js";
import { find } from "/key.js";
import { get, queryText } from "/server.js";
import * as sidebar from "/sidebar.js";
import * as keys from "/keys.js";
import * as objects from "/objects.js";
import * as changes from "/changes.js";
import * as storage from "/storage.js";
import * as health from "/health.js";

const views = { keys, objects, changes, storage, health };
const titles = { keys: "Keys", objects: "Objects", changes: "Changes", storage: "Storage", health: "Health" };
const main = document.getElementById("main");
let shown = null;

export const app = { allowsWriting: false, place: null, go, reload };

function parsed() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/");
  const name = rest.length > 0 ? decoded(rest.join("/")) : undefined;
  return { view: Object.hasOwn(views, view) ? view : "keys", dictionary: name, query: new URLSearchParams(query) };
}

// An address may be written by hand: "%" alone stands for itself.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function address(view, dictionary, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const name = dictionary === undefined ? "" : `/${encodeURIComponent(dictionary)}`;
  return `#/${view}${name}${queryText(Object.fromEntries(given))}`;
}

function go(view, dictionary, query) {
  const target = address(view, dictionary, query);
  if (location.hash === target) show();
  else location.hash = target;
}

const sidebarLink = (name) => {
  const { view } = app.place;
  if (view === "changes") return address("changes", name);
  return address(sidebar.isRepository(name) ? "objects" : "keys", name);
};

function showViews() {
  const { view, dictionary } = app.place;
  document.getElementById("views").replaceChildren(
    ...Object.keys(views).map((name) =>
      element("a", { href: address(name, dictionary), "aria-current": name === view ? "page" : null }, titles[name])));
}

async function show() {
  shown?.abort();
  shown = new AbortController();
  const place = parsed();
  if (place.dictionary === undefined && place.view !== "changes") place.dictionary = sidebar.first();
  const isOtherView = app.place?.view !== place.view;
  if (isOtherView || app.place?.dictionary !== place.dictionary) window.scrollTo(0, 0);
  app.place = place;
  showViews();
  sidebar.show(sidebarLink, place.dictionary);
  document.title = `${titles[place.view]}${place.dictionary ? ` of ${place.dictionary}` : ""} – Roost`;
  try {
    await views[place.view].show(main, place, shown.signal, app);
    if (isOtherView) main.focus({ preventScroll: true });
  } catch (error) {
    if (error.name === "AbortError") return;
    main.replaceChildren(notice(error.message, true));
  }
}

async function reload() {
  await sidebar.load(sidebarLink, app.place?.dictionary);
}

function isTyping(event) {
  return event.target.matches("input, textarea, select") || document.querySelector("dialog[open]");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  const number = "12345".indexOf(event.key);
  if (number >= 0) {
    go(Object.keys(views)[number], app.place.dictionary);
  } else if (event.key === "/") {
    main.querySelector("input[type=search]")?.focus();
  } else if (event.key === "n" || event.key === "p") {
    main.querySelector(event.key === "n" ? "[data-next]" : "[data-previous]")?.click();
  } else if (event.key === "j" || event.key === "k") {
    const rows = [...main.querySelectorAll("td.key button")];
    const index = rows.indexOf(document.activeElement);
    rows[event.key === "j" ? Math.min(rows.length - 1, index + 1) : Math.max(0, index - 1)]?.focus();
  } else if (event.key === "Escape") {
    main.querySelector("[data-close]")?.click();
  } else if (event.key === "?") {
    document.getElementById("help").showModal();
  } else {
    return;
  }
  event.preventDefault();
});

document.getElementById("help-button").addEventListener("click", () => document.getElementById("help").showModal());
window.addEventListener("hashchange", show);

try {
  await find();
  const workspace = await get("workspace");
  app.allowsWriting = workspace.allowsWriting;
  document.getElementById("path").textContent = workspace.path;
  const mode = document.getElementById("mode");
  mode.textContent = workspace.allowsWriting ? "values can be changed" : "read-only";
  mode.classList.toggle("writing", workspace.allowsWriting);
  app.place = parsed();
  await reload();
  await show();
  if (workspace.tornTailCount > 0) say(`${workspace.tornTailCount} torn tails were cut when the workspace opened.`);
} catch (error) {
  main.replaceChildren(notice(error.message, true));
}
