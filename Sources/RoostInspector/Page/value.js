// One value: its facts, its tree, and what may be changed of it.

import { element, facts, field, grouped, moment, notice, remaining, say, size } from "/elements.js";
import { get, put, remove } from "/server.js";

// A list of members or elements longer than this is shown a part at a time.
const PART = 200;

export async function show(panel, dictionary, key, app, onChange) {
  const value = await get("value", { dictionary, key });
  fill(panel, dictionary, value, app, onChange);
  panel.querySelector("h3").focus();
}

function fill(panel, dictionary, value, app, onChange) {
  const close = () => panel.replaceChildren();
  const deadline = value.deadline === null ? "never" : `${moment(value.deadline)} (${remaining(value.deadline)})`;
  panel.replaceChildren(element("section", { class: "panel", "aria-label": `Value of ${value.key}` },
    element("h3", { tabindex: "-1" }, value.key === "" ? "(the empty key)" : value.key),
    facts([
      ["type", element("span", { class: "type" }, value.type)], ["size", value.sizeBytes < 1024 ? size(value.sizeBytes) : `${size(value.sizeBytes)} (${grouped(value.sizeBytes)} bytes)`],
      ["version", String(value.version)], ["expires", deadline],
      ...(value.typeVersion > 1 ? [["type's version", String(value.typeVersion)]] : []),
    ]),
    value.tree ? element("div", { class: "tree" }, tree(value.tree)) : bytes(value),
    editor(panel, dictionary, value, app, onChange),
    element("button", { type: "button", "data-close": true, onclick: close }, "Close")));
}

function bytes(value) {
  const { count, first } = value.bytes;
  const shown = first === "" ? 0 : first.split(" ").length;
  return element("div", {},
    element("p", { class: "quiet" }, shown < count ? `The first ${grouped(shown)} of ${grouped(count)} bytes:` : `${grouped(count)} bytes:`),
    element("pre", { tabindex: "0", "aria-label": "Bytes, in hexadecimal" }, first));
}

function tree(node) {
  return element("ul", {}, element("li", {}, nodeContent(null, node, true)));
}

function nodeContent(name, node, isOpen) {
  const label = name === null ? [] : [element("strong", {}, name), ": "];
  const children = node.members ?? node.elements?.map((child, index) => [String(index), child]);
  if (!children) {
    return element("span", {}, ...label, element("span", { class: "text" }, node.text), " ", element("span", { class: "type" }, node.type));
  }
  const count = node.members ? `${children.length} members` : `${children.length} elements`;
  const list = element("ul");
  const made = element("details", { open: isOpen && children.length <= PART },
    element("summary", {}, ...label, element("span", { class: "type" }, node.type), ` ${count}`), list);
  // What is closed is made when it is opened.
  const fillList = () => { if (list.childElementCount === 0) part(list, children, 0); };
  if (made.open) fillList();
  made.addEventListener("toggle", fillList);
  return made;
}

function part(list, children, begin) {
  for (const [name, child] of children.slice(begin, begin + PART)) {
    list.append(element("li", {}, nodeContent(name, child, false)));
  }
  const end = begin + PART;
  if (end >= children.length) return;
  const more = element("li", {}, element("button", { type: "button", onclick: () => { more.remove(); part(list, children, end); } },
    `${grouped(children.length - end)} more`));
  list.append(more);
}

function editor(panel, dictionary, value, app, onChange) {
  if (!app.allowsWriting) return null;
  const removeButton = element("button", { type: "button", class: "danger", onclick: () => change(async () => {
    if (!confirm(`Remove "${value.key}"?`)) return;
    await remove("value", { dictionary, key: value.key, version: value.version });
    panel.replaceChildren();
    say(`Removed ${value.key}; it is on disk.`);
    onChange();
  }) }, "Remove");
  const failure = element("div");
  const change = async (body) => {
    failure.replaceChildren();
    try { await body(); } catch (error) { failure.replaceChildren(notice(error.message, true)); }
  };
  if (value.editableText === null) {
    return element("div", {}, element("p", { class: "quiet" }, "This value cannot be changed as text without a loss."), failure,
      element("div", { class: "bar" }, removeButton));
  }
  const text = element("textarea", { spellcheck: "false", name: "text" });
  text.value = value.editableText;
  const save = element("button", { type: "submit", class: "main" }, "Save");
  return element("form", { onsubmit: (event) => {
    event.preventDefault();
    change(async () => {
      const saved = await put("value", { dictionary, key: value.key, version: value.version, fingerprint: value.fingerprint, text: text.value });
      if (saved.isRemoved) {
        // By somebody else, or by its own deadline, since it was saved.
        panel.replaceChildren();
        say(`Saved ${value.key}; it has been removed since.`);
      } else {
        fill(panel, dictionary, saved, app, onChange);
        say(`Saved ${value.key}; it is on disk.`);
      }
      onChange();
    });
  } }, field(`New value, as ${value.type}${["Data", "[UInt8]"].includes(value.type) ? ", in base 64" : ""}`, text), failure, element("div", { class: "bar" }, save, removeButton));
}
