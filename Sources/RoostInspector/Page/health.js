// Every file read and every checksum checked, with how far it is.

import { element, facts, grouped, moment, notice, say, size } from "/elements.js";
import { get, post } from "/server.js";

const PAUSE = 250;

export async function show(main, place, signal) {
  const state = element("div", { "aria-live": "polite" });
  const begin = element("button", { type: "button", class: "main", onclick: async () => {
    try {
      await post("verify");
      await follow();
    } catch (error) {
      if (error.name !== "AbortError") state.replaceChildren(notice(error.message, true));
    }
  } }, "Verify now");
  main.replaceChildren(
    element("h2", {}, "Health"),
    element("p", {}, "Reads every file, checks every checksum, the order of the keys, and that the index finds each. Readers and writers go on meanwhile."),
    element("div", { class: "bar" }, begin), state);

  async function follow() {
    let shown = "";
    while (!signal.aborted) {
      const answer = await get("verify", {}, signal);
      begin.disabled = answer.state === "running";
      if (answer.state === "running" && shown === "running") update(state, answer);
      else state.replaceChildren(...parts(answer));
      shown = answer.state;
      if (answer.state !== "running") {
        if (answer.state === "done") say(answer.isSound ? "The workspace is sound." : "Damage was found.");
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
  await follow();
}

function update(state, answer) {
  state.querySelector("progress").value = answer.checkedSizeBytes;
  state.querySelector("progress").max = Math.max(1, answer.totalSizeBytes);
  state.querySelector("[data-progress]").textContent = progressText(answer);
}

function progressText(answer) {
  const share = answer.checkedSizeBytes / Math.max(1, answer.totalSizeBytes);
  const left = share > 0.02 ? `, ${Math.ceil((answer.milliseconds * (1 - share)) / share / 1000)} s left` : "";
  return `${size(answer.checkedSizeBytes)} of ${size(answer.totalSizeBytes)}${left}`;
}

function parts(answer) {
  switch (answer.state) {
  case "running":
    return [
      element("progress", { value: answer.checkedSizeBytes, max: Math.max(1, answer.totalSizeBytes), "aria-label": "How far the verification is" }),
      element("p", { "data-progress": true, class: "quiet" }, progressText(answer)),
    ];
  case "failed": return [notice(answer.message, true)];
  case "done":
    return [
      element("p", { class: answer.isSound ? "good" : "bad" }, answer.isSound ? "✓ Sound: everything is as it was written." : `✗ ${grouped(answer.damages.length)} places are damaged.`),
      facts([
        ["checked", moment(answer.time)], ["took", `${(answer.milliseconds / 1000).toFixed(1)} s`], ["files", `${grouped(answer.fileCount)}, ${size(answer.sizeBytes)}`],
        ["records in snapshots", grouped(answer.recordCount)], ["batches in the log", grouped(answer.batchCount)],
      ]),
      ...answer.damages.map((damage) => notice(`${damage.message}${damage.file ? ` (${damage.file}, byte ${damage.offset ?? "?"})` : ""}`, true)),
    ];
  default: return [element("p", { class: "quiet" }, "Not verified since the inspector began.")];
  }
}
