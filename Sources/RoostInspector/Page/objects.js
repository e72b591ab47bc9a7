// A repository's objects as a table: what a condition takes, in the order of a member.

import { element, field, grouped, notice, say, scrolling, size } from "/elements.js";
import { get } from "/server.js";
import { outline } from "/sidebar.js";
import * as value from "/value.js";

const LIMIT = 50;

export async function show(main, place, signal, app) {
  const { dictionary, query } = place;
  if (dictionary === undefined) {
    main.replaceChildren(notice("The workspace has no objects yet."));
    return;
  }
  const wanted = {
    where: query.get("where") ?? "", sort: query.get("sort") ?? "", order: query.get("order") ?? "ascending",
    after: query.get("after") ?? undefined,
  };
  const panel = element("div");
  const answer = element("div", { "aria-live": "polite" });
  main.replaceChildren(element("h2", {}, dictionary), bar(place, wanted, app), answer, panel, indexes(dictionary));
  const begin = performance.now();
  let page;
  try {
    page = await get("objects", { dictionary, ...wanted, where: wanted.where || undefined, sort: wanted.sort || undefined, limit: LIMIT }, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    answer.replaceChildren(notice(error.message, true));
    return;
  }
  const milliseconds = Math.round(performance.now() - begin);
  answer.replaceChildren(
    element("pre", { tabindex: "0", "aria-label": "How the query was answered" }, page.explanation),
    ...page.warnings.map((text) => notice(text)),
    table(place, page, wanted, app, (key) => open(panel, dictionary, key, app)),
    pager(place, page, wanted, app));
  say(`${grouped(page.rows.length)} objects, in ${milliseconds} ms`);
}

async function open(panel, dictionary, key, app) {
  try {
    await value.show(panel, dictionary, key, app, () => app.reload());
    panel.scrollIntoView({ block: "nearest" });
  } catch (error) {
    panel.replaceChildren(notice(error.message, true));
  }
}

function bar(place, wanted, app) {
  const condition = element("input", {
    type: "search", name: "where", value: wanted.where, autocomplete: "off", spellcheck: "false",
    placeholder: "priority > 100 && color == \"red\"",
  });
  return element("form", { class: "bar", role: "search", onsubmit: (event) => {
    event.preventDefault();
    app.go("objects", place.dictionary, { ...wanted, where: condition.value, after: undefined });
  } }, field("Objects where", condition, "wide"), element("button", { class: "main" }, "Find"));
}

// A name that an order by members cannot say: a dot leads to a member's member, a minus sign turns the order around.
const isSortable = (name) => name !== "" && !/^-|[\s.,?]/u.test(name);

function table(place, page, wanted, app, onOpen) {
  if (page.rows.length === 0) return notice(page.next ? "None of these objects is so." : "No object is so.");
  const heads = page.columns.map((name) => {
    if (!isSortable(name)) return element("th", { scope: "col" }, name);
    const isSorted = wanted.sort === name;
    const order = isSorted && wanted.order === "ascending" ? "descending" : "ascending";
    return element("th", { scope: "col", "aria-sort": isSorted ? wanted.order : "none" },
      element("button", { type: "button", onclick: () => app.go("objects", place.dictionary, { where: wanted.where, sort: name, order }) },
        name, isSorted ? (wanted.order === "ascending" ? " ▲" : " ▼") : ""));
  });
  return scrolling("Objects", element("table", {},
    element("caption", { class: "quiet" }, wanted.sort ? `Objects by ${wanted.sort}` : "Objects by their keys"),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Key"), ...heads)),
    element("tbody", {}, page.rows.map((row) => element("tr", {},
      element("td", { class: "key" }, element("button", { type: "button", onclick: () => onOpen(row.key) }, row.key)),
      ...page.columns.map((name) => element("td", { class: "value" }, Object.hasOwn(row.cells, name) ? row.cells[name] : "")))))));
}

function pager(place, page, wanted, app) {
  const go = (change) => app.go("objects", place.dictionary, { where: wanted.where, sort: wanted.sort, order: wanted.sort ? wanted.order : undefined, ...change });
  const isLater = wanted.after !== undefined;
  return element("div", { class: "bar" },
    element("button", { type: "button", "data-previous": true, disabled: !isLater, onclick: () => history.back() }, "Previous page"),
    element("button", { type: "button", "data-next": true, disabled: !page.next, onclick: () => go(page.next) }, "Next page"));
}

function indexes(dictionary) {
  const list = outline(dictionary)?.indexes ?? [];
  if (list.length === 0) return element("p", { class: "quiet" }, "No index is declared.");
  return element("section", {}, element("h3", {}, "Indexes"), scrolling("Indexes", element("table", {},
    element("caption", { class: "quiet" }, "What keeps the objects in order"),
    element("thead", {}, element("tr", {}, ...["Name", "Fields", "State"].map((title) => element("th", { scope: "col" }, title)),
      element("th", { scope: "col", class: "number" }, "In snapshots"))),
    element("tbody", {}, list.map((index) => element("tr", {},
      element("th", { scope: "row" }, index.name), element("td", { class: "value" }, index.shape), element("td", {}, index.state),
      element("td", { class: "number" }, `${grouped(index.entryRecordCount)} entries, ${size(index.snapshotSizeBytes)}`)))))));
}
