// What is committed, as it comes.

import { element, field, grouped, notice, say, scrolling } from "/elements.js";
import { listen } from "/server.js";

const SHOWN = 500;

export function show(main, place, signal, app) {
  const { dictionary, query } = place;
  const prefix = query.get("prefix") ?? "";
  const body = element("tbody");
  const state = element("p", { class: "quiet" }, "Connecting…");
  let isPaused = false;
  let waiting = [];
  let count = 0;

  const add = (changes) => {
    body.prepend(...changes.map(row).reverse());
    while (body.childElementCount > SHOWN) body.lastElementChild.remove();
    state.textContent = `${grouped(count)} changes since this page was opened`;
  };
  const pause = element("button", { type: "button", "aria-pressed": "false", onclick: () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    if (!isPaused) {
      add(waiting);
      waiting = [];
    }
  } }, "Pause");
  const search = element("input", { type: "search", name: "prefix", value: prefix, autocomplete: "off", spellcheck: "false" });
  const title = dictionary === undefined ? "Changes of all dictionaries" : `Changes of ${dictionary}`;
  main.replaceChildren(
    element("h2", {}, title),
    element("form", { class: "bar", role: "search", onsubmit: (event) => {
      event.preventDefault();
      app.go("changes", dictionary, { prefix: search.value });
    } }, field("Keys that begin with", search, "wide"), element("button", { class: "main" }, "Watch"), pause,
      element("button", { type: "button", onclick: () => body.replaceChildren() }, "Clear"),
      dictionary === undefined ? null : element("button", { type: "button", onclick: () => app.go("changes") }, "Watch all")),
    state,
    scrolling("Changes", element("table", {},
      element("caption", { class: "quiet" }, "The newest first"),
      element("thead", {}, element("tr", {}, ...["Seen", "Change", "Dictionary", "Key", "Value"].map((head) => element("th", { scope: "col" }, head)),
        element("th", { scope: "col", class: "number less" }, "Version"))), body)));

  // Not waited for: it goes on until another view is shown.
  listen(dictionary === undefined ? { prefix } : { dictionary, prefix }, signal, {
    onChange(change) {
      count += change.change === "missed" ? change.count : 1;
      if (!isPaused) return add([change]);
      waiting.push(change);
      waiting = waiting.slice(-SHOWN);
      state.textContent = `Paused; ${grouped(waiting.length)} changes wait`;
    },
    onReady(isAgain) {
      if (isAgain) main.insertBefore(notice("The connection was lost for a while: changes may be missing."), state);
      state.textContent = "Waiting for changes";
      state.dataset.isReady = "true";
      say("Waiting for changes");
    },
    onBreak() { state.textContent = "The connection is lost; trying again…"; },
    onEnd(message) {
      main.insertBefore(notice(`No more changes come: ${message}`, true), state);
      state.textContent = "Ended";
    },
  });
}

const words = { set: "set", removed: "removed", removedAll: "all removed", unreadable: "set", missed: "missed" };

function row(change) {
  const now = new Date();
  const seen = `${now.toTimeString().slice(0, 8)}.${String(now.getMilliseconds()).padStart(3, "0")}`;
  return element("tr", { "data-seen": Date.now(), "data-key": change.key ?? "" },
    element("td", { class: "quiet" }, seen),
    element("td", {}, words[change.change]),
    element("td", {}, change.dictionary ?? ""),
    element("td", { class: "value" }, change.key ?? ""),
    element("td", { class: "value" }, change.change === "missed" ? `${grouped(change.count)} changes had no room` : change.preview ?? ""),
    element("td", { class: "number less" }, change.version === undefined ? "" : String(change.version)));
}
