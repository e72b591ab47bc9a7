// What the workspace takes, now and over the last quarter of an hour.

import { drawing, element, facts, grouped, notice, say, size } from "/elements.js";
import { get } from "/server.js";

const PAUSE = 1000;

export async function show(main, place, signal) {
  const picture = element("div");
  const live = element("div");
  main.replaceChildren(element("h2", {}, "Storage"), picture, live);
  // What was counted when the page was opened: { liveKeyCount, deadShare }.
  let counted = null;
  const draw = async () => {
    const { samples } = await get("storage", {}, signal);
    picture.replaceChildren(...parts(samples, counted));
  };
  await draw();
  say("Storage, each second");
  repeat(draw, signal, picture);
  get("live", {}, signal).then(async ({ liveKeyCount }) => {
    const { samples } = await get("storage", {}, signal);
    counted = { liveKeyCount, deadShare: deadShare(samples.at(-1), liveKeyCount) };
    return draw();
  }).catch((error) => {
    if (error.name !== "AbortError") live.replaceChildren(notice(error.message, true));
  });
}

async function repeat(draw, signal, picture) {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (signal.aborted || document.hidden) continue;
    try { await draw(); } catch (error) {
      if (error.name !== "AbortError") picture.replaceChildren(notice(error.message, true));
    }
  }
}

function parts(samples, counted) {
  const now = samples.at(-1);
  if (!now) return [notice("No figures yet.")];
  const dead = (counted?.deadShare ?? 0) * now.snapshotSizeBytes;
  return [
    strip([
      ["log", "log, all of it", now.logSizeBytes], ["snapshots", "snapshots, live", Math.round(now.snapshotSizeBytes - dead)],
      ["dead", "snapshots, overwritten or removed", Math.round(dead)], ["other", "other files", now.otherSizeBytes],
    ], counted),
    element("p", { class: "quiet" }, "What is overwritten or removed is estimated, from the counts of records when this page was opened, and of the snapshots alone. "
      + "The log has such records too, which are not counted, and room that was made ahead for new ones."),
    element("div", { class: "charts" },
      chart("Log, bytes", samples, ["log", (one) => one.logSizeBytes], size),
      chart("Snapshots, bytes", samples, ["snapshots", (one) => one.snapshotSizeBytes], size),
      chart("Decoded values in memory, bytes", samples, ["other", (one) => one.residentSizeBytes], size),
      chart("Batches a second", differences(samples, "lastSequence"), ["log", (one) => one.value], grouped),
      chart("Reads of cold storage a second", differences(samples, "coldReadCount"), ["dead", (one) => one.value], grouped),
      chart("Write amplification", samples, ["snapshots", (one) => one.writeAmplification], (value) => value.toFixed(2))),
    element("h3", {}, "Now"),
    figures(now, counted),
  ];
}

// Of the snapshots' bytes, if all records were of one size. A key whose newest record is in the log counts there.
function deadShare(now, liveKeyCount) {
  if (!now || now.snapshotRecordCount === 0) return 0;
  const deadCount = now.snapshotRecordCount + now.logKeyCount - liveKeyCount;
  return Math.min(1, Math.max(0, deadCount / now.snapshotRecordCount));
}

function figures(now, counted) {
  const reads = now.residentReadCount + now.logReadCount + now.coldReadCount;
  const share = (count) => (reads === 0 ? "–" : `${grouped(count)} (${Math.round((100 * count) / reads)} %)`);
  return facts([
    ["live keys", counted === null ? "counting…" : grouped(counted.liveKeyCount)],
    ["records in snapshots", `${grouped(now.snapshotRecordCount)} in ${grouped(now.snapshotCount)} files, ${now.snapshotTierCount} tiers`],
    ["keys in the log", grouped(now.logKeyCount)],
    ["tables of the log", size(now.logTableSizeBytes)],
    ["decoded values", `${grouped(now.residentCount)}, ${size(now.residentSizeBytes)}`],
    ["reads from memory", share(now.residentReadCount)], ["reads from the log", share(now.logReadCount)],
    ["reads from snapshots", share(now.coldReadCount)],
    ["last batch, and last on disk", `${grouped(now.lastSequence)}, ${grouped(now.durableSequence)}`],
    ["syncs, flushes, merges", `${grouped(now.syncCount)}, ${grouped(now.flushCount)}, ${grouped(now.mergeCount)}`],
    ["appended, and written to snapshots", `${size(now.logBytesAppended)}, ${size(now.snapshotBytesWritten)}`],
    ["open read views", grouped(now.liveReadViewCount)],
    ["live queries", grouped(now.liveQueryCount)],
    ...(now.compactionFailure ? [["compaction failed", now.compactionFailure]] : []),
  ]);
}

function strip(pieces, counted) {
  const total = pieces.reduce((sum, [, , bytes]) => sum + bytes, 0);
  const picture = drawing("svg", { class: "strip", viewBox: "0 0 1000 30", preserveAspectRatio: "none", role: "img", "aria-label":
    pieces.map(([, name, bytes]) => `${name} ${size(bytes)}`).join(", ") });
  let left = 0;
  for (const [kind, , bytes] of pieces) {
    const width = total === 0 ? 0 : (1000 * bytes) / total;
    picture.append(drawing("rect", { class: kind, x: left, y: 0, width, height: 30 }));
    left += width;
  }
  return element("figure", {}, element("figcaption", {}, `${size(total)} on disk`), picture,
    element("ul", { class: "legend" }, pieces.map(([kind, name, bytes]) =>
      element("li", {}, element("i", { class: kind }), `${name} ${estimated(kind, bytes, counted)}`))));
}

function estimated(kind, bytes, counted) {
  if (kind !== "dead" && kind !== "snapshots") return size(bytes);
  return counted === null ? "…" : `≈ ${size(bytes)}`;
}

function differences(samples, name) {
  return samples.slice(1).map((one, index) => {
    const before = samples[index];
    return { time: one.time, value: Math.round((1000 * (one[name] - before[name])) / Math.max(1, one.time - before.time)) };
  });
}

function chart(title, samples, [kind, value], format) {
  const values = samples.map(value);
  const highest = Math.max(...values, 0);
  const last = values.at(-1) ?? 0;
  const end = samples.at(-1)?.time ?? 0;
  const begin = Math.min(samples[0]?.time ?? 0, end - 10000);
  const points = samples.map((one, index) =>
    `${((1000 * (one.time - begin)) / (end - begin)).toFixed(1)},${(95 - (highest === 0 ? 0 : (90 * values[index]) / highest)).toFixed(1)}`).join(" ");
  const seconds = Math.round((end - begin) / 1000);
  const time = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return element("figure", {}, element("figcaption", {}, `${title}: ${format(last)}`),
    drawing("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": `${title} over ${time}: now ${format(last)}, highest ${format(highest)}` },
      drawing("polyline", { class: kind, points })),
    element("span", { class: "quiet" }, `${time}; highest ${format(highest)}`));
}
