// The page behind a link: takes the session's key into this tab, and goes on to the inspector.

import { keep } from "/key.js";

keep(document.querySelector("meta[name=roost-inspector-key]").content);
location.replace("/");
