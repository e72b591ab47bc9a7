// Calls of the server. Each gives what it answered, or throws an error whose message is for people.

export class ServerError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function call(method, name, { query = {}, body, signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given).toString().replaceAll("+", "%20");
  const options = { method, signal };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let response;
  try {
    response = await fetch(`/api/${name}${text ? `?${text}` : ""}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "gone", "The inspector does not answer: has it ended?");
  }
  const answer = await response.json();
  if (!response.ok) {
    throw new ServerError(response.status, answer.error.code, answer.error.message);
  }
  return answer;
}

export const get = (name, query, signal) => call("GET", name, { query, signal });
export const put = (name, body) => call("PUT", name, { body });
export const remove = (name, body) => call("DELETE", name, { body });
export const post = (name) => call("POST", name);

// Calls `onEvent` with each change, and `onBreak` where some may have been missed; ends by `close()`.
export function listen(query, onEvent, onReady, onBreak) {
  const source = new EventSource(`/api/changes?${new URLSearchParams(query)}`);
  let wasOpen = false;
  source.onmessage = (event) => onEvent(JSON.parse(event.data));
  source.onopen = () => {
    if (wasOpen) onBreak();
    wasOpen = true;
    onReady();
  };
  return source;
}
