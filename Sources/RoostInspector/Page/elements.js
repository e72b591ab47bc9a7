// Makes elements, without a framework: text is always set as text, so that no value becomes markup.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export function drawing(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A field with its label.
export function field(label, input, className = "") {
  return element("label", { class: className }, label, input);
}

export function facts(pairs) {
  return element("dl", { class: "facts" },
    pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

// What may be wider than the page is scrolled by itself, with the keyboard too.
export function scrolling(label, child) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, child);
}

export function notice(text, isBad = false) {
  return element("p", { class: isBad ? "notice bad" : "notice", role: isBad ? "alert" : null }, text);
}

// Said at the foot of the page, and by a screen reader.
export function say(text) {
  document.getElementById("status").textContent = text;
}

export const grouped = (number) => Number(number).toLocaleString("en-US");

export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[unit]}`;
}

// When a value expires, from now on.
export function remaining(milliseconds) {
  if (milliseconds === null) return "";
  const seconds = Math.round((milliseconds - Date.now()) / 1000);
  if (seconds < 0) return "expired";
  if (seconds < 120) return `in ${seconds} s`;
  if (seconds < 7200) return `in ${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `in ${Math.round(seconds / 3600)} h`;
  return `in ${grouped(Math.round(seconds / 86400))} days`;
}

// Beyond it no `Date` goes, which would throw.
const LAST_MILLISECOND = 8.64e15;

export const moment = (milliseconds) => milliseconds > LAST_MILLISECOND
  ? "beyond every date"
  : new Date(milliseconds).toISOString().replace("T", " ");
