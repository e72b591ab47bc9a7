// The session's key, which each call sends beside the cookie. This origin alone has it, the port included:
// each tab for itself, and a further tab asks the others for it.

const NAME = "roost-inspector-key";
const ANSWER_MILLISECONDS = 500;

const tabs = new BroadcastChannel(NAME);
let onAnswer = () => {};

tabs.onmessage = ({ data }) => {
  const key = sessionStorage.getItem(NAME);
  if (data.kind === "question" && key !== null) tabs.postMessage({ kind: "answer", key });
  if (data.kind === "answer") onAnswer(data.key);
  // Another link was opened: the cookie, which all tabs share, is of that session now.
  if (data.kind === "news" && key !== null) sessionStorage.setItem(NAME, data.key);
};

// Of a tab that came in by a link.
export function keep(key) {
  sessionStorage.setItem(NAME, key);
  tabs.postMessage({ kind: "news", key });
}

// Returns once the tab has a key, or no other tab has told one.
export async function find() {
  if (sessionStorage.getItem(NAME) !== null) return;
  const key = await new Promise((resolve) => {
    onAnswer = resolve;
    setTimeout(resolve, ANSWER_MILLISECONDS, null);
    tabs.postMessage({ kind: "question" });
  });
  if (key !== null) sessionStorage.setItem(NAME, key);
}

// None, and then the server says so, where no tab of this browser came in by a link.
export function keyHeaders() {
  const key = sessionStorage.getItem(NAME);
  return key === null ? {} : { "Roost-Inspector-Key": key };
}
