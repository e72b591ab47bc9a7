// Server-sent events, read by fetch: an EventSource cannot send the key.

// Calls `onEvent(kind, text, id)` with each event of the answer until that ends.
export async function readEvents(response, onEvent) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { kind: "message", data: [] };
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        const name = line.slice(0, colon);
        const text = line.slice(colon + 1).replace(/^ /, "");
        if (name === "data") event.data.push(text);
        else if (name === "event") event.kind = text;
        else if (name === "id") event.id = text;
      }
      if (event.data.length > 0) onEvent(event.kind, event.data.join("\n"), event.id);
    }
  }
}
