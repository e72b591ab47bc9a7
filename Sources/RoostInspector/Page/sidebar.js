// The dictionaries: at once by what snapshots say of them, then one after another with their counts.

import { element, grouped, notice, say, size } from "/elements.js";
import { get } from "/server.js";

const counts = new Map();
let dictionaries = [];
let counting = 0;
// Why the list could not be had, the last time that it was asked for.
let failure = null;
// Why nothing is known of the indexes.
let indexProblem = null;

export const isRepository = (name) =>
  dictionaries.find((dictionary) => dictionary.name === name)?.isRepository ?? false;
export const outline = (name) => dictionaries.find((dictionary) => dictionary.name === name);
export const first = () => dictionaries[0]?.name;

// Never fails: the page has its views without the list too.
export async function load(link, current) {
  try {
    ({ dictionaries, indexProblem } = await get("dictionaries"));
    failure = null;
  } catch (error) {
    failure = error.message;
  }
  show(link, current);
  count(link, current);
}

export function show(link, current) {
  const groups = [
    ["Repositories", dictionaries.filter((one) => one.isRepository)],
    ["Dictionaries", dictionaries.filter((one) => !one.isRepository)],
  ];
  const sidebar = document.getElementById("sidebar");
  sidebar.replaceChildren(
    ...groups.filter(([, list]) => list.length > 0).flatMap(([title, list]) => [
      element("h2", {}, title),
      element("ul", {}, list.map((one) => item(one, link, current))),
    ]),
  );
  if (failure === null && indexProblem !== null) sidebar.append(notice(`The indexes cannot be read: ${indexProblem}`, true));
  if (failure !== null) sidebar.append(notice(failure, true));
  else if (dictionaries.length === 0) sidebar.append(element("p", { class: "quiet" }, "No dictionary has a key."));
}

function item(dictionary, link, current) {
  const count = counts.get(dictionary.name);
  const countText = count !== undefined
    ? grouped(count)
    : dictionary.snapshotRecordCount > 0 ? `≈ ${grouped(dictionary.snapshotRecordCount)}` : "…";
  return element("li", {},
    element("a", { href: link(dictionary.name), "aria-current": dictionary.name === current ? "page" : null },
      element("span", { class: "name" }, dictionary.name === "" ? "(no name)" : dictionary.name),
      element("span", { class: "count", "data-count": dictionary.name }, countText),
      element("span", { class: "size" },
        dictionary.snapshotSizeBytes > 0 ? `${size(dictionary.snapshotSizeBytes)} in snapshots` : "in the log"),
      dictionary.problem === null ? null : element("span", { class: "problem" }, dictionary.problem)));
}

// One at a time, so that a large one does not keep the store from what a person asks for.
async function count(link, current) {
  counting += 1;
  const turn = counting;
  for (const dictionary of dictionaries) {
    try {
      const answer = await get("count", { dictionary: dictionary.name });
      if (turn !== counting) return;
      counts.set(dictionary.name, answer.keyCount);
      for (const place of document.querySelectorAll("[data-count]")) {
        if (place.dataset.count === dictionary.name) place.textContent = grouped(answer.keyCount);
      }
    } catch (error) {
      say(error.message);
    }
  }
}
