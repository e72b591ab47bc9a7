// Calls of the server. Each gives what it answered, or throws an error whose message is for people.

import { keyHeaders } from "/key.js";
import { readEvents } from "/stream.js";

const PAUSE_MILLISECONDS = 1000;

export class ServerError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// What is behind "?" of an address, with the question mark; empty where nothing is given. The server takes
// "+" for itself, and not for a space.
export function queryText(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given).toString().replaceAll("+", "%20");
  return text ? `?${text}` : "";
}

async function answered(name, query, options) {
  let response;
  try {
    response = await fetch(`/api/${name}${queryText(query)}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "gone", "The inspector does not answer: has it ended?");
  }
  if (!response.ok) {
    const { error } = await response.json();
    throw new ServerError(response.status, error.code, error.message);
  }
  return response;
}

async function call(method, name, { query = {}, body, signal } = {}) {
  const options = { method, signal, headers: keyHeaders() };
  if (method !== "GET") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body ?? {});
  }
  return (await answered(name, query, options)).json();
}

export const get = (name, query, signal) => call("GET", name, { query, signal });
export const put = (name, body) => call("PUT", name, { body });
export const remove = (name, body) => call("DELETE", name, { body });
export const post = (name) => call("POST", name);

// Calls `onChange` with each change until the signal is aborted, or the server says why there will be no
// more of them. A connection that breaks is made again:
//
//     onReady(isAgain)   it stands; where it is again, changes may have been missed
//     onBreak()          it broke, and is tried again
//     onEnd(message)     nothing comes any more
export async function listen(query, signal, { onChange, onReady, onBreak, onEnd }) {
  let last;
  let wasOpen = false;
  let ending = null;
  while (!signal.aborted) {
    try {
      const headers = keyHeaders();
      if (last !== undefined) headers["Last-Event-ID"] = last;
      const response = await answered("changes", query, { signal, headers });
      onReady(wasOpen);
      wasOpen = true;
      await readEvents(response, (kind, text, id) => {
        last = id ?? last;
        if (kind === "ended") ending = JSON.parse(text).message;
        else onChange(JSON.parse(text));
      });
    } catch (error) {
      if (signal.aborted) return;
      // What the server refuses now it refuses again.
      if (error.status > 0) ending = error.message;
    }
    if (ending !== null) return onEnd(ending);
    onBreak();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  }
}
