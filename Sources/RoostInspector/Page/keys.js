// A dictionary's keys, a page at a time, by their bytes.

import { element, field, grouped, notice, remaining, say, scrolling, size } from "/elements.js";
import { get } from "/server.js";
import * as value from "/value.js";

const LIMIT = 100;
// Behind which key each page begins that was shown, and which of them is shown, to go back by. The browser goes
// back and forward by itself.
let trail = { of: "", keys: [], place: 0 };

function follow(identity, after) {
  const place = trail.of === identity ? trail.keys.indexOf(after) : -1;
  if (place >= 0) {
    trail.place = place;
  } else if (trail.of !== identity || after === undefined) {
    trail = { of: identity, keys: [after], place: 0 };
  } else {
    trail.keys = [...trail.keys.slice(0, trail.place + 1), after];
    trail.place += 1;
  }
}

export async function show(main, place, signal, app) {
  const { dictionary, query } = place;
  if (dictionary === undefined) {
    main.replaceChildren(notice("The workspace has no keys yet."));
    return;
  }
  const prefix = query.get("prefix") ?? "";
  const order = query.get("order") ?? "ascending";
  const after = query.get("after") ?? undefined;
  follow(JSON.stringify([dictionary, prefix, order]), after);
  const begin = performance.now();
  const page = await get("entries", { dictionary, prefix, order, after, limit: LIMIT }, signal);
  const milliseconds = Math.round(performance.now() - begin);

  const panel = element("div");
  const list = element("div");
  const fill = (entries) => list.replaceChildren(table(entries, (key) => open(panel, dictionary, key, app, refresh)));
  // What was changed here is shown in the list too.
  const refresh = async () => {
    app.reload();
    fill((await get("entries", { dictionary, prefix, order, after, limit: LIMIT }, signal)).entries);
  };
  fill(page.entries);
  main.replaceChildren(
    element("h2", {}, dictionary === "" ? "(no name)" : dictionary),
    bar(place, prefix, order, app),
    list,
    pager(place, page, { prefix, order, after }, app),
    panel);
  say(`${grouped(page.entries.length)} keys, in ${milliseconds} ms`);
  if (query.has("key")) await open(panel, dictionary, query.get("key"), app, refresh);
}

async function open(panel, dictionary, key, app, onChange) {
  try {
    await value.show(panel, dictionary, key, app, onChange);
    panel.scrollIntoView({ block: "nearest" });
  } catch (error) {
    panel.replaceChildren(notice(error.message, true));
  }
}

function bar(place, prefix, order, app) {
  const search = element("input", { type: "search", name: "prefix", value: prefix, autocomplete: "off", spellcheck: "false" });
  const choice = element("select", { name: "order" },
    element("option", { value: "ascending", selected: order === "ascending" }, "first to last"),
    element("option", { value: "descending", selected: order === "descending" }, "last to first"));
  const submit = (event) => {
    event?.preventDefault();
    app.go("keys", place.dictionary, { prefix: search.value, order: choice.value === "ascending" ? undefined : choice.value });
  };
  choice.addEventListener("change", submit);
  return element("form", { class: "bar", role: "search", onsubmit: submit },
    field("Keys that begin with", search, "wide"), field("Order", choice), element("button", { class: "main" }, "Show"));
}

function table(entries, onOpen) {
  if (entries.length === 0) return notice("No key begins so.");
  const head = element("tr", {},
    ...["Key", "Value"].map((title) => element("th", { scope: "col" }, title)),
    element("th", { scope: "col", class: "less" }, "Type"),
    element("th", { scope: "col", class: "number less" }, "Size"),
    element("th", { scope: "col", class: "less" }, "Expires"),
    element("th", { scope: "col", class: "number less" }, "Version"));
  return scrolling("Keys and values", element("table", {},
    element("caption", { class: "quiet" }, "Keys and values, in the order of the keys' bytes"),
    element("thead", {}, head), element("tbody", {}, entries.map((entry) => row(entry, onOpen)))));
}

function row(entry, onOpen) {
  return element("tr", {},
    element("td", { class: "key" }, element("button", { type: "button", onclick: () => onOpen(entry.key) }, entry.key === "" ? "(empty)" : entry.key)),
    element("td", { class: "value" }, entry.preview),
    element("td", { class: "less" }, element("span", { class: "type" }, entry.type)),
    element("td", { class: "number less" }, size(entry.sizeBytes)),
    element("td", { class: "less" }, remaining(entry.deadline)),
    element("td", { class: "number less" }, String(entry.version)));
}

function pager(place, page, { prefix, order, after }, app) {
  const go = (last) => app.go("keys", place.dictionary, { prefix, order: order === "ascending" ? undefined : order, after: last });
  const next = element("button", { type: "button", "data-next": true, disabled: !page.hasMore, onclick: () => go(page.entries.at(-1).key) }, "Next page");
  const previous = element("button", { type: "button", "data-previous": true, disabled: after === undefined, onclick: () => go(trail.keys[trail.place - 1]) },
    trail.place > 0 || after === undefined ? "Previous page" : "First page");
  return element("div", { class: "bar" }, previous, next);
}
